import { expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import { type Answer, pass } from '../../testing.ts'
import type { RegexGuard } from '../guard.ts'
import { compileRules } from '../rules/compile-rules.ts'

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

test('a stream that would hold too much is refused', () => {
  const guards = [guard({ matches: ['a[^z]{0,1000}z'] })]
  // An event each that stays open, because its last letter could begin a match.
  const body = chunk({ content: 'a' }) + chunk({ role: 'assistant', extra: 'y'.repeat(40_000) }).repeat(3)
  const { text } = run(body, { guards })
  expect(text).toContain('guardrail_intervention')
  expect(text).not.toContain('yyy')
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
