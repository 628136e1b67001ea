import { expect, test } from 'vitest'
import { runAtOnce, type Steps } from '#base/in-slices.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import type { Guard, RegexGuard, ServiceGuard } from '../guard.ts'
import { compileRules } from '../rules/compile-rules.ts'
import type { ServiceVerdict } from '../services/service.ts'
import { type BlockKind, GuardedBlock, type StreamPiece } from './guarded-block.ts'
import { RepeatMemory } from './repeated-text.ts'
import { SequencedText } from './text-sequences.ts'

const refusal = reject('prompt-guard-rejected', { status: 403, body: 'no' })
const SECRET: RegexGuard = {
  ...{ phase: 'response', index: 0, kind: 'regex', rejects: false, refusal },
  rules: compileRules({ matches: ['secret-[0-9]+'] }, () => {}),
}

/** A service that answers when the test says so. */
function service(masks = true) {
  const asked: ((verdict: ServiceVerdict) => Promise<void>)[] = []
  const contents: string[] = []
  const guard: ServiceGuard = {
    ...{ phase: 'response', index: 1, kind: 'webhook', refusal },
    service: {
      kind: 'webhook',
      destination: 'ProxyBackend/default/judge',
      masks,
      judge: ({ messages }) => {
        contents.push(messages[0]!.content)
        return new Promise((resolve) =>
          asked.push(async (verdict) => {
            resolve(verdict)
            await new Promise<void>((later) => setImmediate(later))
          }),
        )
      },
    },
  }
  return { guard, asked, contents }
}

function blockOf(guards: readonly Guard[], kind: Partial<BlockKind> = {}, isRepeated = true) {
  const exchange = exchangeWith()
  exchange.response = Head.response(200)
  const refused: Refusal[] = []
  const noted: string[] = []
  const later: Steps<void>[] = []
  const block = new GuardedBlock(
    { key: 'a', form: 'string', isFixed: false, text: undefined, begun: undefined, ...kind },
    {
      guards,
      exchange,
      signal: new AbortController().signal,
      refuse: (why) => void refused.push(why),
      progressed: () => {},
      later: (work) => void later.push(work),
      noted: (_, verdict) => void noted.push(verdict),
      repeats: isRepeated ? new RepeatMemory(roomFor(100_000).claim, 100_000) : undefined,
    },
  )
  const piece = (original: string): StreamPiece => ({ original, released: undefined })
  const push = (original: string) => {
    const pushed = piece(original)
    finish(block.push(pushed))
    return pushed
  }
  const repeat = (original: string) => {
    const repeated = piece(original)
    finish(block.repeat(repeated))
    return repeated
  }
  return { block, push, repeat, refused, noted, later }
}

const finish = (rest: Steps<void> | undefined) => rest && runAtOnce(rest)

test('a text leaves as the guards let it, and the end of what has left is known when all has', () => {
  const { block, push, noted } = blockOf([SECRET])
  const first = push('a secr')
  expect([first.released, block.tail, block.isFinished]).toEqual([undefined, '', false])
  const second = push('et-12 b')
  expect([first.released, second.released]).toEqual(['a <masked>', ' b'])
  expect(block.tail).toBe('')
  block.end()
  expect([block.tail, block.isFinished]).toEqual(['a <masked> b', true])
  expect(noted).toEqual(['Mask', 'Mask'])
})

test('of a long text, the last 256 characters are its end', () => {
  const { block, push } = blockOf([SECRET])
  for (let i = 0; i < 300; i++) push(`${i} `.padEnd(20, 'x'))
  block.end()
  expect(block.tail).toHaveLength(256)
  expect(block.tail.endsWith(`299 ${'x'.repeat(16)}`)).toBe(true)
})

test('a text that is repeated gets the same masks, when the text before it has left', async () => {
  const { guard, asked } = service()
  const { push, repeat, block } = blockOf([SECRET, guard])
  push('a secret-1')
  const early = repeat('a secret-1')
  expect([early.released, block.isAsking]).toEqual([undefined, true])
  await asked[0]!({ kind: 'mask', contents: ['a <masked> now'] })
  expect(early.released).toBe('a <masked> now')
  expect(repeat('a secret-1').released).toBe('a <masked> now')
  // It is not asked about again, and another text is.
  expect(asked).toHaveLength(1)
  const other = repeat('b secret-1')
  expect(asked).toHaveLength(2)
  await asked[1]!({ kind: 'pass' })
  expect(other.released).toBe('b <masked>')
  expect(block.isAsking).toBe(false)
})

test('a text that was not there before is checked by itself', () => {
  const { repeat } = blockOf([SECRET])
  expect(repeat('secret-1').released).toBe('<masked>')
  const begins = { ...SECRET, rules: compileRules({ matches: ['^secret'] }, () => {}) }
  const other = blockOf([begins])
  other.push('word')
  expect(other.repeat('secret now').released).toBe('<masked> now')
})

test('a long text that was not there before is checked to its end', () => {
  const { push, repeat } = blockOf([SECRET])
  push('word')
  expect(repeat(`${'x '.repeat(500)}secret-1`).released).toBe(`${'x '.repeat(500)}<masked>`)
})

test('services that have no room make it busy', async () => {
  const { guard, asked } = service()
  const { block, push } = blockOf([guard])
  push('x'.repeat(1024))
  expect([block.isAsking, block.isBusy]).toEqual([true, false])
  push('y'.repeat(1024))
  expect(block.isBusy).toBe(true)
  await asked[0]!({ kind: 'pass' })
  expect(block.isBusy).toBe(false)
})

test.each<[kind: Partial<BlockKind>, isRefused: boolean]>([
  [{}, false],
  [{ form: 'input' }, false],
  [{ form: 'arguments' }, false],
  [{ isFixed: true }, true],
  [{ form: 'arguments', isFixed: true }, true],
])('the mask of a service in a text of kind %j', async (kind, isRefused) => {
  const { guard, asked } = service()
  const { block, push, refused } = blockOf([guard], kind)
  const piece = push('"a"')
  block.end()
  await asked[0]!({ kind: 'mask', contents: [kind.form === undefined ? '"b"' : 'b'] })
  expect(refused).toHaveLength(isRefused ? 1 : 0)
  expect(piece.released).toBe(isRefused ? undefined : '"b"')
})

test.each<[form: BlockKind['form'], guards: Guard[], text: string, isJson: boolean]>([
  ['string', [SECRET], '{"a":', false],
  ['arguments', [SECRET], '{"a":', true],
  ['arguments', [SECRET], 'a', false],
  ['input', [SECRET], '{"a":', true],
  ['input', [SECRET], 'a', false],
  ['arguments', [service().guard], 'a', false],
  ['input', [service().guard], '{"a":', true],
  ['input', [SECRET, SECRET], '{"a":', true],
])('a text of form %s under %j that begins %s: nothing can begin within it: %s', (form, guards, text, isJson) => {
  const { block, push } = blockOf(guards, { form })
  push(text)
  expect(block.isJson).toBe(isJson)
})

test('a text that goes on with text that has left is checked with it', () => {
  for (const form of ['string', 'input'] as const) {
    const text = new SequencedText('a', undefined)
    const begun = blockOf([SECRET], { form, text })
    begun.push('a secr')
    begun.block.end()
    const { push, refused, noted } = blockOf([SECRET], { form, text, begun: begun.block })
    const piece = push('et-12 ')
    expect(piece.released).toBeUndefined()
    expect(refused).toMatchObject([{ code: 'prompt-guard-rejected' }])
    expect(noted).toEqual(['Reject'])
  }
})

test.each<[form: BlockKind['form'], begun: string, pieces: string[], released: (string | undefined)[]]>([
  ['string', 'a secr', ['et-12 ', 'b'], [undefined, undefined]],
  ['string', 'a ', ['secr', 'et-12 '], ['<masked>', ' ']],
  ['arguments', '{"a":"secr', ['et-12"}'], [undefined]],
  ['arguments', '{"a":"b ', ['\\u0073ecret-1', '","c":"d"}'], ['<masked>', '","c":"d"}']],
  ['input', 'b', ['secret-1 ', 'secret-2 '], ['<masked> ', '<masked> ']],
])(
  'a text (%s) that goes on while a service judges its beginning waits: %s, %j',
  async (form, before, pieces, passed) => {
    const { guard, asked } = service()
    const text = new SequencedText('a', undefined)
    const begun = blockOf([guard, SECRET], { form, text })
    begun.push(before)
    begun.block.end()
    const { block, push } = blockOf([guard, SECRET], { form, text, begun: begun.block })
    const pushed = pieces.map(push)
    const repeated = { original: before + pieces.join(''), released: undefined }
    expect(block.repeat(repeated)).toBeUndefined()
    expect(asked).toHaveLength(1)
    await asked[0]!({ kind: 'pass' })
    expect(pushed.map(({ released }) => released)).toEqual(pieces.map(() => undefined))
    await asked[1]!({ kind: 'pass' })
    expect(pushed.map(({ released }) => released)).toEqual(passed)
    const isRefused = passed.includes(undefined)
    expect(repeated.released).toBe(isRefused ? undefined : before + passed.join(''))
  },
)

test.each<[form: BlockKind['form'], masks: boolean, begun: string, more: string, seen: string, released: string]>([
  ['string', true, 'a', 'b', 'ab', 'b'],
  ['string', false, 'a secret-1', ' b', 'a secret-1 b', ' b'],
  ['string', true, 'a\ud83d', '\ude42', 'a🙂', '🙂'],
  ['string', true, '\ud83d', '\ude42', '🙂', '🙂'],
  ['arguments', true, '["a', 'b"]', 'ab', 'b"]'],
  ['arguments', false, '["a', 'b"]', 'ab', 'b"]'],
  ['arguments', true, '["a","\\', '"b"]', 'a "b', '"b"]'],
  ['arguments', true, '["a","', 'b"]', 'a b', 'b"]'],
  ['arguments', true, '["a"', ',"b"]', 'a b', ',"b"]'],
  ['arguments', true, '["a",', '"b"]', 'a b', '"b"]'],
  ['arguments', true, '["a",x', 'b', 'a xb', 'b'],
  ['arguments', true, '["a",', 'b', 'a b', 'b'],
  ['input', true, 'a', 'b', 'ab', 'b'],
])(
  'a service sees what goes on with a text (%s, masks: %s) behind what it has seen of it: %j, %j',
  async (form, masks, before, more, seen, released) => {
    const { guard, asked, contents } = service(masks)
    const guards = [guard, SECRET]
    const text = new SequencedText('a', undefined)
    const begun = blockOf(guards, { form, text })
    begun.push(before)
    begun.block.end()
    await asked[0]?.({ kind: 'pass' })
    const { block, push } = blockOf(guards, { form, text, begun: begun.block })
    const piece = push(more)
    block.end()
    await asked.at(-1)!({ kind: 'pass' })
    expect(contents.at(-1)).toBe(seen)
    expect(piece.released).toBe(released)
  },
)

test('a long text that a service has let pass goes on in parts, as work for later', async () => {
  const { guard, asked } = service()
  const { block, push, later } = blockOf([SECRET, guard, SECRET], {}, false)
  const long = `${'x '.repeat(3000)}secret-1 and`
  const [first, second] = [push(long), push(' so secret-')]
  block.end()
  expect(asked).toHaveLength(1)
  await asked[0]!({ kind: 'mask', contents: [long.replace('secret-1', 'secret-2')] })
  expect([first.released, later]).toEqual([undefined, [expect.anything()]])
  const steps = later[0]!
  let yields = 0
  while (!steps.next().done) yields++
  expect(yields).toBeGreaterThan(3)
  expect(first.released).toBe(`${'x '.repeat(3000)}<masked> and`)
  expect(second.released).toBeUndefined()
})

test('a number at the end of a piece waits until it is whole', () => {
  const { push } = blockOf([SECRET], { form: 'arguments' })
  const pieces = ['[1', '2', ']', ' '].map(push)
  expect(pieces.map(({ released }) => released)).toEqual(['[1', '2', ']', ' '])
  const { push: pushNext } = blockOf([SECRET], { form: 'arguments' })
  expect(['[1', '2'].map((text) => pushNext(text).released)).toEqual([undefined, undefined])
})

test('refused arguments do not end as if they had passed', () => {
  const { block, push, refused } = blockOf([SECRET], { form: 'arguments', isFixed: true })
  push('"secret-1 "')
  block.end()
  expect(refused).toHaveLength(1)
  expect(block.isOver).toBe(false)
})

test('what one service has let pass waits for no other pause at the next one', async () => {
  const [first, second, third] = [service(), service(), service()]
  const { block, push } = blockOf([first.guard, SECRET, second.guard, third.guard])
  const piece = push('hello secret-1 you ')
  block.judgeNow()
  expect([first.contents, second.contents]).toEqual([['hello secret-1 you '], []])
  await first.asked[0]!({ kind: 'pass' })
  expect([second.contents, third.contents]).toEqual([['hello <masked> you '], []])
  await second.asked[0]!({ kind: 'pass' })
  expect([third.contents, piece.released]).toEqual([['hello <masked> you '], undefined])
  await third.asked[0]!({ kind: 'pass' })
  expect(piece.released).toBe('hello <masked> you ')
})

test.each([
  ['string', 'secret-1 text', '<masked> <T>'],
  ['arguments', '{"":"secret-1 text"}', '{"":"<masked> <T>"}'],
] as const)(
  'neighbours that judge see %s at the same time, others what those before them let pass',
  async (form, given, passed) => {
    const services = [false, false, true, false, false, false].map((masks) => service(masks))
    const [a, b, m, c, d, e] = services
    const { push, block, refused } = blockOf([a!.guard, b!.guard, m!.guard, c!.guard, d!.guard, SECRET, e!.guard], {
      form,
    })
    const piece = push(given)
    block.end()
    const contents = () => services.map(({ contents: [content] }) => content)
    const none = undefined
    const first = contents()[0]!
    expect(first.trim()).toBe('secret-1 text')
    expect(contents()).toEqual([first, first, none, none, none, none])
    await b!.asked[0]!({ kind: 'pass' })
    expect(m!.asked).toEqual([])
    await a!.asked[0]!({ kind: 'pass' })
    expect(contents()).toEqual([first, first, first, none, none, none])
    const masked = first.replace('text', '<T>')
    await m!.asked[0]!({ kind: 'mask', contents: [masked] })
    expect(contents()).toEqual([first, first, first, masked, masked, none])
    await c!.asked[0]!({ kind: 'pass' })
    await d!.asked[0]!({ kind: 'pass' })
    expect(contents()[5]).toBe(masked.replace('secret-1', '<masked>'))
    expect(piece.released).toBeUndefined()
    await e!.asked[0]!({ kind: 'pass' })
    expect(piece.released).toBe(passed)
    expect(refused).toEqual([])
  },
)

test.each<[contents: string, released: string | undefined]>([
  ['a \\u00zz', 'zz'],
  ['a \\u00z', 'z'],
  ['a zz', undefined],
])('a service sees the beginning of an escape that breaks, and cannot mask it: %j', async (masked, released) => {
  const text = new SequencedText('a', undefined)
  const { guard, asked, contents } = service()
  const begun = blockOf([guard], { form: 'arguments', text })
  begun.push('["a\\u00')
  begun.block.end()
  await asked[0]!({ kind: 'pass' })
  const { block, push, refused } = blockOf([guard], { form: 'arguments', text, begun: begun.block })
  const piece = push('zz')
  block.end()
  await asked[1]!({ kind: 'mask', contents: [masked] })
  expect(contents).toEqual(['a', 'a \\u00zz'])
  expect([piece.released, refused.length]).toEqual([released, released === undefined ? 1 : 0])
})
