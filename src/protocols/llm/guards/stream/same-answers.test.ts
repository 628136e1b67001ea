import { expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import { inOneTurn } from '#test/support/in-one-turn.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'
import { translated } from '#test/support/translated-exchange.ts'
import { pass } from '../../testing.ts'
import type { RegexGuard } from '../guard.ts'
import type { GuardedFormat } from '../guarded-format.ts'
import { compileRules } from '../rules/compile-rules.ts'
import { CHARS, PATTERNS } from '../rules/testing.ts'
import type { TextRule } from '../rules/text-rule.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read JSON
type Any = any
type Event = Readonly<Record<string, unknown>>
/** Texts by what they are. */
type Texts = Map<string, string>

/** An answer: whole, as the events of a stream, and its texts before the guards. */
interface Answer {
  readonly whole: unknown
  readonly events: readonly Event[]
}

interface Dialect {
  readonly answer: (random: SeededRandom) => Answer
  /** The texts of a whole answer. */
  readonly read: (answer: Any) => Texts
  /** The pieces of texts in an event, and texts that it repeats. */
  readonly readEvent: (event: Any) => { readonly pieces?: Texts; readonly repeated?: Texts }
}

const BUILTINS = ['Ssn', 'Email', 'CreditCard', 'PhoneNumber', 'CaSin'] as const

/** Each pattern and each built-in rule, compiled once. */
const RULES = [
  ...PATTERNS.map((pattern) => ({ about: pattern, rule: compiled({ matches: [pattern] }) })),
  ...BUILTINS.map((builtin) => ({ about: builtin, rule: compiled({ builtins: [builtin] }) })),
]

function compiled(spec: Parameters<typeof compileRules>[0]): TextRule {
  const [rule] = compileRules(spec, (_, message) => {
    throw new Error(message)
  })
  return rule!
}

function guardFrom(random: SeededRandom, index: number): { about: readonly string[]; guard: RegexGuard } {
  const picked = Array.from({ length: 1 + random.below(3) }, () => random.pick(RULES))
  const rules = picked.map(({ rule }) => rule)
  const refusal = reject('prompt-guard-rejected')
  const guard = { phase: 'response', index, kind: 'regex', rules, rejects: false, refusal } as const
  return { about: picked.map(({ about }) => about), guard }
}

function textFrom(random: SeededRandom): string {
  const length = random.below(20) === 0 ? 300 : 7
  return Array.from({ length: random.below(length) }, () => random.pick(CHARS)).join('')
}

const argumentsFrom = (random: SeededRandom) => JSON.stringify({ Q: textFrom(random), Z: [textFrom(random), 1] })

const textsOf = (entries: readonly (readonly [string, unknown])[]): Texts =>
  new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))

/** Lists become one; each stays in its order. */
function interleave<T>(random: SeededRandom, lists: readonly (readonly T[])[]): T[] {
  const left = lists.map((list) => [...list]).filter(({ length }) => length > 0)
  const all: T[] = []
  while (left.length > 0) {
    const list = random.pick(left)
    all.push(list.shift()!)
    if (list.length === 0) left.splice(left.indexOf(list), 1)
  }
  return all
}

function shuffled<T>(random: SeededRandom, list: readonly T[]): T[] {
  return interleave(
    random,
    list.map((one) => [one]),
  )
}

const MEMBERS = ['reasoning_content', 'reasoning', 'content', 'refusal'] as const

const COMPLETIONS: Dialect = {
  answer(random) {
    const choices = Array.from({ length: 1 + random.below(2) }, (_, index) => {
      const members = MEMBERS.filter((name) => random.below(name === 'content' ? 8 : 3) === 0 || name === 'content')
      const texts = members.map((name) => [name, textFrom(random)] as const)
      const calls = Array.from({ length: random.below(3) }, () => argumentsFrom(random))
      const called = calls.map((given, at) => ({
        id: `c${at}`,
        type: 'function',
        function: { name: 'f', arguments: given },
      }))
      const message = Object.fromEntries([
        ['role', 'assistant'],
        ...shuffled(random, texts),
        ...(called.length > 0 ? [['tool_calls', called]] : []),
      ])
      const chunk = (delta: unknown, finish_reason: string | null = null) => ({
        choices: [{ index, delta, finish_reason }],
      })
      const written = texts.map(([name, text]) => random.pieces(text, 4).map((piece) => chunk({ [name]: piece })))
      const calling = calls.map((given, at) => [
        chunk({ tool_calls: [{ index: at, id: `c${at}`, type: 'function', function: { name: 'f', arguments: '' } }] }),
        ...random
          .pieces(given, 5)
          .map((piece) => chunk({ tool_calls: [{ index: at, function: { arguments: piece } }] })),
      ])
      const told = random.below(4) === 0 ? interleave(random, written) : written.flat()
      const events = [
        chunk({ role: 'assistant', content: '' }),
        ...told,
        ...(random.below(2) === 0 ? interleave(random, calling) : calling.flat()),
        chunk({}, 'stop'),
      ]
      return { whole: { index, message, finish_reason: 'stop' }, events }
    })
    return {
      whole: { object: 'chat.completion', choices: choices.map(({ whole }) => whole) },
      events: interleave(
        random,
        choices.map(({ events }) => events),
      ),
    }
  },
  read: ({ choices }) => new Map(choices.flatMap((choice: Any) => [...completionsTexts(choice.index, choice.message)])),
  readEvent: ({ choices }) => ({
    pieces: new Map(choices.flatMap((choice: Any) => [...completionsTexts(choice.index, choice.delta)])),
  }),
}

function completionsTexts(choice: number, message: Any): Texts {
  const calls = (message.tool_calls ?? []).map((call: Any, at: number) => [
    `${choice} arguments ${call.index ?? at}`,
    call.function.arguments,
  ])
  return textsOf([...MEMBERS.map((name) => [`${choice} ${name}`, message[name]] as const), ...calls])
}

const MESSAGES: Dialect = {
  answer(random) {
    const blocks = Array.from({ length: 1 + random.below(5) }, (_, index) => {
      const start = (content_block: unknown) => ({ type: 'content_block_start', index, content_block })
      const delta = (of: unknown) => ({ type: 'content_block_delta', index, delta: of })
      const stop = { type: 'content_block_stop', index }
      switch (random.below(8)) {
        case 0: {
          const thinking = textFrom(random)
          const signature = 'c2lnbmVk'
          const begun = start({ type: 'thinking', thinking: '', signature: '' })
          const pieces = random.pieces(thinking, 4).map((piece) => delta({ type: 'thinking_delta', thinking: piece }))
          return {
            whole: { type: 'thinking', thinking, signature },
            events: [begun, ...pieces, delta({ type: 'signature_delta', signature }), stop],
          }
        }
        case 1: {
          const input = argumentsFrom(random)
          const call = { type: 'tool_use', id: 't', name: 'f' }
          const pieces = random
            .pieces(input, 5)
            .map((piece) => delta({ type: 'input_json_delta', partial_json: piece }))
          return {
            whole: { ...call, input: JSON.parse(input) },
            events: [start({ ...call, input: {} }), ...pieces, stop],
          }
        }
        case 2: {
          const content = {
            type: 'bash_code_execution_result',
            stdout: textFrom(random),
            stderr: textFrom(random),
            return_code: 0,
          }
          const whole = { type: 'bash_code_execution_tool_result', tool_use_id: 't', content }
          return { whole, events: [start(whole), stop] }
        }
        default: {
          const text = textFrom(random)
          const pieces = random.pieces(text, 4).map((piece) => delta({ type: 'text_delta', text: piece }))
          return { whole: { type: 'text', text }, events: [start({ type: 'text', text: '' }), ...pieces, stop] }
        }
      }
    })
    const message = { id: 'm', type: 'message', role: 'assistant', content: [] as unknown[] }
    return {
      whole: { ...message, content: blocks.map(({ whole }) => whole) },
      events: [
        { type: 'message_start', message },
        ...blocks.flatMap(({ events }) => events),
        { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
        { type: 'message_stop' },
      ],
    }
  },
  read: ({ content }) => new Map(content.flatMap((block: Any, at: number) => [...messagesTexts(at, block)])),
  readEvent(event) {
    if (event.type === 'content_block_start') return { pieces: messagesTexts(event.index, event.content_block) }
    if (event.type !== 'content_block_delta') return {}
    const { text, thinking, partial_json: input } = event.delta
    return {
      pieces: textsOf([
        [`${event.index} text`, text],
        [`${event.index} thinking`, thinking],
        [`${event.index} input`, input],
      ]),
    }
  },
}

function messagesTexts(index: number, { text, thinking, input, content }: Any): Texts {
  const given = input === undefined || Object.keys(input).length === 0 ? undefined : JSON.stringify(input)
  return textsOf([
    [`${index} text`, text],
    [`${index} thinking`, thinking],
    [`${index} input`, given],
    [`${index} stdout`, content?.stdout],
    [`${index} stderr`, content?.stderr],
  ])
}

const RESPONSES: Dialect = {
  answer(random) {
    const items = Array.from({ length: 1 + random.below(4) }, (_, output_index) => itemFrom(random, output_index))
    const output = items.map(({ whole }) => whole)
    const events = [
      { type: 'response.created', response: { id: 'r', output: [] } },
      ...items.flatMap(({ events: told }) => told),
      { type: 'response.completed', response: { id: 'r', output } },
    ]
    return { whole: { id: 'r', object: 'response', output }, events }
  },
  read: ({ output }) => new Map(output.flatMap((item: Any, at: number) => [...itemTexts(at, item)])),
  readEvent(event) {
    const { type, output_index: index, content_index, summary_index } = event
    if (type === 'response.completed') return { repeated: RESPONSES.read(event.response) }
    if (type === 'response.output_item.done') return { repeated: itemTexts(index, event.item) }
    const [, subject, step] = /^response\.(\w+)\.(\w+)$/.exec(type) ?? []
    const place = SUBJECTS[subject!]?.replace('C', content_index).replace('S', summary_index)
    if (place === undefined) return {}
    const text = event.delta ?? event.text ?? event.refusal ?? event.arguments ?? event.code
    const texts = textsOf([[`${index} ${place}`, text]])
    return step === 'delta' ? { pieces: texts } : { repeated: texts }
  },
}

const SUBJECTS: Readonly<Record<string, string>> = {
  output_text: 'content C',
  refusal: 'content C',
  reasoning_text: 'content C',
  reasoning_summary_text: 'summary S',
  function_call_arguments: 'arguments',
  code_interpreter_call_code: 'code',
}

function itemTexts(index: number, item: Any): Texts {
  const parts = (name: string) =>
    (item[name] ?? []).map((part: Any, at: number) => [`${index} ${name} ${at}`, part.text ?? part.refusal] as const)
  return textsOf([
    ...parts('content'),
    ...parts('summary'),
    [`${index} arguments`, item.arguments],
    [`${index} code`, item.code],
    [`${index} output`, item.output],
  ])
}

function itemFrom(random: SeededRandom, output_index: number): { whole: Any; events: Event[] } {
  const at = { output_index, item_id: 'i' }
  const told = (whole: Any, begun: Any, events: readonly Event[]) => ({
    whole,
    events: [
      { type: 'response.output_item.added', ...at, item: begun },
      ...events,
      { type: 'response.output_item.done', ...at, item: whole },
    ],
  })
  /** The events of a text. */
  const written = (subject: string, member: string, text: string, more: Event = {}) => [
    ...random.pieces(text, 4).map((delta) => ({ type: `response.${subject}.delta`, ...at, ...more, delta })),
    { type: `response.${subject}.done`, ...at, ...more, [member]: text },
  ]
  const parts = (list: readonly Any[], kind: 'content' | 'summary') =>
    list.flatMap((part, index) => {
      const place = { [`${kind}_index`]: index }
      const member = part.refusal === undefined ? 'text' : 'refusal'
      const subject = {
        output_text: 'output_text',
        refusal: 'refusal',
        reasoning_text: 'reasoning_text',
        summary_text: 'reasoning_summary_text',
      }[part.type as string]!
      const name = kind === 'content' ? 'content_part' : 'reasoning_summary_part'
      return [
        { type: `response.${name}.added`, ...at, ...place, part: { ...part, [member]: '' } },
        ...written(subject, member, part[member], place),
        { type: `response.${name}.done`, ...at, ...place, part },
      ]
    })
  switch (random.below(7)) {
    case 0: {
      const summary = Array.from({ length: random.below(3) }, () => ({ type: 'summary_text', text: textFrom(random) }))
      const content = Array.from({ length: random.below(2) }, () => ({
        type: 'reasoning_text',
        text: textFrom(random),
      }))
      const events = [parts(summary, 'summary'), parts(content, 'content')]
      const whole = {
        id: 'i',
        type: 'reasoning',
        ...Object.fromEntries(shuffled(random, Object.entries({ summary, content }))),
      }
      return told(whole, { id: 'i', type: 'reasoning', summary: [] }, shuffled(random, events).flat())
    }
    case 1: {
      const given = argumentsFrom(random)
      const item = { id: 'i', type: 'function_call', call_id: 'c', name: 'f' }
      return told(
        { ...item, arguments: given },
        { ...item, arguments: '' },
        written('function_call_arguments', 'arguments', given),
      )
    }
    case 2: {
      const code = textFrom(random)
      const item = { id: 'i', type: 'code_interpreter_call', container_id: 'c' }
      return told(
        { ...item, code, outputs: [] },
        { ...item, code: '', outputs: [] },
        written('code_interpreter_call_code', 'code', code),
      )
    }
    case 3: {
      const item = { id: 'i', type: 'mcp_call', name: 'f', server_label: 's', arguments: '{}' }
      return told({ ...item, output: textFrom(random) }, item, [])
    }
    default: {
      const content = Array.from({ length: 1 + random.below(2) }, () =>
        random.below(5) === 0
          ? { type: 'refusal', refusal: textFrom(random) }
          : { type: 'output_text', text: textFrom(random), annotations: [] },
      )
      const item = { id: 'i', type: 'message', role: 'assistant' }
      return told({ ...item, content }, { ...item, content: [] }, parts(content, 'content'))
    }
  }
}

const DIALECTS: Readonly<Record<GuardedFormat, Dialect>> = {
  Completions: COMPLETIONS,
  Messages: MESSAGES,
  Responses: RESPONSES,
}

const sse = (data: Event) =>
  `${data.type === undefined ? '' : `event: ${data.type}\n`}data: ${JSON.stringify(data)}\n\n`

/** What a client reads of a stream. */
function readStream({ readEvent }: Dialect, stream: string) {
  const texts: Texts = new Map()
  let hasError = false
  for (const line of stream.split('\n')) {
    if (!line.startsWith('data: ') || line === 'data: [DONE]') continue
    const event = JSON.parse(line.slice(6))
    if (event.error !== undefined || event.type === 'error') {
      hasError = true
      break
    }
    const { pieces, repeated } = readEvent(event)
    for (const [key, text] of pieces ?? []) texts.set(key, (texts.get(key) ?? '') + text)
    for (const [key, text] of repeated ?? []) {
      if (!texts.has(key)) texts.set(key, text)
      else expect({ key, text }).toEqual({ key, text: texts.get(key) })
    }
  }
  return { texts, hasError }
}

const isJson = (key: string) => / (?:arguments|input)/.test(key)
const shownText = (key: string, text: string) => (isJson(key) ? JSON.stringify(JSON.parse(text)) : text)
const shown = (texts: Texts) =>
  [...texts]
    .filter(([, text]) => text !== '')
    .map(([key, text]) => `${key}: ${shownText(key, text)}`)
    .sort()
    .join('\n')

/** Whether a text is the beginning of a masked one, up to a match of which a part has left. Only placeholders have angle brackets. */
function isBeginning(text: string, masked: string): boolean {
  let common = 0
  while (common < text.length && text[common] === masked[common]) common++
  const before = masked.slice(0, common)
  const isInside = before.split('<').length > before.split('>').length
  return common === text.length || isInside || masked[common] === '<' || text[common] === '<' || before.endsWith('>')
}

test.each(Object.entries(DIALECTS))(
  'a streamed answer of %s is masked as the whole one, or a guard ends it',
  (name, dialect) => {
    const random = seededRandom(name.length)
    const type = name as GuardedFormat
    const found = { ended: 0, masked: 0, refused: 0 }
    const count = sampleSize(300, 5000)
    for (let each = 0; each < count; each++) {
      const guarding = Array.from({ length: 1 + random.below(3) }, (_, index) => guardFrom(random, index))
      const guards = guarding.map(({ guard }) => guard)
      const { whole, events } = dialect.answer(random)
      const bytes = events.map(sse).join('')
      const checked = pass(JSON.stringify(whole), { type, guards, contentType: 'application/json' })
      const cuts = Array.from({ length: 4 }, () => 1 + random.below(bytes.length))
      const stream = pass(bytes, { type, guards, cuts })
      const { texts, hasError } = readStream(dialect, stream.text)
      const isEnded = hasError || stream.refusal !== undefined
      const patterns = guarding.map(({ about }) => about)
      const fail = (what: string) => {
        const got = { checked: checked.text, texts: [...texts], isEnded }
        throw new Error(`${what}: ${JSON.stringify({ each, patterns, whole, events, got })}`)
      }
      if (checked.refusal !== undefined) {
        found.refused++
        if (!isEnded) fail('only the whole answer is refused')
        continue
      }
      const expected = dialect.read(JSON.parse(checked.text))
      const original = dialect.read(whole)
      if (!isEnded) {
        if (shown(texts) !== shown(expected)) fail('other masks')
        if (shown(expected) !== shown(original)) found.masked++
        continue
      }
      found.ended++
      for (const [key, text] of texts) {
        if (!isJson(key) && !isBeginning(text, expected.get(key) ?? '')) fail(`more has left of ${key}`)
      }
    }
    for (const kind of Object.values(found)) expect(kind).toBeGreaterThan(0)
  },
)

/** The text that a client of chat completions gets of an answer of the Messages API. */
function translatedAnswer(body: unknown, stream: boolean, response: GuardSpecs) {
  const setup = { provider: { providerFour: {} }, ai: { promptGuard: { response } } }
  const request = { model: 'm', stream, messages: [{ role: 'user', content: 'q' }] }
  const isStream = typeof body === 'string'
  const headers = { 'content-type': isStream ? 'text/event-stream' : 'application/json' }
  const { status, text } = inOneTurn(() => translated(request, setup, { headers, body }))
  return { text, isRefused: status !== 200 }
}

type GuardSpecs = { regex: { action: 'Mask'; matches: string[] } }[]

test('a translated answer is masked alike, streamed or not, whatever the provider sends', () => {
  const random = seededRandom(3)
  const found = { ended: 0, masked: 0, refused: 0 }
  const count = sampleSize(100, 2000)
  for (let each = 0; each < count; each++) {
    const guards = Array.from({ length: 1 + random.below(2) }, () => ({
      regex: {
        action: 'Mask' as const,
        matches: Array.from({ length: 1 + random.below(2) }, () => random.pick(PATTERNS)),
      },
    }))
    const { whole, events } = MESSAGES.answer(random)
    const usage = { input_tokens: 1, output_tokens: 1 }
    const answer = { ...(whole as object), model: 'm', stop_reason: 'end_turn', usage }
    const told = events
      .map((event) =>
        sse(
          event.type === 'message_start'
            ? { ...event, message: { ...(event.message as object), model: 'm', usage } }
            : event,
        ),
      )
      .join('')
    const checked = translatedAnswer(answer, false, guards)
    const unguarded = translatedAnswer(answer, false, [{ regex: { action: 'Mask', matches: ['\\x{10FFFF}'] } }])
    for (const [way, body, stream] of [
      ['whole, as a stream', answer, true],
      ['a stream', told, true],
      ['a stream, whole', told, false],
    ] as const) {
      const other = translatedAnswer(body, stream, guards)
      const got = stream
        ? readStream(COMPLETIONS, other.text)
        : { texts: other.isRefused ? new Map() : COMPLETIONS.read(JSON.parse(other.text)), hasError: false }
      const isEnded = other.isRefused || got.hasError
      const fail = (what: string) => {
        throw new Error(`${what}, ${way}: ${JSON.stringify({ each, guards, answer, checked, other })}`)
      }
      // The limit of bodies is 1,000 bytes here.
      const isLong = JSON.stringify(answer).length > 450 || (!stream && told.length > 900)
      if (isLong && (other.isRefused || checked.isRefused)) continue
      if (checked.isRefused) {
        found.refused++
        if (!isEnded) fail('only the whole answer is refused')
        continue
      }
      const expected = COMPLETIONS.read(JSON.parse(checked.text))
      if (isEnded) {
        found.ended++
        if (!stream) fail('only one way is refused')
        for (const [key, text] of got.texts) {
          if (!isJson(key) && !isBeginning(text, expected.get(key) ?? '')) fail(`more has left of ${key}`)
        }
      } else if (shown(got.texts) !== shown(expected)) fail('other masks')
      else if (shown(expected) !== shown(COMPLETIONS.read(JSON.parse(unguarded.text)))) found.masked++
    }
  }
  expect(found.masked).toBeGreaterThan(count / 10)
}, 600_000)
