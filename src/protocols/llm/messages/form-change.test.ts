import { expect, test } from 'vitest'
import { TOO_LARGE } from '../answer/form-change.ts'
import { collected, failedBy, streamOf } from '../answer/testing.ts'
import { messagesForms } from './form-change.ts'

/** Everything that a message may have, with members and blocks that the gateway does not know. */
const WHOLE = {
  ...{ id: 'x', type: 'message', role: 'assistant', model: 'm', own: [1], context_management: { applied_edits: [] } },
  content: [
    { type: 'thinking', thinking: 'so', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'e' },
    {
      type: 'text',
      text: 'Hm "é"',
      citations: [{ type: 'char_location', cited_text: 'a' }, { type: 'page_location' }],
      own: 1,
    },
    { type: 'text', text: '', citations: null },
    { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1, b: [] } },
    { type: 'server_tool_use', id: 'c2', name: 'web_search', input: { query: 'q' } },
    { type: 'web_search_tool_result', tool_use_id: 'c2', content: [{ type: 'web_search_result', url: 'u' }] },
    { type: 'mcp_tool_use', id: 'c3', name: 'g', server_name: 's', input: {} },
    { type: 'compaction', content: 'short' },
    { type: 'own_block', text: 'whole' },
  ],
  ...{ stop_reason: 'tool_use', stop_sequence: null, container: { id: 'k' }, stop_details: { type: 'refusal' } },
  usage: { input_tokens: 9, output_tokens: 2, cache_read_input_tokens: 1, server_tool_use: { web_search_requests: 1 } },
}

test('a whole message is the same after both changes of its form', () => {
  const stream = streamOf(messagesForms, JSON.stringify(WHOLE))
  expect(JSON.parse(collected(messagesForms, stream))).toEqual(WHOLE)
})

test('events have the form of their vendor', () => {
  const events = streamOf(messagesForms, JSON.stringify(WHOLE))
    .split('\n\n')
    .slice(0, -1)
    .map((block) => {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block)!
      const event = JSON.parse(data!)
      expect(event.type).toBe(name)
      return event
    })
  expect(events[0].message).toMatchObject({ id: 'x', content: [], stop_reason: null, stop_sequence: null, own: [1] })
  expect(events[0].message.usage).toEqual({ ...WHOLE.usage, output_tokens: 0 })
  expect(events.at(-2)).toEqual({
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null, container: { id: 'k' }, stop_details: { type: 'refusal' } },
    context_management: { applied_edits: [] },
    usage: WHOLE.usage,
  })
  expect(events.at(-1)).toEqual({ type: 'message_stop' })
  const ofBlock = (index: number) =>
    events.filter((event) => event.index === index).map(({ type: _, index: __, ...rest }) => rest)
  expect(ofBlock(0)).toEqual([
    { content_block: { type: 'thinking', thinking: '', signature: '' } },
    { delta: { type: 'thinking_delta', thinking: 'so' } },
    { delta: { type: 'signature_delta', signature: 'c2ln' } },
    {},
  ])
  expect(ofBlock(1)).toEqual([{ content_block: WHOLE.content[1] }, {}])
  expect(ofBlock(2)).toEqual([
    { content_block: { type: 'text', text: '', citations: [], own: 1 } },
    { delta: { type: 'text_delta', text: 'Hm "é"' } },
    { delta: { type: 'citations_delta', citation: { type: 'char_location', cited_text: 'a' } } },
    { delta: { type: 'citations_delta', citation: { type: 'page_location' } } },
    {},
  ])
  expect(ofBlock(4)).toEqual([
    { content_block: { type: 'tool_use', id: 'c1', name: 'f', input: {} } },
    { delta: { type: 'input_json_delta', partial_json: '{"a":1,"b":[]}' } },
    {},
  ])
  expect(ofBlock(6)).toEqual([{ content_block: WHOLE.content[6] }, {}])
  expect(ofBlock(8)[1]).toEqual({ delta: { type: 'compaction_delta', content: 'short' } })
  expect(ofBlock(9)).toEqual([{ content_block: WHOLE.content[9] }, {}])
})

const writtenEvents = (message: object) =>
  streamOf(messagesForms, JSON.stringify(message))
    .split('\n\n')
    .slice(0, -1)
    .map((block) => {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block)!
      return [name, JSON.parse(data!)] as const
    })

test('a message has only the members that it had', () => {
  expect(writtenEvents({ content: [], stop_reason: 'stop_sequence', stop_sequence: 'x' })).toEqual([
    ['message_start', { type: 'message_start', message: { content: [], stop_reason: null, stop_sequence: null } }],
    ['message_delta', { type: 'message_delta', delta: { stop_reason: 'stop_sequence', stop_sequence: 'x' } }],
    ['message_stop', { type: 'message_stop' }],
  ])
})

test.each<[what: string, block: object]>([
  ['an input', { type: 'own', input: { a: 1 } }],
  ['citations', { type: 'own', citations: [{ a: 1 }] }],
  ['no type', { text: 'a', input: 1 }],
])('a block of an unknown type with %s begins whole', (_, content_block) => {
  expect(writtenEvents({ content: [content_block] }).slice(1, 3)).toEqual([
    ['content_block_start', { type: 'content_block_start', index: 0, content_block }],
    ['content_block_stop', { type: 'content_block_stop', index: 0 }],
  ])
})

const event = (type: string, rest: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
const start = event('message_start', { message: { id: 'x', usage: { input_tokens: 9, output_tokens: 1 } } })
const begin = event('content_block_start', { index: 0, content_block: { type: 'tool_use', input: {} } })
const input = (text: string) =>
  event('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: text } })
const stopped = event('message_delta', {
  delta: { stop_reason: 'max_tokens' },
  usage: { input_tokens: null, output_tokens: 5 },
})
const stop = event('message_stop')
const LONG = 'b'.repeat(100)

test('an input is joined from its pieces, with its numbers', () => {
  const whole = collected(
    messagesForms,
    start + event('ping') + begin + input('{"a":1.0,"b":') + input('12345678901234567890}') + stopped + stop,
  )
  expect(whole).toContain('"input":{"a":1.0,"b":12345678901234567890}')
  expect(JSON.parse(whole).usage).toEqual({ input_tokens: 9, output_tokens: 5 })
})

test('an input may be any value', () => {
  const whole = JSON.parse(collected(messagesForms, start + begin + input('null') + stopped + stop))
  expect(whole.content[0].input).toBeNull()
})

test('an input that was cut off stays a text', () => {
  const whole = JSON.parse(collected(messagesForms, start + begin + input('{"a":') + stopped + stop))
  expect(whole).toMatchObject({ stop_reason: 'max_tokens', content: [{ input: '{"a":' }] })
})

test.each<[what: string, index: object]>([
  ['without numbers', {}],
  ['with the same number', { index: 0 }],
])('blocks %s follow each other', (_, index) => {
  const block = (text: string) =>
    event('content_block_start', { ...index, content_block: { type: 'text', text: '' } }) +
    event('content_block_delta', { ...index, delta: { type: 'text_delta', text } }) +
    event('content_block_stop', index)
  const whole = JSON.parse(collected(messagesForms, start + block('a') + block('b') + stopped + stop))
  expect(whole.content).toEqual(['a', 'b'].map((text) => ({ type: 'text', text })))
})

test.each<[what: string, indexes: readonly (number | undefined)[], order: string]>([
  ['behind one with a number', [5, undefined], 'ab'],
  ['before one with the number 0', [undefined, 0], 'ab'],
  ['before one with the number 1', [undefined, 1], 'ab'],
])('a block without a number is %s', (_, indexes, order) => {
  const blocks = indexes.map((index, at) =>
    event('content_block_start', { index, content_block: { type: 'text', text: 'ab'[at] } }),
  )
  const { content } = JSON.parse(collected(messagesForms, start + blocks.join('') + stopped + stop))
  expect(content.map(({ text }: { text: string }) => text).join('')).toBe(order)
})

test('the first block without a number has the number 0', () => {
  const block = event('content_block_start', { content_block: { type: 'text', text: 'a' } })
  const delta = event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'b' } })
  const { content } = JSON.parse(collected(messagesForms, start + block + delta + stopped + stop))
  expect(content).toEqual([{ type: 'text', text: 'ab' }])
})

test('events are known by their types or by their lines, and those without data are nothing', () => {
  const stream = `${start}event: ping\n\ndata:\n\n${begin}${input('{"a":1}')}${stopped}${stop}`
  const whole = collected(messagesForms, stream)
  expect(JSON.parse(whole)).toMatchObject({ id: 'x', content: [{ input: { a: 1 } }], stop_reason: 'max_tokens' })
  expect(collected(messagesForms, stream.replaceAll(/^event: .*\n/gm, ''))).toBe(whole)
  expect(collected(messagesForms, stream.replaceAll(/"type":"(?:message|content)_\w+",?/g, ''))).toBe(whole)
})

test('a delta is counted with its text and an overhead, and may have no text', () => {
  const counted: number[] = []
  const collector = messagesForms.collector((length) => {
    counted.push(length)
    return true
  })
  const delta = { type: 'input_json_delta' }
  const send = (event: object) => collector.event('', Buffer.from(JSON.stringify(event)))
  send({ type: 'message_start', message: {} })
  send({ type: 'content_block_start', index: 0, content_block: { type: 'tool_use' } })
  send({ type: 'content_block_delta', index: 0, delta: { ...delta, partial_json: '1' } })
  send({ type: 'content_block_delta', index: 0, delta })
  expect(counted.slice(-2)).toEqual([64 + 46, 64 + 27])
  const whole = send({ type: 'message_stop' }) as { readonly body: Uint8Array }
  expect(JSON.parse(Buffer.from(whole.body).toString()).content).toEqual([{ type: 'tool_use', input: 1 }])
})

test.each<[what: string, delta: object, counted: number]>([
  ['a reason', { delta: { stop_reason: 'end_turn' } }, 64 + 64 + 11 + 8],
  ['counts', { usage: { output_tokens: 5 } }, 64 + 64 + 5 + 19],
  ['a reason and counts', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }, 64 + 83 + 88],
  ['no counts', { usage: { output_tokens: null } }, 64],
])('what the end of a message tells is counted: %s', (_, delta, expected) => {
  const counted: number[] = []
  const collector = messagesForms.collector((length) => {
    counted.push(length)
    return true
  })
  const send = (event: object) => collector.event('', Buffer.from(JSON.stringify(event)))
  send({ type: 'message_start', message: {} })
  send({ type: 'message_delta', ...delta })
  expect(counted.at(-1)).toBe(expected)
  const whole = send({ type: 'message_stop' }) as { readonly body: Uint8Array }
  expect('usage' in JSON.parse(Buffer.from(whole.body).toString())).toBe(expected > 147)
})

test('a delta sets members that its block did not have, and those that are no texts', () => {
  const delta = (more: object) => event('content_block_delta', { index: 0, delta: { type: 'own_delta', ...more } })
  const block = event('content_block_start', { index: 0, content_block: { type: 'own', text: 'a', code: 'b', n: 1 } })
  const stream = start + block + delta({ text: 'a', code: 2, n: 'c', own: 'd' }) + stopped + stop
  expect(JSON.parse(collected(messagesForms, stream)).content).toEqual([
    { type: 'own', text: 'aa', code: 2, n: 'c', own: 'd' },
  ])
})

test('of two beginnings the first one counts', () => {
  const again = event('message_start', { message: { id: 'y' } })
  expect(JSON.parse(collected(messagesForms, start + again + stopped + stop)).id).toBe('x')
})

test('the mark of another API ends a message at once', () => {
  const collector = messagesForms.collector(() => true)
  const told = [start, stopped].map((block) => {
    const [, name, data] = /^event: (.*)\ndata: (.*)\n\n$/.exec(block)!
    return collector.event(name!, Buffer.from(data!))
  })
  expect([...told, collector.event('', Buffer.from('[DONE]'))?.kind]).toEqual([undefined, undefined, 'whole'])
})

test('blocks interleave, and are in the order of their numbers', () => {
  const text = (index: number, text: string) =>
    event('content_block_delta', { index, delta: { type: 'text_delta', text } })
  const begun = (index: number) => event('content_block_start', { index, content_block: { type: 'text', text: '' } })
  const stream =
    start + begun(1) + begun(0) + text(1, 'c') + text(0, 'a') + text(1, 'd') + text(0, 'b') + stopped + stop
  expect(JSON.parse(collected(messagesForms, stream)).content.map(({ text }: { text: string }) => text)).toEqual([
    'ab',
    'cd',
  ])
})

test('the mark of another API ends a complete message', () => {
  expect(JSON.parse(collected(messagesForms, `${start + stopped}data: [DONE]\n\n`)).stop_reason).toBe('max_tokens')
})

test('a message ends with its reason to stop, or with its last event', () => {
  expect(JSON.parse(collected(messagesForms, start + stopped)).stop_reason).toBe('max_tokens')
  expect(JSON.parse(collected(messagesForms, start + stop))).toMatchObject({ stop_reason: 'end_turn', content: [] })
})

test.each<[what: string, stream: string, fault: unknown]>([
  ['no end', start + begin, undefined],
  ['no beginning', stop, undefined],
  ['no JSON', `${start}data: {\n\n`, { kind: 'unusable', what: 'an event of the stream is not JSON' }],
  ['an error', start + event('error', { error: 1 }), { kind: 'error', error: { type: 'error', error: 1 } }],
  ['an error by its member', start + event('x', { error: 1 }), { kind: 'error', error: { type: 'x', error: 1 } }],
  ['an error by its line', 'event: error\ndata: {"message":"m"}\n\n', { kind: 'error', error: { message: 'm' } }],
  ['a long message', start + begin + input('a'.repeat(1000)), { kind: 'unusable', what: 'the response is too large' }],
  ['a list', `${start}data: [1]\n\n`, { kind: 'unusable', what: 'an event of the stream is not JSON' }],
  ['the mark of another API', `${start}data: [DONE]\n\n`, undefined],
  [
    'a flood of members',
    start + Array.from({ length: 10 }, (_, i) => event('message_delta', { [`own${i}`]: LONG, delta: {} })).join(''),
    TOO_LARGE,
  ],
  ['a flood of blocks', start + Array.from({ length: 30 }, (_, i) => begin.replace('0', `${i}`)).join(''), TOO_LARGE],
])('%s is no message', (_, stream, fault) => {
  expect(failedBy(messagesForms, stream, 1000)).toEqual(fault)
})

test('an object without content is no message', () => {
  expect(() => streamOf(messagesForms, '{"content":"a"}')).toThrow('no content')
})
