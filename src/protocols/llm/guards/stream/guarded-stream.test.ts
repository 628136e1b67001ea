import { expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { reject } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { inOneTurn } from '#test/support/in-one-turn.ts'
import { CompletionsStream } from '../../dialects/completions/stream.ts'
import { type Answer, Collector, pass } from '../../testing.ts'
import type { RegexGuard } from '../guard.ts'
import { compileRules } from '../rules/compile-rules.ts'
import { GuardedStream } from './guarded-stream.ts'

function guard(spec: Parameters<typeof compileRules>[0], index = 0): RegexGuard {
  const rules = compileRules(spec, (path, message) => {
    throw new Error(`${path}: ${message}`)
  })
  return { phase: 'response', index, kind: 'regex', rules, rejects: false, refusal: reject('prompt-guard-rejected') }
}

const EMAIL = guard({ builtins: ['Email'] })

const chunk = (delta: object, index = 0, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index, delta, finish_reason: finish }] })}\n\n`
const DONE = 'data: [DONE]\n\n'

const event = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`

/** The texts of a stream by dialect: as it is written, and as a client reads it. */
const DIALECTS = {
  Completions: {
    write: (texts: readonly string[]) =>
      chunk({ role: 'assistant', content: '' }) +
      texts.map((content) => chunk({ content })).join('') +
      chunk({}, 0, 'stop') +
      DONE,
    read: (events: string) => join(events, ({ choices }) => choices?.[0]?.delta.content),
  },
  Messages: {
    write: (texts: readonly string[]) =>
      event('message_start', { message: { id: 'm', content: [] } }) +
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
      texts
        .map((text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }))
        .join(`${event('ping', {})}`) +
      event('content_block_stop', { index: 0 }) +
      event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } }) +
      event('message_stop', {}),
    read: (events: string) => join(events, ({ delta }) => delta?.text),
  },
  Responses: {
    write: (texts: readonly string[]) => {
      const at = { item_id: 'i', output_index: 0, content_index: 0 }
      const part = { type: 'output_text', text: texts.join(''), annotations: [] }
      const item = { id: 'i', type: 'message', role: 'assistant', content: [part] }
      return (
        event('response.created', { response: { id: 'r', output: [] } }) +
        event('response.output_item.added', { output_index: 0, item: { ...item, content: [] } }) +
        event('response.content_part.added', { ...at, part: { ...part, text: '' } }) +
        texts.map((delta) => event('response.output_text.delta', { ...at, delta })).join('') +
        event('response.output_text.done', { ...at, text: part.text }) +
        event('response.content_part.done', { ...at, part }) +
        event('response.output_item.done', { output_index: 0, item }) +
        event('response.completed', { response: { id: 'r', status: 'completed', output: [item] } })
      )
    },
    read: (events: string) => join(events, ({ type, delta }) => (type?.endsWith('.delta') ? delta : undefined)),
  },
} as const

// biome-ignore lint/suspicious/noExplicitAny: tests read JSON
function join(events: string, textOf: (event: any) => string | undefined): string {
  const texts = events
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [textOf(JSON.parse(line.slice(6))) ?? ''] : []))
  return texts.join('')
}

const run = (body: string, answer: Answer) => pass(body, { type: 'Completions', guards: [EMAIL], ...answer })

const TEXT = 'é🙂 write to ann.b@example.org, or to: c@d.example 🙂!'
const MASKED = 'é🙂 write to <EMAIL_ADDRESS>, or to: <EMAIL_ADDRESS> 🙂!'

for (const [type, { write, read }] of Object.entries(DIALECTS)) {
  const answer = { type: type as keyof typeof DIALECTS }

  test(`a stream of ${type} is masked alike wherever its text is split`, () => {
    for (let first = 0; first <= TEXT.length; first++) {
      const texts = [TEXT.slice(0, first), TEXT.slice(first, first + 3), TEXT.slice(first + 3)]
      const { text } = run(write(texts), answer)
      expect(read(text)).toBe(MASKED)
      expect(text).not.toContain('example')
    }
  })

  test(`a stream of ${type} is masked alike wherever its bytes are split`, () => {
    const body = Buffer.from(write(['to a@', 'b.example ', 'now']))
    const whole = pass(body, { ...answer, guards: [EMAIL] }).text
    for (let at = 1; at < body.length; at += 7) {
      expect(pass(body, { ...answer, guards: [EMAIL], cuts: [at] }).text).toBe(whole)
    }
  })

  test(`a stream of ${type} without a match keeps its bytes`, () => {
    const body = write(['nothing ', 'to ', 'mask ', '@ here'])
    expect(run(body, answer).text).toBe(body)
  })
}

test('words leave as they come', () => {
  const words = ['one ', 'two ', 'three ', 'four']
  const arrived = words.map((_, count) => {
    const body = words.slice(0, count + 1).map((content) => chunk({ content }))
    // Without an end: what has left so far.
    return DIALECTS.Completions.read(
      pass(body.join(''), { type: 'Completions', guards: [EMAIL], breaks: 'cancelled' }).text,
    )
  })
  expect(arrived).toEqual(['one ', 'one two ', 'one two three ', 'one two three '])
})

test('several choices have texts of their own, in the order of the provider', () => {
  const body =
    chunk({ content: 'to a@' }) +
    chunk({ content: 'x y ' }, 1) +
    chunk({ content: 'b.example' }) +
    chunk({}, 0, 'stop') +
    DONE
  const { text } = run(body, {})
  expect(
    [...text.matchAll(/"index":(\d),"delta":\{(?:"content":"(.*?)")?/g)].map(([, index, content]) => [index, content]),
  ).toEqual([
    ['0', 'to <EMAIL_ADDRESS>'],
    ['1', 'x y '],
    ['0', ''],
    ['0', undefined],
  ])
})

test('strings in the arguments of calls are masked, and stay JSON', () => {
  const call = (text: string) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })
  const json = JSON.stringify({ to: 'a@b.example', cc: ['"c@d.example"\n'], n: 1 }).replace('a@', '\\u0061\\u0040')
  for (let at = 1; at < json.length; at++) {
    const { text } = run(call(json.slice(0, at)) + call(json.slice(at)) + chunk({}, 0, 'tool_calls') + DONE, {})
    const args = join(text, ({ choices }) => choices?.[0]?.delta.tool_calls?.[0].function.arguments)
    expect(JSON.parse(args)).toEqual({ to: '<EMAIL_ADDRESS>', cc: ['"<EMAIL_ADDRESS>"\n'], n: 1 })
  }
})

test('a match in a key of arguments cannot be masked: the stream is refused', () => {
  const { text } = run(chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a@b.example":1}' } }] }) + DONE, {})
  expect(text).not.toContain('example')
  expect(text).toContain('guardrail_intervention')
})

test('a match that is longer than what may be held ends the stream', () => {
  const guards = [guard({ matches: ['begin(?s:.*)end'] })]
  const body =
    chunk({ content: `begin ${'x '.repeat(400)}` }) + chunk({ content: 'the end' }) + chunk({}, 0, 'stop') + DONE
  const { text } = run(body, { guards })
  expect(text).toContain('guardrail_intervention')
  expect(text).not.toContain('[DONE]')
})

test.each(['end', 'ene'])('the last 256 characters of such a match leave only if it does not end: %s', (last) => {
  const guards = [guard({ matches: ['begin(?s:.*)end', 'x+'] })]
  const text = `begin ${'xy '.repeat(120)}${'#'.repeat(253)}${last}`
  const { write, read } = DIALECTS.Completions
  const shown = read(run(write(text.match(/.{1,7}/g)!), { guards }).text)
  expect(shown).toBe(text.slice(0, last === 'end' ? 364 : undefined).replaceAll('x', '<masked>'))
})

test('a stream that would hold more than a body may have is refused', () => {
  const body = (count: number) =>
    chunk({ tool_calls: [{ index: 0, function: { arguments: 'y'.repeat(40_000) } }] }).repeat(count)
  const { text } = run(body(60), {})
  expect(text).toContain('guardrail_intervention')
  expect(text).not.toContain('yyy')
  expect(run(body(3), {}).text).toContain('yyy')
})

test.each<[what: string, after: string, passes: string]>([
  ['the end', '', 'secr'],
  ['a ping and the end', ':\n\n', 'secr'],
  ['the rest of a match', chunk({ content: 'et-1' }), '<masked>'],
  ['text that goes on, and the rest of a match', chunk({ content: 'e' }) + chunk({ content: 't-1' }), '<masked>'],
])('an event that is larger than what may be held, and whose text is held, passes before %s', (_, after, passes) => {
  const spaces = ' '.repeat(100_000)
  const large = chunk({ content: 'secr' }).replace('data: {', `data: {${spaces}`)
  const { text } = run(chunk({ content: 'A ' }) + large + after + DONE, { guards: [SECRET] })
  expect(join(text, ({ choices }) => choices?.[0]?.delta.content)).toBe(`A ${passes}`)
  expect(text).toContain(spaces)
  expect(text.endsWith(DONE)).toBe(true)
})

test('an event that is not JSON cannot be checked', () => {
  const { text } = run(`${chunk({ content: 'fine ' })}data: a@b.example\n\n`, {})
  expect(text).toContain('fine ')
  expect(text).not.toContain('example')
  expect(text).toContain('guardrail_intervention')
})

test('data in several lines is masked', () => {
  const body = `data: {"choices":[{"index":0,\ndata: "delta":{"content":"a@b.example"}}]}\n\n${DONE}`
  expect(DIALECTS.Completions.read(run(body, {}).text)).toBe('<EMAIL_ADDRESS>')
})

const SECRET = guard({ matches: ['secret-[0-9]+'] })

test.each<[what: string, block: string, passes: string]>([
  ['a comment', ': secret-1\n\n', ':\n\n'],
  ['a comment after a byte order mark', '\ufeff: secret-1\n\n', ':\n\n'],
  ['a time to wait', 'retry: secret-1\n\n', ':\n\n'],
  ['a name without data', 'event: secret-1\n\n', ':\n\n'],
  ['a line that is no field', 'secret-1\n\n', ':\n\n'],
  ['no data', 'data: \n\n', ':\n\n'],
  ['a comment in an event', `: secret-1\n${chunk({ content: 'x' })}`, chunk({ content: 'x' })],
  ['an id', `id: secret-1\n${chunk({ content: 'x' })}`, chunk({ content: 'x' })],
  ['a name', `event: secret-1\n${chunk({ content: 'x' })}`, chunk({ content: 'x' })],
  ['a name that is the type of the data', event('ping', {}), event('ping', {})],
  ['no name, although the data have a type', 'data:{"type":"ping"}\n\n', 'data:{"type":"ping"}\n\n'],
  ['a name that clients know', `event: error\n${chunk({ content: 'x' })}`, `event: error\n${chunk({ content: 'x' })}`],
])('what clients of event streams do not read is no way around a guard: %s', (_, block, passes) => {
  const { text } = run(block + chunk({}, 0, 'stop') + DONE, { guards: [SECRET] })
  expect(text).toBe(passes + chunk({}, 0, 'stop') + DONE)
  // While text is held, too.
  const held = run(chunk({ content: 'sec' }) + block + chunk({}, 0, 'stop') + DONE, { guards: [SECRET] })
  expect(held.text).toBe(chunk({ content: 'sec' }) + passes + chunk({}, 0, 'stop') + DONE)
})

test('a finish reason without a name ends no text', () => {
  const body = chunk({ content: 'a secr' }, 0, '') + chunk({ content: 'et-12 b' }, 0, '') + chunk({}, 0, 'stop') + DONE
  expect(DIALECTS.Completions.read(run(body, { guards: [SECRET] }).text)).toBe('a <masked> b')
})

const block = (index: number, ...texts: readonly string[]) =>
  event('content_block_start', { index, content_block: { type: 'text', text: '' } }) +
  texts.map((text) => event('content_block_delta', { index, delta: { type: 'text_delta', text } })).join('') +
  event('content_block_stop', { index })
const part = (content_index: number, step: string, more: object) =>
  event(`response.output_text.${step}`, { item_id: 'i', output_index: 0, content_index, ...more })

test('content that a message begins with is one text with what follows', () => {
  const body =
    event('message_start', { message: { content: [{ type: 'text', text: 'a secr' }] } }) +
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'et-12 b' } })
  const { text } = run(body, { type: 'Messages', guards: [SECRET] })
  expect(text).toContain('"text":"a <masked>"')
  expect(text).toContain('"text":" b"')
})

test('a text after another one is masked by itself', () => {
  const body = block(0, 'a secret-1') + block(1, ' secret-2', '3 b') + event('message_stop', {})
  expect(DIALECTS.Messages.read(run(body, { type: 'Messages', guards: [SECRET] }).text)).toBe('a <masked> <masked> b')
})

test('a text that is not in a delta is one text all the same, whatever the number of its choice', () => {
  const body = (choice: object) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`
  const texts = body({ text: 'a secr' }) + body({ text: 'et-12' })
  const negative = body({ index: -1, delta: { content: 'a secr' } }) + body({ index: -1, delta: { content: 'et-12' } })
  expect(run(texts + DONE, { guards: [SECRET] }).text).not.toContain('-12')
  expect(run(negative + DONE, { guards: [SECRET] }).text).not.toContain('-12')
})

const call = (text: string) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })
const input = (text: string) => chunk({ tool_calls: [{ index: 0, custom: { input: text } }] })
const argumentsIn = (events: string) =>
  join(events, ({ choices }) => choices?.[0]?.delta.tool_calls?.[0].function?.arguments)
const inputIn = (events: string) => join(events, ({ choices }) => choices?.[0]?.delta.tool_calls?.[0].custom?.input)

test.each<[text: string, masked: string]>([
  ['secret-1', '<masked>'],
  ['-secret-1', '-<masked>'],
  ['12 secret-1', '12 <masked>'],
  ['trust secret-1', 'trust <masked>'],
  ['{secret-1}', '{<masked>}'],
  ['[1secret-1]', '[1<masked>]'],
  ['"secret-1" secret-2', '"<masked>" <masked>'],
  ['"a""secret-1"', '"a""<masked>"'],
  ['{"a":1 secret-1}', '{"a":1 <masked>}'],
  ['{"a":"secret-1"secret-2}', '{"a":"<masked>"<masked>}'],
  ['{"a":"\\q secret-1"}', '{"a":"\\q <masked>"}'],
  ['say "secret-1" now', 'say "<masked>" now'],
])('arguments and inputs of tools that are not JSON are masked as a text: %s', (text, masked) => {
  for (const [write, read] of [
    [call, argumentsIn],
    [input, inputIn],
  ] as const) {
    for (let at = 0; at <= text.length; at++) {
      const body = write(text.slice(0, at)) + write(text.slice(at)) + chunk({}, 0, 'tool_calls') + DONE
      const passed = run(body, { guards: [SECRET] }).text
      expect(read(passed)).toBe(masked)
    }
    const whole = run(write(text) + chunk({}, 0, 'tool_calls') + DONE, { guards: [SECRET] }).text
    expect(read(whole)).toBe(masked)
  }
})

test('an input that is text begins where it begins', () => {
  const body = input('secret x') + chunk({}, 0, 'tool_calls') + DONE
  expect(inputIn(run(body, { guards: [guard({ matches: ['^secret'] })] }).text)).toBe('<masked> x')
})

test('a number in the input of a tool is a text', () => {
  const ssn = guard({ matches: ['[0-9]{9}'] })
  for (const [write, read] of [
    [call, argumentsIn],
    [input, inputIn],
  ] as const) {
    const body = write(' 1234') + write('56789') + chunk({}, 0, 'tool_calls') + DONE
    expect(read(run(body, { guards: [ssn] }).text)).toBe(' <masked>')
  }
})

test.each(['{4111-1}', '[04111-1]', '{"a":4111-1}', '{"a":-4111-1'])(
  'a number that is none is checked as a text: %s',
  (text) => {
    const guards = [guard({ matches: ['4111-1'] })]
    for (let at = 0; at <= text.length; at++) {
      const body = call(text.slice(0, at)) + call(text.slice(at)) + chunk({}, 0, 'tool_calls') + DONE
      expect(argumentsIn(run(body, { guards }).text)).toBe(text.replace('4111-1', '<masked>'))
    }
  },
)

test.each<[what: string, first: object, second: object, rest: object]>([
  ['have one index', { index: 0, id: 'a' }, { index: 0, id: 'b' }, { index: 0 }],
  ['have one index and ids in all pieces', { index: 0, id: 'a' }, { index: 0, id: 'b' }, { index: 0, id: 'b' }],
  ['have no index', { id: 'a' }, { id: 'b' }, {}],
  ['have neither index nor ids', {}, {}, {}],
])('the arguments of each call are JSON of their own if the calls %s', (_, first, second, rest) => {
  const piece = (about: object, given: string, name?: string) =>
    chunk({ tool_calls: [{ ...about, function: { name, arguments: given } }] })
  const body =
    piece(first, '{"a":', 'f') + piece({ ...first, id: undefined }, '"x') + piece({ ...first, id: undefined }, '"}')
  const behind = piece(second, '{"a":"\\u0073e', 'g') + piece(rest, 'cret-1"}') + chunk({}, 0, 'tool_calls') + DONE
  expect(argumentsIn(run(body + behind, { guards: [SECRET] }).text)).toBe('{"a":"x"}{"a":"<masked>"}')
})

test('arguments go on in a piece with another id and without a name', () => {
  const piece = (id: string, given: string, name?: string) =>
    chunk({ tool_calls: [{ index: 0, id, function: { name, arguments: given } }] })
  const body = piece('a', '{"a":"secr', 'f') + piece('b', 'et-1"}') + chunk({}, 0, 'tool_calls') + DONE
  expect(argumentsIn(run(body, { guards: [SECRET] }).text)).toBe('{"a":"<masked>"}')
})

test('arguments of however many calls go on, each by its index', () => {
  const piece = (index: number, given: string, name?: string) =>
    chunk({ tool_calls: [{ index, function: { name, arguments: given } }] })
  const indexes = Array.from({ length: 300 }, (_, index) => index)
  const begun = indexes.map((index) => piece(index, '["secr', 'f'))
  const rest = indexes.map((index) => piece(index, 'et-1"]'))
  const { text } = run([...begun, ...rest, DONE].join(''), { guards: [SECRET] })
  expect(argumentsIn(text)).toBe('["<masked>"]'.repeat(300))
})

test.each([{ index: 0 }, {}])('the input of each tool is JSON of its own if the blocks have the indexes %j', (at) => {
  const delta = (given: string) =>
    event('content_block_delta', { ...at, delta: { type: 'input_json_delta', partial_json: given } })
  const block = (...pieces: string[]) =>
    event('content_block_start', { ...at, content_block: { type: 'tool_use', id: 't', name: 'f', input: {} } }) +
    pieces.map(delta).join('') +
    event('content_block_stop', at)
  const body = block('{"a":', '"x', '"}') + block('{"a":', '"\\u0073e', 'cret-1"}') + block('{"a":"secret-1"}')
  const { text } = run(body + event('message_stop', {}), { type: 'Messages', guards: [SECRET] })
  expect(join(text, (each) => each.delta?.partial_json)).toBe('{"a":"x"}{"a":"<masked>"}{"a":"<masked>"}')
})

test.each([
  [' ', '{"a":"\\u0073ecret-1"}', '{"a":"<masked>"}'],
  [' ', 'x secret-1', 'x <masked>'],
  ['\n ', '{"a":1} secret-1', '{"a":1} <masked>'],
])('arguments may begin with space before an end: %j, %s', (space, given, masked) => {
  const end = chunk({}, 0, 'tool_calls')
  const body = call(space) + end + call('') + end + call(given) + end + DONE
  expect(argumentsIn(run(body, { guards: [SECRET] }).text)).toBe(space + masked)
})

test('halves of characters are masked alike wherever they are cut', () => {
  const json = '["\\ud83d\\ud83d\\ud83da\\ud83d"]'
  for (const [pattern, masked] of [
    ['^.', '["<masked>\\ud83d\\ud83da\\ud83d"]'],
    ['.a', '["\\ud83d\\ud83d<masked>\\ud83d"]'],
    ['.$', '["\\ud83d\\ud83d\\ud83da<masked>"]'],
  ] as const) {
    const guards = [guard({ matches: [pattern] })]
    const masks = (pieces: readonly string[]) =>
      argumentsIn(run(pieces.map(call).join('') + chunk({}, 0, 'tool_calls') + DONE, { guards }).text)
    for (let at = 0; at <= json.length; at++) {
      expect(masks([json.slice(0, at), json.slice(at, at + 2), json.slice(at + 2)])).toBe(masked)
    }
    expect(masks(json.split(''))).toBe(masked)
  }
})

test('the input of a tool is text or JSON: strings in JSON are masked by what they say', () => {
  const json = '{"to":"\\u0073ecret-1","n":"a\\"b"}'
  for (let at = 0; at <= json.length; at++) {
    const body = input(json.slice(0, at)) + input(json.slice(at)) + chunk({}, 0, 'tool_calls') + DONE
    expect(JSON.parse(inputIn(run(body, { guards: [SECRET] }).text))).toEqual({ to: '<masked>', n: 'a"b' })
  }
  const event = (step: string, more: object) =>
    `event: response.custom_tool_call_input.${step}\ndata: ${JSON.stringify({ type: `response.custom_tool_call_input.${step}`, output_index: 0, ...more })}\n\n`
  const body = event('delta', { delta: '{"to":"\\u0073' }) + event('delta', { delta: 'ecret-1"}' })
  const { text } = run(body + event('done', { input: '{"to":"\\u0073ecret-1"}' }), {
    type: 'Responses',
    guards: [SECRET],
  })
  expect(join(text, ({ delta }) => delta)).toBe('{"to":"<masked>"}')
  expect(join(text, ({ input }) => input)).toBe('{"to":"<masked>"}')
})

test('numbers and literals in arguments pass', () => {
  const json = '{"a":[-1.5e+3,0,true],"b":null , "c":{"d":false}}'
  for (let at = 1; at < json.length; at++) {
    const body = call(json.slice(0, at)) + call(json.slice(at)) + chunk({}, 0, 'tool_calls') + DONE
    expect(run(body, {}).text).toBe(body)
  }
})

test('arguments that go on after many other texts are held until then', () => {
  const more = chunk({ content: 'word ' }).repeat(40)
  const body = call('{"to":"a secr') + more + call('et-12"}') + chunk({}, 0, 'tool_calls') + DONE
  expect(argumentsIn(run(body, { guards: [SECRET] }).text)).toBe('{"to":"a <masked>"}')
})

test('what patterns hold does not stop the provider: only its next text can release it', () => {
  const guards = [guard({ matches: ['a[^z]{0,1000}z'] })]
  const exchange = exchangeWith()
  exchange.response = Head.response(200)
  const sink = new GuardedStream(undefined, {
    guards,
    format: 'Completions',
    stream: new CompletionsStream(),
    exchange,
    claim: roomFor(1_000_000).claim,
    maxEventBytes: 1_000_000,
    kept: undefined,
  }).into(new Collector())
  const body = Buffer.from(chunk({ content: 'a' }) + chunk({ extra: 'y'.repeat(40_000) }))
  inOneTurn(() => sink.bytes(body, 0, body.length))
  expect(sink.backed).toBe(false)
})

test('titles of citations do not go on in each other', () => {
  const cited = (title: string, annotation_index: number) =>
    event('response.output_text.annotation.added', {
      ...{ item_id: 'i', output_index: 0, content_index: 0, annotation_index },
      annotation: { type: 'url_citation', title, url: 'https://a.example' },
    })
  const body = cited('a secr', 0) + cited('et-12', 1) + part(0, 'delta', { delta: 'x' })
  expect(run(body, { type: 'Responses', guards: [SECRET], breaks: 'cancelled' }).text).toBe(body)
})

test.each<[type: keyof typeof DIALECTS, named: string]>([
  ['Completions', chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'look_up', arguments: '' } }] })],
  [
    'Responses',
    event('response.output_item.added', {
      output_index: 0,
      item: { type: 'function_call', name: 'look_up', arguments: '' },
    }),
  ],
])('the name of a call in %s leaves at once', (type, named) => {
  expect(run(named, { type, breaks: 'cancelled' }).text).toBe(named)
})

test.each<[type: keyof typeof DIALECTS, other: string, write: (text: string) => string]>([
  ['Responses', 'chat completions', (content) => chunk({ content })],
  ['Responses', 'chat completions in parts', (text) => chunk({ content: [{ type: 'text', text }] })],
  ['Responses', 'the Messages API', (text) => event('content_block_delta', { index: 0, delta: { text } })],
  ['Responses', 'a newer version', (text) => event('response.essay.delta', { text })],
  ['Responses', 'nobody', (text) => `data: ${JSON.stringify({ text })}\n\n`],
  ['Messages', 'the Responses API', (delta) => part(0, 'delta', { delta })],
  ['Messages', 'chat completions', (content) => chunk({ content })],
  ['Messages', 'a newer version', (text) => event('essay_delta', { essay: { text } })],
  ['Messages', 'a newer delta', (text) => event('content_block_delta', { index: 0, delta: { essay: { text } } })],
  ['Messages', 'a delta that is a text', (delta) => event('content_block_delta', { index: 0, delta })],
  ['Completions', 'the Responses API', (delta) => part(0, 'delta', { delta })],
  ['Completions', 'the Messages API', (text) => event('content_block_delta', { index: 0, delta: { text } })],
  ['Completions', 'a list of texts', (text) => `data: ${JSON.stringify({ choices: [text] })}\n\n`],
])('a stream of %s with events of %s is one text all the same', (type, _, write) => {
  const { text } = run(write('a secr') + write('et-12 b'), { type, guards: [SECRET] })
  const masked = write('a <masked>') + write(' b')
  // It has no end mark, so that an error follows.
  expect(text.slice(0, masked.length)).toBe(masked)
})

test('members that no interface knows do not hold up a chunk', () => {
  const body = `data: ${JSON.stringify({ provider: 'secr', choices: [{ delta: { content: 'Hi ' } }] })}\n\n`.repeat(2)
  expect(run(body, { guards: [SECRET], breaks: 'cancelled' }).text).toBe(body)
})

/** Feeds a stream whose work takes long: each look at the clock is a millisecond later. @returns the turns until the end, and what was sent */
async function inTurns(body: string): Promise<{ turns: number; text: string; wasBacked: boolean }> {
  const { monotonic } = clock
  let now = monotonic()
  clock.monotonic = () => now++
  try {
    const collector = new Collector()
    const exchange = exchangeWith()
    exchange.response = Head.response(200)
    const options = { guards: [SECRET], format: 'Completions' as const, stream: new CompletionsStream(), exchange }
    const limits = { claim: roomFor(8_000_000).claim, maxEventBytes: 2_000_000, kept: undefined }
    const sink = new GuardedStream(undefined, { ...options, ...limits }).into(collector)
    const bytes = Buffer.from(body)
    sink.bytes(bytes, 0, bytes.length)
    const wasBacked = sink.backed
    bytes.fill(0x23)
    sink.end()
    let turns = 0
    for (; collector.ended === 0 && turns < 1000; turns++) await new Promise((resolve) => setImmediate(resolve))
    return { turns, text: collector.text, wasBacked }
  } finally {
    clock.monotonic = monotonic
  }
}

test('an event with a long text is checked in slices, and what follows waits', async () => {
  const body = (count: number) => chunk({ content: 'a secret-1 '.repeat(count) })
  const after = chunk({ role: 'after' }) + chunk({ content: ' b secret-22' }) + chunk({ content: ' c' }) + DONE
  const one = await inTurns(body(2000) + after)
  const two = await inTurns(body(4000) + after)
  expect(one.wasBacked).toBe(true)
  expect(one.turns).toBeGreaterThan(2)
  expect(two.turns).toBeGreaterThan(1.5 * one.turns)
  expect(two.turns).toBeLessThan(2.5 * one.turns + 4)
  const events = one.text.split('\n').filter((line) => line.startsWith('data: {'))
  const deltas = events.map((line) => JSON.parse(line.slice(6)).choices[0].delta)
  expect(deltas[0].content).toBe('a <masked> '.repeat(2000))
  expect(deltas.slice(1)).toEqual([{ role: 'after' }, { content: ' b <masked>' }, { content: ' c' }])
  expect(one.text.endsWith(DONE)).toBe(true)
})

test.each<[type: keyof typeof DIALECTS, what: string, body: string]>([
  ['Messages', 'the next block', block(0, 'a secr') + block(1, 'et-12') + event('message_stop', {})],
  ['Messages', 'the same block again', block(0, 'a secr') + block(0, 'et-12') + event('message_stop', {})],
  ['Completions', 'another text of the choice', chunk({ reasoning: 'a secr' }) + chunk({ content: 'et-12' }) + DONE],
  ['Completions', 'another choice', chunk({ content: 'a secr' }) + chunk({ content: 'et-12' }, 1) + DONE],
])('each text of %s is checked alone, so a match that goes on in %s passes', (type, _, body) => {
  expect(run(body, { type, guards: [SECRET] }).text).toBe(body)
})

test('the end of a thought leaves when the content begins, and texts of one event stay open together', () => {
  const both = (text: string) => chunk({ reasoning: text, reasoning_details: [{ text }] })
  const body = both('a secr') + both('et-1 b') + chunk({ content: 'c' })
  const { text } = run(body, { guards: [SECRET], breaks: 'cancelled' })
  expect(text).toBe(both('a <masked>') + both(' b') + chunk({ content: 'c' }))
})

test('log probabilities of checked texts are removed', () => {
  const withTokens = (tokens: unknown) => {
    const choice = { index: 0, delta: { content: 'a ' }, logprobs: tokens }
    return `data: ${JSON.stringify({ id: 'c', choices: [choice] })}\n\n`
  }
  const body = withTokens({ content: [{ token: 'a ', logprob: -1 }] }) + DONE
  expect(run(body, {}).text).toBe(withTokens(null) + DONE)
  const at = { item_id: 'i', output_index: 0, content_index: 0, delta: 'a ' }
  const delta = (logprobs: readonly object[]) => event('response.output_text.delta', { ...at, logprobs })
  expect(run(delta([{ token: 'a ' }]), { type: 'Responses', breaks: 'cancelled' }).text).toBe(delta([]))
})
