import { describe, expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'
import { isJson } from '../../json/read-value.ts'
import { pass } from '../../testing.ts'
import type { RegexGuard } from '../guard.ts'
import { BUILTIN_TEXTS, CHARS, PATTERNS, sharedRules } from '../rules/testing.ts'

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

type Spec = Parameters<typeof sharedRules>[0]

const guardWith = (matches: readonly string[]) => guardOf({ matches: [...matches], builtins: ['Email'] })

function guardOf(spec: Spec): RegexGuard {
  const rules = sharedRules(spec)
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

const CALL_PATTERNS = [
  ...PATTERNS,
  ...['^ab', '^[\\[{ ]', '(?m)^1', '1+[^0-9]', '^"', ':', '[,}\\]]$', '\\\\u', '\\\\.', '/', 'u[0-9a-f]+'],
  ...['(?s)[a-c].{0,40}["\\\\]', '<masked', '(?s)a.*c'],
]

/** JSON as a provider writes it: with other escapes than `JSON.stringify`, spaces, and perhaps a name twice. */
function writtenFrom(random: SeededRandom): string {
  const text = () => Array.from({ length: random.below(8) }, () => random.pick(CHARS)).join('')
  const space = () => random.pick(['', '', ' ', '\n'])
  const written = (value: string) => {
    const escaped = JSON.stringify(value)
      .slice(1, -1)
      .replaceAll(/\\.|./gsu, (char) => {
        if (char === '/' && random.below(2) === 0) return '\\/'
        if (char.startsWith('\\') || random.below(char < '\x7f' ? 8 : 2) > 0) return char
        return char.replaceAll(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      })
    return `"${escaped}"`
  }
  const member = () => `${space()}${written(random.pick(['Q', 'Z', 'Q', `${text()}/`]))}${space()}:${value()}`
  const value = (): string => {
    const kind = random.below(6)
    if (kind === 0) return `${space()}[${value()},${space()}${random.pick(['12', '-1.5e2', 'null', 'true'])}${space()}]`
    if (kind === 1) return `{${member()}${space()}}`
    return kind === 2 ? random.pick(['1', '12', '311']) : written(`${text()}${random.pick(['', '/', '🙂é'])}`)
  }
  const members = Array.from({ length: 1 + random.below(3) }, member)
  return `${space()}${random.pick([`{${members.join(',')}}`, `[${value()},${value()}]`, written(text())])}${space()}`
}

/** Half of an object, a text that begins as one, or one with a mistake. */
function brokenFrom(random: SeededRandom): string {
  const text = () => Array.from({ length: random.below(8) }, () => random.pick(CHARS)).join('')
  const json = [...writtenFrom(random)]
  const at = random.below(json.length)
  const behind = json.slice(at + random.below(2)).join('')
  const mistake = random.pick(['', ',', ']', '}', ':', '"', '1', '-', '01', ' 1', '\\', '\\u00', '\n'])
  return json.slice(0, at).join('') + random.pick(['', mistake + behind, mistake + behind, text() + behind])
}

const CALLS = {
  arguments: (given: string) => ({ tool_calls: [{ index: 0, function: { name: 'f', arguments: given } }] }),
  input: (given: string) => ({ tool_calls: [{ index: 0, custom: { name: 'f', input: given } }] }),
}

/** The arguments that a client gets of a whole answer and of a stream; undefined: a guard has refused them. */
function checkCall(form: keyof typeof CALLS, given: string, pieces: readonly string[], guards: readonly RegexGuard[]) {
  const callOf = (holder: Any): Any => holder.tool_calls?.[0]
  const read = (holder: Any): string => callOf(holder)?.function?.arguments ?? callOf(holder)?.custom?.input ?? ''
  const message = { role: 'assistant', ...CALLS[form](given) }
  const answer = JSON.stringify({ choices: [{ index: 0, message }] })
  const checked = pass(answer, { type: 'Completions', guards, contentType: 'application/json' })
  const events = pieces.map((piece) => ({ choices: [{ index: 0, delta: CALLS[form](piece) }] }))
  const told = [...events, ...DIALECTS.Completions.ends()].map(sse).join('')
  const stream = pass(told, { type: 'Completions', guards })
  const isEnded = stream.refusal !== undefined || stream.text.includes('guardrail_intervention')
  const lines = stream.text.split('\n').filter((line) => line.startsWith('data: '))
  const streamed = () => lines.map((line) => read(JSON.parse(line.slice(6)).choices[0].delta)).join('')
  const recordOf = ({ exchange }: ReturnType<typeof pass>) =>
    exchange.guardChecks!.map(({ verdict, rule, placeholder }) => `${verdict} ${rule} ${placeholder}`).join()
  return {
    records: [recordOf(checked), recordOf(stream)] as const,
    whole: checked.refusal === undefined ? read(JSON.parse(checked.text).choices[0].message) : undefined,
    streamed: isEnded ? undefined : streamed(),
    isUntouched: stream.text === told && checked.text === answer,
  }
}

/** Guards with several patterns. */
function guardsFrom(random: SeededRandom): readonly RegexGuard[] {
  const matches = () => Array.from({ length: 1 + random.below(3) }, () => random.pick(CALL_PATTERNS))
  return Array.from({ length: 1 + random.below(2) }, () => guardOf({ matches: matches() }))
}

test.each(['arguments', 'input'] as const)(
  '%s that are no JSON are masked as one text, streamed or not',
  (form) => {
    const random = seededRandom(form.length)
    let masked = 0
    for (let each = 0; each < sampleSize(400, 8000); each++) {
      const guards = guardsFrom(random)
      const given = brokenFrom(random)
      if (isJson(given)) continue
      for (const pieces of [[given], random.pieces(given, 5)]) {
        const { whole, streamed, isUntouched, records } = checkCall(form, given, pieces, guards)
        const fail = (what: string) => {
          throw new Error(`${what}: ${JSON.stringify({ each, given, pieces, whole, streamed, records })}`)
        }
        if (whole !== streamed) fail('other masks')
        // The name of the call has a record of its own.
        if (!records[1].startsWith(records[0])) fail('other rules')
        if (whole === undefined) fail('refused')
        if (whole !== given) masked++
        else if (!isUntouched) fail('other bytes')
      }
    }
    expect(masked).toBeGreaterThan(100)
  },
  600_000,
)

/** The strings of a JSON text as they are written. */
const writtenStrings = (json: string) => json.match(/"(?:[^"\\]|\\.)*"/g) ?? []

test.each(['arguments', 'input'] as const)(
  '%s are masked string by string, and what does not match keeps its bytes',
  (form) => {
    const random = seededRandom(form.length)
    const found = { refused: 0, masked: 0, untouched: 0 }
    for (let each = 0; each < sampleSize(600, 8000); each++) {
      const patterns = [random.pick(CALL_PATTERNS), random.pick(CALL_PATTERNS)]
      const given = writtenFrom(random)
      const pieces = random.below(8) === 0 ? [given] : random.pieces(given, 5)
      const { whole, streamed, isUntouched } = checkCall(form, given, pieces, [guardOf({ matches: patterns })])
      const fail = (what: string) => {
        throw new Error(`${what}: ${JSON.stringify({ patterns, given, pieces, whole, streamed })}`)
      }
      if (whole === undefined || streamed === undefined) {
        if (whole !== streamed) fail('only one is refused')
        found.refused++
        continue
      }
      if (!isUntouched) found.masked++
      else found.untouched++
      if (whole === given && !isUntouched) fail('other bytes')
      const [before, masked, masks] = [writtenStrings(given), writtenStrings(whole), writtenStrings(streamed)]
      if (masked.length !== before.length || masks.length !== before.length) fail('other strings')
      for (const [at, string] of before.entries()) {
        if (JSON.parse(masked[at]!) !== JSON.parse(masks[at]!)) fail('other masks')
        // A string without a match.
        if (JSON.parse(masked[at]!) !== JSON.parse(string)) continue
        if (masked[at] !== string || masks[at] !== string) fail('other bytes')
      }
    }
    for (const count of Object.values(found)) expect(count).toBeGreaterThan(20)
  },
  600_000,
)
