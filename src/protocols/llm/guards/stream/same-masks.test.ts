import { describe, expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { seededRandom } from '#test/support/seeded-random.ts'
import { pass } from '../../testing.ts'
import type { RegexGuard } from '../guard.ts'
import { compileRules } from '../rules/compile-rules.ts'
import { BUILTIN_TEXTS, CHARS, PATTERNS } from '../rules/testing.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read JSON
type Any = any
type Json = Readonly<Record<string, unknown>>
const at = { item_id: 'i', output_index: 0, content_index: 0 }
const sse = (data: Json) => `${data.type === undefined ? '' : `event: ${data.type}\n`}data: ${JSON.stringify(data)}\n\n`

/** An answer of each dialect with one text: whole, and as events. */
const DIALECTS = {
  Completions: {
    whole: (content: string): Json => ({ choices: [{ index: 0, message: { role: 'assistant', content } }] }),
    delta: (content: string): Json => ({ choices: [{ index: 0, delta: { content } }] }),
    ends: () => [{ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }],
    read: (answer: Any) => answer.choices[0].message.content,
    readDelta: (event: Any) => event.choices[0].delta.content,
  },
  Messages: {
    whole: (text: string): Json => ({ type: 'message', role: 'assistant', content: [{ type: 'text', text }] }),
    delta: (text: string): Json => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    ends: () => [{ type: 'content_block_stop', index: 0 }, { type: 'message_stop' }],
    read: (answer: Any) => answer.content[0].text,
    readDelta: (event: Any) => event.delta?.text,
  },
  Responses: {
    whole: (text: string): Json => ({
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] }],
    }),
    delta: (delta: string): Json => ({ type: 'response.output_text.delta', ...at, delta }),
    ends: (text: string) => [{ type: 'response.output_text.done', ...at, text }],
    read: (answer: Any) => answer.output[0].content[0].text,
    readDelta: (event: Any) => event.delta,
  },
} as const

/** Another third of the patterns for each dialect, or all of them. */
function patternsFor(dialect: string): readonly string[] {
  const parts = sampleSize(3, 1)
  const part = (Object.keys(DIALECTS).indexOf(dialect) + 1) % parts
  return PATTERNS.filter((_, index) => index % parts === part)
}

type Spec = Parameters<typeof compileRules>[0]

const guardWith = (matches: readonly string[]) => guardOf({ matches: [...matches], builtins: ['Email'] })

function guardOf(spec: Spec): RegexGuard {
  const rules = compileRules(spec, (path, message) => {
    throw new Error(`${path}: ${message}`)
  })
  return { phase: 'response', index: 0, kind: 'regex', rules, rejects: false, refusal: reject('prompt-guard-rejected') }
}

test.each(Object.entries(DIALECTS))('a stream of %s is masked as the same text in one piece', (name, dialect) => {
  const random = seededRandom(name.length)
  const type = name as keyof typeof DIALECTS
  const patterns = patternsFor(name)
  let masked = 0
  for (const [index, pattern] of patterns.entries()) {
    const guards = [guardWith([pattern]), guardWith([pattern, patterns[(index * 7 + 3) % patterns.length]!])]
    for (let each = 0; each < 3; each++) {
      const text = Array.from({ length: 4 + random.below(24) }, () => random.pick(CHARS)).join('')
      // Also between the halves of a character.
      const deltas = ['', ...random.pieces(text, 4)]
      const whole = pass(JSON.stringify(dialect.whole(text)), { type, guards, contentType: 'application/json' })
      const expected = dialect.read(JSON.parse(whole.text))
      const events = [...deltas.map(dialect.delta), ...dialect.ends(text)].map(sse).join('')
      const cuts = Array.from({ length: 5 }, () => 1 + random.below(events.length >> 2))
      const stream = pass(events, { type, guards, cuts })
      const lines = stream.text.split('\n').filter((line) => line.startsWith('data: '))
      const received = lines.map((line) => JSON.parse(line.slice(6)))
      const shown = received.map((event) => dialect.readDelta(event) ?? '').join('')
      expect({ pattern, text, deltas, shown }).toEqual({ pattern, text, deltas, shown: expected })
      const repeated = received.filter((event) => event.type === 'response.output_text.done')
      for (const event of repeated) expect(event.text).toBe(expected)
      if (expected !== text) masked++
    }
  }
  expect(masked).toBeGreaterThan(patterns.length)
})

/** Each pattern, and each built-in rule, with a text that it masks, and that text masked. */
function maskedTexts(type: keyof typeof DIALECTS, random: ReturnType<typeof seededRandom>) {
  const masked = (spec: Spec, text: string) => {
    const guards = [guardOf(spec)]
    const { text: whole } = pass(wholeOf(type, text), { type, guards, contentType: 'application/json' })
    return { spec, guards, text, expected: readWhole(type, whole) }
  }
  const cases = patternsFor(type).map((pattern) => {
    for (;;) {
      const found = masked({ matches: [pattern] }, Array.from({ length: 8 }, () => random.pick(CHARS)).join(''))
      if (found.expected !== found.text) return found
    }
  })
  for (const [builtin, text] of BUILTIN_TEXTS) {
    const found = masked({ builtins: [builtin] }, text)
    expect(found.expected).not.toBe(text)
    cases.push(found)
  }
  return cases
}

const wholeOf = (type: keyof typeof DIALECTS, text: string) => JSON.stringify(DIALECTS[type].whole(text))

/** The text of a whole answer, as a client reads it. */
function readWhole(type: keyof typeof DIALECTS, answer: string): string {
  return DIALECTS[type].read(JSON.parse(answer))
}

/** The text of a stream, as a client reads it. */
function readStream(type: keyof typeof DIALECTS, events: string): string {
  const received = events.split('\n').filter((line) => line.startsWith('data: '))
  return received.map((line) => DIALECTS[type].readDelta(JSON.parse(line.slice(6))) ?? '').join('')
}

describe.each(Object.keys(DIALECTS) as (keyof typeof DIALECTS)[])('%s', (type) => {
  const dialect = DIALECTS[type]
  const eventsOf = (text: string, deltas: readonly string[]) =>
    [...deltas.map(dialect.delta), ...dialect.ends(text)].map(sse).join('')

  test('a stream is masked alike wherever a text is split', () => {
    const random = seededRandom(type.length)
    for (const { spec, guards, text, expected } of maskedTexts(type, random)) {
      for (let at = 0; at <= text.length; at++) {
        const deltas = [text.slice(0, at), text.slice(at)]
        const events = eventsOf(text, deltas)
        const stream = pass(events, { type, guards, cuts: [1 + random.below(events.length)] })
        const shown = readStream(type, stream.text)
        expect({ spec, deltas, shown }).toEqual({ spec, deltas, shown: expected })
      }
    }
  })

  test('streamed or not, an answer is masked alike wherever its bytes are split', () => {
    const random = seededRandom(type.length)
    // Another part of the positions for each text.
    const stride = sampleSize(29, 1)
    for (const [index, { spec, guards, text, expected }] of maskedTexts(type, random).entries()) {
      const half = random.below(text.length + 1)
      const events = Buffer.from(eventsOf(text, [text.slice(0, half), text.slice(half)]))
      for (let at = 1 + (index % stride); at < events.length; at += stride) {
        const shown = readStream(type, pass(events, { type, guards, cuts: [at] }).text)
        expect({ spec, text, at, shown }).toEqual({ spec, text, at, shown: expected })
      }
      const whole = Buffer.from(wholeOf(type, text))
      for (let at = 1 + (index % stride); at < whole.length; at += stride) {
        const answer = pass(whole, { type, guards, cuts: [at], contentType: 'application/json' })
        expect({ spec, text, at, shown: readWhole(type, answer.text) }).toEqual({ spec, text, at, shown: expected })
      }
    }
  })
})

/** Half of an object, a text that begins as one, or one with a mistake. */
function brokenFrom(random: ReturnType<typeof seededRandom>): string {
  const text = () => Array.from({ length: random.below(8) }, () => random.pick(CHARS)).join('')
  const json = [...JSON.stringify({ a: text(), b: [text(), 12], [`c${text()}`]: null })]
  const at = random.below(json.length)
  const broken = json.slice(0, at).join('') + (random.below(3) === 0 ? '' : text() + json.slice(at).join(''))
  return ' '.repeat(random.below(2)) + broken
}

const callWith = (given: string) => ({ tool_calls: [{ index: 0, function: { name: 'f', arguments: given } }] })

test('arguments that are no JSON are masked alike, streamed or not, or both are refused', () => {
  const random = seededRandom(7)
  const found = { refused: 0, masked: 0 }
  for (let each = 0; each < sampleSize(600, 20_000); each++) {
    const patterns = [random.pick(PATTERNS), random.pick(PATTERNS)]
    const guards = [guardOf({ matches: patterns })]
    const given = brokenFrom(random)
    const answer = JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', ...callWith(given) } }] })
    const whole = pass(answer, { type: 'Completions', guards, contentType: 'application/json' })
    const read = (text: string) => JSON.parse(text).choices[0].message.tool_calls[0].function.arguments
    const expected = whole.refusal === undefined ? read(whole.text) : 'refused'
    const pieces = random.below(8) === 0 ? [given] : random.pieces(given, 5)
    const events = pieces.map((piece) => ({ choices: [{ index: 0, delta: callWith(piece) }] }))
    const stream = pass([...events, ...DIALECTS.Completions.ends()].map(sse).join(''), { type: 'Completions', guards })
    const isEnded = stream.refusal !== undefined || stream.text.includes('guardrail_intervention')
    const lines = stream.text.split('\n').filter((line) => line.startsWith('data: '))
    const received = isEnded ? [] : lines.map((line) => JSON.parse(line.slice(6)).choices[0].delta)
    const passed = received.map((delta) => delta.tool_calls?.[0].function.arguments ?? '').join('')
    // A character that was cut is written as two escapes.
    const shown = isEnded ? 'refused' : passed.replaceAll('\\ud83d\\ude42', '🙂')
    expect({ patterns, given, pieces, shown }).toEqual({ patterns, given, pieces, shown: expected })
    if (expected === 'refused') found.refused++
    else if (expected !== given) found.masked++
  }
  expect(found.refused).toBeGreaterThan(20)
  expect(found.masked).toBeGreaterThan(100)
}, 600_000)
