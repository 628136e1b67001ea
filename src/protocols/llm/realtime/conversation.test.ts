import { expect, test } from 'vitest'
import type { GuardLoad } from '#exchange/guard-load.ts'
import type { Guard } from '../guards/guard.ts'
import type { PromptGuardRequestSpec } from '../guards/guard-schema.ts'
import { answer, open, told } from './testing.ts'

const GUARDS: readonly PromptGuardRequestSpec[] = [
  { regex: { action: 'Mask', matches: ['k-\\d+'] } },
  { regex: { action: 'Reject', matches: ['forbidden'] } },
]

interface ItemMore {
  readonly id?: string
  readonly after?: string | null
  readonly role?: string
}

const itemOf = (text: string, { id, role = 'user' }: ItemMore) => {
  return { ...(id === undefined ? {} : { id }), type: 'message', role, content: [{ type: 'input_text', text }] }
}
/** The client creates an item. */
const create = (text: string, more: ItemMore = {}) => {
  const previous = more.after === undefined ? {} : { previous_item_id: more.after }
  return { type: 'conversation.item.create', ...previous, item: itemOf(text, more) }
}
const remove = (item_id: string) => ({ type: 'conversation.item.delete', item_id })
const truncate = (item_id: string) => {
  return { type: 'conversation.item.truncate', item_id, content_index: 0, audio_end_ms: 0 }
}
const instruct = (instructions: string) => ({ type: 'session.update', session: { type: 'realtime', instructions } })
const respond = (input: readonly object[] | undefined, instructions?: string) => {
  return { type: 'response.create', response: { input, instructions } }
}
const reference = (id: string) => ({ type: 'item_reference', id })
/** The provider has an item. */
const has = (text: string, more: ItemMore & { id: string }, type = 'added') => {
  return told({ type: `conversation.item.${type}`, previous_item_id: more.after ?? null, item: itemOf(text, more) })
}
/** The client creates an item, and the provider has it. */
const created = (text: string, more: ItemMore & { id: string }) => [create(text, more), has(text, more)]
const updated = (instructions: string) => told({ type: 'session.updated', session: { instructions } })
const deleted = (item_id: string) => told({ type: 'conversation.item.deleted', item_id })
const says = (id: string, after: string | null) => {
  const item = { id, type: 'message', role: 'assistant', content: [{ type: 'output_audio', transcript: 'hello' }] }
  return told({ type: 'conversation.item.added', previous_item_id: after, item })
}
const heard = (id: string, after: string) => {
  return told({ type: 'input_audio_buffer.committed', item_id: id, previous_item_id: after })
}

const LONG = 'x'.repeat(300)
const REJECTED = 'guardrail_intervention'
const UNKNOWN = 'llm-body-invalid'

/** The code of the error that the last event of the client gets, after all others have passed. Undefined: it passes, too. */
async function outcomeOf(events: readonly (object | Buffer)[]): Promise<string | undefined> {
  const session = open(GUARDS)
  const sent = events.filter((event) => !(event instanceof Buffer)).length
  for (const [index, event] of events.entries()) {
    if (index === events.length - 1) expect(errorsOf(session)).toEqual([])
    if (event instanceof Buffer) session.hears(event)
    else session.says(event)
    for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  const errors = errorsOf(session)
  expect(session.up).toHaveLength(sent - errors.length)
  return errors[0]
}

function errorsOf({ down }: { readonly down: readonly string[] }): readonly string[] {
  const events = down.map((text) => JSON.parse(text))
  return events.filter(({ type }) => type === 'error').map(({ error }) => error.code)
}

test.each<[name: string, events: readonly (object | Buffer)[], outcome: string | undefined]>([
  ['at the beginning', [create('idden'), create('forb', { after: 'root' })], REJECTED],
  ['not at the beginning', [create('idden'), create('forb', { after: null })], undefined],
  ['behind an item', [create('forb', { id: 'a' }), create('x'), create('idden', { after: 'a' })], REJECTED],
  ['behind another one', [create('forb'), ...created('x', { id: 'b' }), create('idden', { after: 'b' })], undefined],
  ['between two', [create('for', { id: 'a' }), create('den'), create('bid', { after: 'a' })], REJECTED],
  ['before one', [create('x', { id: 'a' }), create('idden'), create('forb', { after: 'a' })], REJECTED],
  ['a mask', [create('1'), create('k-', { after: 'root' })], REJECTED],
  ['of another role', [create('idden'), create('forb', { after: 'root', role: 'system' })], undefined],
  [
    'behind an item that the provider has named',
    [create('forb'), has('forb', { id: 'p' }), create('x'), create('idden', { after: 'p' })],
    REJECTED,
  ],
  [
    'behind one of two with other texts',
    [create('one'), create('forb'), has('forb', { id: 'p' }), create('x'), create('idden', { after: 'p' })],
    REJECTED,
  ],
  [
    'behind one of two with the same beginning',
    [
      create(`${LONG}a`),
      create(`${LONG}forb`),
      has(`${LONG}forb`, { id: 'p' }),
      create('x'),
      create('idden', { after: 'p' }),
    ],
    REJECTED,
  ],
  [
    'behind an answer, which is none of the items that wait',
    [...created('forb', { id: 'u' }), create('x', { role: 'assistant' }), says('s', 'u'), create('idden')],
    undefined,
  ],
  [
    'behind an item of an assistant whose text the provider tells otherwise',
    [
      create('forb', { id: 'a', role: 'assistant' }),
      has('FORB', { id: 'a', role: 'assistant' }),
      create('idden', { role: 'assistant' }),
    ],
    REJECTED,
  ],
  [
    'where such an item was deleted',
    [
      create('forb', { id: 'a', role: 'assistant' }),
      has('FORB', { id: 'a', role: 'assistant' }),
      remove('a'),
      deleted('a'),
      create('idden', { role: 'assistant' }),
    ],
    undefined,
  ],
  ['before a long item', [create(`idden${LONG}`), create('forb', { after: 'root' })], REJECTED],
  [
    'behind an item with a long id',
    [create('forb', { id: 'y'.repeat(512) }), create('x'), create('idden', { after: 'y'.repeat(512) })],
    REJECTED,
  ],
  ['behind a role between', [create('forb'), ...created('x', { id: 'x', role: 'system' }), create('idden')], undefined],
  [
    'behind an answer between texts of its role',
    [...created('forb', { id: 'a', role: 'assistant' }), says('s', 'a'), create('idden', { role: 'assistant' })],
    undefined,
  ],
  [
    'behind an answer that is told when it is done',
    [
      ...created('forb', { id: 'u' }),
      told({ type: 'conversation.item.done', previous_item_id: 'u', item: { id: 's', role: 'assistant' } }),
      create('idden'),
    ],
    undefined,
  ],
  [
    'behind an answer to a part',
    [...created('for', { id: 'a' }), says('s', 'a'), create('bid'), create('den')],
    undefined,
  ],
  [
    'behind an answer to sound',
    [create('forb', { id: 'a' }), heard('h', 'a'), says('s', null), create('idden')],
    undefined,
  ],
  [
    'behind an item whose text the provider tells otherwise',
    [create('forb'), has('FORB', { id: 'p' }), create('x'), create('idden', { after: 'p' })],
    REJECTED,
  ],
  ['behind an answer', [create('a'), says('s', null), create('forb'), create('idden', { after: 's' })], undefined],
  ['before what follows an answer', [says('s', null), create('idden'), create('forb', { after: 's' })], REJECTED],
  [
    'behind one whose id is there already, so that the provider refuses it',
    [create('forb', { id: 'a' }), create('x'.repeat(300), { id: 'a' }), create('idden')],
    REJECTED,
  ],
  ['behind what nobody knows', [create('a'), create('x', { after: 'other' })], UNKNOWN],
])('an item is checked where it is inserted: %s', async (_, events, outcome) => {
  expect(await outcomeOf(events)).toBe(outcome)
})

const SYSTEM = { role: 'system' }
const PICTURE = {
  id: 'image',
  type: 'message',
  role: 'system',
  content: [{ type: 'input_image', image_url: 'https://a.example/b' }],
}
const IMAGE = [
  { type: 'conversation.item.create', item: PICTURE },
  told({ type: 'conversation.item.added', item: PICTURE }),
]

test.each<[name: string, events: readonly (object | Buffer)[], outcome: string | undefined]>([
  ['an item', [create('forb'), create('x'), create('idden')], REJECTED],
  ['a long one', [create('forb'), create(LONG), create('idden')], REJECTED],
  ['several', [create('forb'), create(LONG), create('y'), create(LONG), create('idden')], REJECTED],
  ['some of them', [create('forb'), ...created('x', { id: 'x' }), create(LONG), create('idden')], undefined],
  ['behind the place', [create('idden'), create(LONG, { after: 'root' }), create('forb', { after: 'root' })], REJECTED],
  [
    'none: it is there, by its text',
    [create('forb'), create(LONG), has(LONG, { id: 'p' }), create('idden')],
    undefined,
  ],
  [
    'none: it is there, by its id',
    [create('forb'), create(LONG, { id: 'x' }), has('y', { id: 'x' }), create('idden')],
    undefined,
  ],
  [
    'its text is that of the next one, which is there',
    [create('forb'), create('x'), create('x'), has('x', { id: 'p' }), create('idden', { after: 'p' })],
    REJECTED,
  ],
  [
    'none: an answer is behind it',
    [create('forb'), has('FORB', { id: 'p' }), says('s', null), create('idden')],
    undefined,
  ],
  ['before an image', [create('forb'), create('x'), ...IMAGE, create('idden')], REJECTED],
  ['before sound', [create('forb', { id: 'f' }), create('x', { id: 'x' }), heard('h', 'x'), create('idden')], REJECTED],
  ['of another role, between parts', [create('for'), create('x', SYSTEM), create('bid'), create('den')], REJECTED],
  [
    'none: the second item of an id',
    [...created('y', { id: 'a' }), create('forb', { id: 'a' }), create('idden')],
    undefined,
  ],
  [
    'a deletion, when another one is confirmed',
    [...created('forb', { id: 'a' }), ...created('x', { id: 'b' }), remove('a'), deleted('b'), create('idden')],
    REJECTED,
  ],
  [
    'a deleted one',
    [...created('x', { id: 'a' }), create('forb'), remove('a'), deleted('a'), create('idden')],
    REJECTED,
  ],
  [
    'instructions with the same beginning',
    [instruct(`${LONG}forb`), instruct(`${LONG}x`), updated(`${LONG}forb`), create('idden', SYSTEM)],
    REJECTED,
  ],
  [
    'later instructions before the input',
    [instruct('x'), instruct('forb'), respond([itemOf('idden', SYSTEM)])],
    REJECTED,
  ],
  [
    'an image in the input',
    [
      ...IMAGE,
      create('idden', { id: 'b' }),
      create('forb', { id: 'a' }),
      respond([reference('a'), reference('image'), reference('b')]),
    ],
    REJECTED,
  ],
  ['none: it is there', [create('forb'), ...created(LONG, { id: 'x' }), create('idden')], undefined],
  [
    'its text is that of another one, which is there',
    [create('forb'), create('x'), create('x', { after: 'root' }), has('x', { id: 'p' }), create('idden')],
    REJECTED,
  ],
  [
    'another one, which is there, is told later',
    [create('forb'), create('x'), heard('h', 'a'), create('idden')],
    REJECTED,
  ],
  [
    'its id is that of another one, which is there',
    [create(LONG, { id: 'a' }), create('forb', { id: 'a' }), has('forb', { id: 'a' }), create('idden')],
    REJECTED,
  ],
  [
    'its id is that of one that was there',
    [
      create('forb'),
      create('x', { id: 'a' }),
      remove('a'),
      create('x', { id: 'a' }),
      has('x', { id: 'a' }),
      create('idden'),
    ],
    REJECTED,
  ],
  [
    'one of another role with its text is there',
    [create('forb'), create('x'), has('x', { id: 'p', role: 'system' }), create('idden')],
    REJECTED,
  ],
  ['a deletion', [...created('forb', { id: 'a' }), remove('a'), create('idden')], REJECTED],
  [
    'none: the item was deleted',
    [...created('forb', { id: 'a' }), remove('a'), deleted('a'), create('idden')],
    undefined,
  ],
  ['instructions', [instruct('forb'), instruct('x'), create('idden', SYSTEM)], REJECTED],
  ['instructions before a response', [create('idden', SYSTEM), respond(undefined, 'forb')], REJECTED],
  ['instructions before the input', [instruct('forb'), instruct('x'), respond([itemOf('idden', SYSTEM)])], REJECTED],
  ['the first instructions', [instruct('x'), instruct('forb'), updated('forb'), create('idden', SYSTEM)], REJECTED],
  ['none: others are told', [instruct('forb'), updated('y'), create('idden', SYSTEM)], REJECTED],
])('what the provider may have refused does not part texts: %s', async (_, events, outcome) => {
  expect(await outcomeOf(events)).toBe(outcome)
})

test('a reference to one of several items of an id is refused, until the provider tells which one is there', async () => {
  const twice = [create('x', { id: 'a' }), create('y', { id: 'a' })]
  expect(await outcomeOf([...twice, remove('a')])).toBe(UNKNOWN)
  const done = has('y', { id: 'a' }, 'done')
  expect(await outcomeOf([...twice, has('y', { id: 'a' }), done, remove('a')])).toBeUndefined()
  const forb = [create('x', { id: 'a' }), create('forb', { id: 'a' }), has('forb', { id: 'a' }), create('z')]
  expect(await outcomeOf([...forb, create('idden', { after: 'a' })])).toBe(REJECTED)
})

test('what depends on too much that the provider has not confirmed is refused', async () => {
  const items = Array.from({ length: 33 }, (_, index) => create('x', { id: `i${index}` }))
  expect(await outcomeOf([...items, create('y', { after: 'i15' })])).toBe(UNKNOWN)
  expect(await outcomeOf([...items.slice(1), create('y', { after: 'i16' })])).toBeUndefined()
  const instructions = Array.from({ length: 257 }, () => instruct('x'))
  expect(await outcomeOf(instructions)).toBe(UNKNOWN)
})

test.each<[name: string, events: readonly (object | Buffer)[], outcome: string | undefined]>([
  ['an item', [create('forb'), ...created('x', { id: 'b' }), create('idden'), remove('b')], REJECTED],
  [
    'an answer',
    [create('forb', { id: 'a' }), has('forb', { id: 'a' }), says('s', 'a'), create('idden'), remove('s')],
    REJECTED,
  ],
  ['a long item', [create('forb'), ...created('x'.repeat(600), { id: 'b' }), create('idden'), remove('b')], REJECTED],
  ['nothing to join', [create('a'), create('b', { id: 'b' }), create('c'), remove('b')], undefined],
  [
    'the first item',
    [...created('forb', { id: 'a' }), ...created('x', { id: 'b' }), create('idden'), remove('a')],
    undefined,
  ],
  ['one twice', [create('a', { id: 'a' }), remove('a'), remove('a')], UNKNOWN],
  [
    'another role',
    [
      create('forb'),
      create('x', { id: 'b', role: 'system' }),
      has('x', { id: 'b', role: 'system' }),
      create('idden'),
      remove('b'),
    ],
    REJECTED,
  ],
  [
    'the text of an answer',
    [create('forb', { id: 'a' }), has('forb', { id: 'a' }), says('s', 'a'), create('idden'), truncate('s')],
    REJECTED,
  ],
  ['an answer twice', [says('s', null), truncate('s'), truncate('s')], undefined],
  ['a text of nobody', [create('a'), truncate('s')], UNKNOWN],
])('what is left is checked when something leaves: %s', async (_, events, outcome) => {
  expect(await outcomeOf(events)).toBe(outcome)
})

test.each(['system', 'developer', 'user', 'assistant'])(
  'texts of role %s are checked when one between them leaves',
  async (role) => {
    const parts = [create('forb', { role }), ...created('x', { id: 'b', role }), create('idden', { role })]
    expect(await outcomeOf([...parts, remove('b')])).toBe(REJECTED)
  },
)

test('results of tools are checked together', async () => {
  const result = (output: string, id: string) => {
    return { type: 'conversation.item.create', item: { id, type: 'function_call_output', call_id: 'c', output } }
  }
  expect(await outcomeOf([result('forb', 'a'), result('idden', 'b')])).toBe(REJECTED)
  const confirmed = told({ type: 'conversation.item.created', item: result('x', 'b').item })
  const between = [result('x', 'b'), confirmed]
  expect(await outcomeOf([result('forb', 'a'), ...between, result('idden', 'c'), remove('b')])).toBe(REJECTED)
  expect(await outcomeOf([result('forb', 'a'), create('idden')])).toBeUndefined()
  const told2 = told({ type: 'conversation.item.created', item: result('forb', 'a').item })
  const unnamed = { type: 'conversation.item.create', item: { type: 'function_call_output', output: 'forb' } }
  const behind = { ...result('idden', 'c'), previous_item_id: 'a' }
  expect(await outcomeOf([result('x', 'z'), unnamed, told2, result('y', 'y'), behind])).toBe(REJECTED)
})

test('what follows a truncated answer is checked with what is before it', async () => {
  const before = [create('forb', { id: 'a' }), has('forb', { id: 'a' }), says('s', 'a')]
  expect(await outcomeOf([...before, create('idden')])).toBeUndefined()
  expect(await outcomeOf([...before, truncate('s'), create('idden')])).toBe(REJECTED)
  expect(await outcomeOf([...before, remove('s'), create('idden')])).toBe(REJECTED)
  const removed = told({ type: 'conversation.item.deleted', item_id: 's' })
  expect(await outcomeOf([...before, removed, create('idden')])).toBe(REJECTED)
  const other = told({ type: 'conversation.item.deleted', item_id: 't' })
  expect(await outcomeOf([create('forb'), other, create('idden')])).toBe(REJECTED)
})

test('an answer separates texts only where it is', async () => {
  const confirmed = has('forb', { id: 'a', after: 's' })
  // The provider has answered before it got the item.
  expect(await outcomeOf([create('forb', { id: 'a' }), says('s', null), confirmed, create('idden')])).toBe(REJECTED)
  // Of an item, the provider tells several times.
  const done = told({ type: 'conversation.item.done', item: { id: 's', type: 'message', role: 'assistant' } })
  const there = [create('forb', { id: 'a' }), has('forb', { id: 'a' }), says('s', 'a'), done]
  expect(await outcomeOf([...there, create('idden')])).toBeUndefined()
  const between = [...there, create('idden', { id: 'b' }), has('idden', { id: 'b', after: 's' }), says('t', 'a')]
  expect(await outcomeOf([...between, remove('s')])).toBeUndefined()
  expect(await outcomeOf([...between, remove('t'), remove('s')])).toBe(REJECTED)
  const output = answer({ conversation_id: 'c', output: [{ id: 's', type: 'message', role: 'assistant' }] })
  const first = [create('forb', { id: 'a' }), has('forb', { id: 'a' }), says('s', 'a')]
  expect(await outcomeOf([...first, create('x'), output, create('idden')])).toBeUndefined()
  expect(await outcomeOf([...first, create('forb', { id: 'b' }), output, create('idden')])).toBe(REJECTED)
})

test.each<[what: string, events: readonly (object | Buffer)[], outcome: string | undefined]>([
  [
    'an answer is told of, which the provider may have put behind an item',
    [create('idden', { role: 'system', after: 'root' }), says('s', null), instruct('forb')],
    REJECTED,
  ],
  [
    'an answer is told of, which is in front of the last item',
    [...created('x', { id: 'a' }), create('idden', { role: 'system' }), says('s', 'a'), instruct('forb')],
    undefined,
  ],
  [
    'an answer is told of, and an item may be between it and that before it',
    [heard('h', 'a'), create('idden', { role: 'system', after: 'h' }), says('s', 'h'), instruct('forb')],
    REJECTED,
  ],
  [
    'an item of an id is deleted, and another one has it',
    [
      ...created('x', { id: 'a' }),
      remove('a'),
      create('idden'),
      create('y', { id: 'a', role: 'system' }),
      create('forb', { after: 'a' }),
    ],
    UNKNOWN,
  ],
  [
    'two items of an id have the same text, and the second one is told of',
    [
      create('forb', { id: 'a' }),
      create('forb', { id: 'a', role: 'assistant' }),
      has('forb', { id: 'a', role: 'assistant' }),
      create('idden', { role: 'assistant', after: 'a' }),
    ],
    REJECTED,
  ],
])('the order of the provider counts: %s', async (_, events, outcome) => {
  expect(await outcomeOf(events)).toBe(outcome)
})

test('sound between texts does not separate them, and transcripts of a client are texts', async () => {
  expect(
    await outcomeOf([create('forb', { id: 'a' }), has('forb', { id: 'a' }), heard('h', 'a'), create('idden')]),
  ).toBe(REJECTED)
  const item = { type: 'message', role: 'user', content: [{ type: 'input_audio', audio: 'AAAA', transcript: 'idden' }] }
  expect(await outcomeOf([create('forb'), { type: 'conversation.item.create', item }])).toBe(REJECTED)
})

test.each<[name: string, events: readonly (object | Buffer)[], outcome: string | undefined]>([
  ['instructions before an item', [instruct('forb'), create('idden', { role: 'system' })], REJECTED],
  ['an item before instructions', [create('idden', { role: 'system' }), instruct('forb')], REJECTED],
  [
    'other instructions',
    [instruct('forb'), instruct('x'), updated('x'), create('idden', { role: 'system' })],
    undefined,
  ],
  [
    'settings without instructions',
    [instruct('forb'), { type: 'session.update', session: {} }, create('idden', { role: 'system' })],
    REJECTED,
  ],
  ['instructions before a user', [instruct('forb'), create('idden')], undefined],
  ['instructions of a response', [create('idden', { role: 'system' }), respond(undefined, 'forb')], REJECTED],
  [
    'the same before its own input',
    [create('idden', { role: 'system' }), respond([itemOf('x', {})], 'forb')],
    undefined,
  ],
  ['instructions before the input', [instruct('forb'), respond([itemOf('idden', { role: 'system' })])], REJECTED],
  [
    'a reference before a text',
    [create('forb', { id: 'a' }), respond([reference('a'), itemOf('idden', {})])],
    REJECTED,
  ],
  [
    'a text before a reference',
    [create('idden', { id: 'a' }), respond([itemOf('forb', {}), reference('a')])],
    REJECTED,
  ],
  [
    'several references',
    [create('idden', { id: 'a' }), create('x'), create('forb', { id: 'b' }), respond([reference('b'), reference('a')])],
    REJECTED,
  ],
  [
    'three parts',
    [create('bid', { id: 'a' }), respond([itemOf('for', {}), reference('a'), itemOf('den', {})])],
    REJECTED,
  ],
  [
    'another role between',
    [create('x', { id: 'a', role: 'system' }), respond([itemOf('forb', {}), reference('a'), itemOf('idden', {})])],
    REJECTED,
  ],
  ['nothing together', [create('a', { id: 'a' }), respond([reference('a'), itemOf('b', {})])], undefined],
  ['an item that nobody knows', [create('a'), respond([reference('b')])], UNKNOWN],
])('what a response reads is checked together: %s', async (_, events, outcome) => {
  expect(await outcomeOf(events)).toBe(outcome)
})

test.each<[name: string, event: object, outcome: string | undefined]>([
  ['no type', {}, undefined],
  ['a creation without an item', { type: 'conversation.item.create' }, undefined],
  ['an empty item', { type: 'conversation.item.create', item: {} }, undefined],
  ['a deletion of no item', { type: 'conversation.item.delete' }, UNKNOWN],
  ['a truncation of no item', { type: 'conversation.item.truncate' }, UNKNOWN],
  ['an empty item in the input', respond([{}]), undefined],
  ['a reference to no item', respond([{ type: 'item_reference' }]), UNKNOWN],
])('an event may lack members: %s', async (_, event, outcome) => {
  expect(await outcomeOf([create('x'), event])).toBe(outcome)
})

test('names of calls are not read together', async () => {
  const call = (name: string) => {
    return { type: 'conversation.item.create', item: { type: 'function_call', call_id: 'c', name, arguments: '{}' } }
  }
  expect(await outcomeOf([call('forb'), call('idden')])).toBeUndefined()
})

test('all parts of an item are its text; its other strings are not', async () => {
  const content = ['fo', 'rb'].map((text) => ({ type: 'input_text', text }))
  const item = { type: 'message', role: 'user', content, name: 'x', other: 'y' }
  expect(await outcomeOf([{ type: 'conversation.item.create', item }, create('idden')])).toBe(REJECTED)
})

test('an item that the provider confirms is there once', async () => {
  const one = create('forb', { id: 'a', role: 'assistant' })
  const told = has('forb', { id: 'a', role: 'assistant' })
  expect(await outcomeOf([one, told, create('idden', { role: 'assistant' })])).toBe(REJECTED)
})

test('an item without text does not separate texts, when the provider has confirmed it, either', async () => {
  const image = {
    id: 'b',
    type: 'message',
    role: 'system',
    content: [{ type: 'input_image', image_url: 'https://a.example/b' }],
  }
  const [given, confirmed] = [
    { type: 'conversation.item.create', item: image },
    told({ type: 'conversation.item.added', item: image }),
  ]
  expect(await outcomeOf([create('forb'), given, confirmed, create('idden')])).toBe(REJECTED)
})

test('without patterns, nothing has to be known of items', () => {
  const services = [{ kind: 'webhook' } as Guard]
  expect(open(GUARDS, services).conversation).toBeUndefined()
})

test('a rejected item is not in the conversation', async () => {
  const session = open(GUARDS)
  for (const event of [
    create('forbidden', { id: 'a' }),
    create('forb', { id: 'b' }),
    create('idden'),
    create('idden', { after: 'a' }),
  ]) {
    session.says(event)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  expect(session.up).toEqual([JSON.stringify(create('forb', { id: 'b' }))])
  expect(session.down.map((text) => JSON.parse(text).error.code)).toEqual([REJECTED, REJECTED, UNKNOWN])
})

test('rejected instructions are not in force', async () => {
  const session = open(GUARDS)
  const system = create('idden', { id: 'a', role: 'system' })
  for (const event of [system, instruct('forb'), remove('a'), system]) {
    session.says(event)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  expect([session.up.length, session.down.length]).toEqual([3, 1])
})

function freeOf(load: GuardLoad): number {
  let free = 0
  for (let bytes = 2 ** 26; bytes >= 1; bytes /= 2) if (load.take(bytes)) free += bytes
  load.give(free)
  return free
}

test('a line begins at the edge of what is searched only if no text is before it', () => {
  const session = open([{ regex: { action: 'Mask', matches: ['^x{256}b'] } }])
  for (const text of ['a', 'x'.repeat(256), 'b']) session.says(create(text))
  expect(errorsOf(session)).toEqual([])
})

test('both ends of an item are kept', () => {
  const session = open(GUARDS)
  const { guardLoad } = session.exchange.context
  const before = freeOf(guardLoad)
  session.says(create(LONG))
  expect(freeOf(guardLoad)).toBe(before - 256 - 2 * (256 + 257))
  session.says(create('x'.repeat(10)))
  expect(freeOf(guardLoad)).toBe(before - 256 - 2 * (256 + 257) - 256 - 2 * 10)
})

test('the first items are forgotten, and an item that there is no memory for is refused', async () => {
  const session = open(GUARDS)
  const say = async (event: object) => {
    session.says(event)
    await new Promise<void>((resolve) => setImmediate(resolve))
    return session.down.length
  }
  const { guardLoad } = session.exchange.context
  for (let i = 0; i < 1000; i++) {
    await say(create('x'.repeat(600), { id: `i${i}` }))
    session.conversation!.added({ id: `i${i}`, previous: undefined, role: 'user', text: 'x'.repeat(600) })
  }
  const free = 63 * 1024 * 1024
  expect([guardLoad.take(free), guardLoad.take(4096)]).toEqual([true, false])
  guardLoad.give(free)
  await say(create('x', { id: 'y'.repeat(513) }))
  expect(await say(remove('i0'))).toBe(1)
  expect(await say(remove('i998'))).toBe(1)
  expect(await say(remove('y'.repeat(513)))).toBe(2)
  await say(create('unnamed'))
  const taken = freeOf(guardLoad)
  guardLoad.take(taken)
  expect(await say(create('y', { id: 'y' }))).toBe(3)
  expect(await say(instruct('y'))).toBe(4)
  expect(errorsOf(session).slice(2)).toEqual(['body-memory-exhausted', 'body-memory-exhausted'])
  session.conversation!.added({ id: 'u', previous: undefined, role: 'user', text: 'unnamed' })
  expect(await say(remove('u'))).toBe(5)
  guardLoad.give(taken)
  const most = freeOf(guardLoad)
  await say(instruct('y'))
  await say(instruct('z'))
  expect(freeOf(guardLoad)).toBe(most - 2 * 258)
  session.conversation!.instructed('z')
  expect(freeOf(guardLoad)).toBe(most - 258)
  await say(instruct('y'))
  session.conversation!.drop()
  session.conversation!.drop()
  session.hears(heard('late', 'j1'))
  session.conversation!.instructed('y')
  for (let i = 0; i < 1000; i++) session.conversation!.removed(`i${i}`)
  expect([guardLoad.take(64 * 1024 * 1024), guardLoad.take(1)]).toEqual([true, false])
})
