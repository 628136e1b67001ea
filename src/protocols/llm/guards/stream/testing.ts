import { expect } from 'vitest'
import type { SeededRandom } from '#test/support/seeded-random.ts'
import type { ChatType } from '../../dialects/index.ts'
import { isJson as isJsonText } from '../../json/read-value.ts'
import { CHARS } from '../rules/testing.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read JSON
export type Any = any
export type Event = Readonly<Record<string, unknown>>
/** Texts by what they are. */
export type Texts = Map<string, string>

/** An answer: whole, as the events of a stream, and its texts before the guards. */
export interface Answer {
  readonly whole: unknown
  readonly events: readonly Event[]
}

export interface Dialect {
  readonly answer: (random: SeededRandom) => Answer
  /** The texts of a whole answer. */
  readonly read: (answer: Any) => Texts
  /** The pieces of texts in an event, and texts that it repeats. */
  readonly readEvent: (event: Any) => { readonly pieces?: Texts; readonly repeated?: Texts }
}

export function textFrom(random: SeededRandom): string {
  const length = random.below(20) === 0 ? 300 : 7
  return Array.from({ length: random.below(length) }, () => random.pick(CHARS)).join('')
}

export const argumentsFrom = (random: SeededRandom) => JSON.stringify({ Q: textFrom(random), Z: [textFrom(random), 1] })

/** Arguments, at times cut off, with a mistake, or with a name twice. */
function writtenFrom(random: SeededRandom): string {
  const json = argumentsFrom(random)
  const chars = [...json]
  const at = random.below(chars.length)
  const mistake = random.pick([',', ']', ':', '{311', '12-3', '"', ',"Q":"ab"'])
  const [before, behind] = [chars.slice(0, at).join(''), chars.slice(at).join('')]
  return random.pick([json, json, json, before, before + mistake + behind])
}

const textsOf = (entries: readonly (readonly [string, unknown])[]): Texts =>
  new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))

/** Lists become one; each stays in its order. */
export function interleave<T>(random: SeededRandom, lists: readonly (readonly T[])[]): T[] {
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
      const calls = Array.from({ length: random.below(3) }, () => writtenFrom(random))
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
      const events = [
        chunk({ role: 'assistant', content: '' }),
        // A text ends when another one of the choice begins.
        ...written.flat(),
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

export const MESSAGES: Dialect = {
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
  refusal: 'refusal C',
  reasoning_text: 'content C',
  reasoning_summary_text: 'summary S',
  function_call_arguments: 'arguments',
  code_interpreter_call_code: 'code',
}

function itemTexts(index: number, item: Any): Texts {
  const parts = (name: string) =>
    (item[name] ?? []).map((part: Any, at: number) => {
      const kind = part.refusal === undefined ? name : 'refusal'
      return [`${index} ${kind} ${at}`, part.text ?? part.refusal] as const
    })
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
      const given = writtenFrom(random)
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

export const DIALECTS: Readonly<Record<ChatType, Dialect>> = {
  Completions: COMPLETIONS,
  Messages: MESSAGES,
  Responses: RESPONSES,
}

export const sse = (data: Event) =>
  `${data.type === undefined ? '' : `event: ${data.type}\n`}data: ${JSON.stringify(data)}\n\n`

/** What a client reads of a stream. */
export function readStream({ readEvent }: Dialect, stream: string) {
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

export const isJson = (key: string) => / (?:arguments|input)/.test(key)

/** A translation may write JSON otherwise. */
const shownText = (key: string, text: string) =>
  isJson(key) && isJsonText(text) ? JSON.stringify(JSON.parse(text)) : text

export const shown = (texts: Texts) =>
  [...texts]
    .filter(([, text]) => text !== '')
    .map(([key, text]) => `${key}: ${shownText(key, text)}`)
    .sort()
    .join('\n')

/** Whether a text is the beginning of a masked one, up to a match of which a part has left. Only placeholders have angle brackets. */
export function isBeginning(text: string, masked: string): boolean {
  let common = 0
  while (common < text.length && text[common] === masked[common]) common++
  const before = masked.slice(0, common)
  const isInside = before.split('<').length > before.split('>').length
  return common === text.length || isInside || masked[common] === '<' || text[common] === '<' || before.endsWith('>')
}
