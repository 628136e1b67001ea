import {
  type Collected,
  EVENT_OVERHEAD,
  type FormChange,
  NO_JSON,
  parsedOrNone,
  type StreamCollector,
  TOO_LARGE,
} from '../answer/form-change.ts'
import { isObject, type JsonMembers, membersIn, mergeMembers, setMember } from '../answer/merge-members.ts'
import type { JsonValue } from '../json/json-document.ts'
import { decodeText } from '../json/native.ts'
import { inPieces, keyText, membersOf, textOf, withMembers } from '../json/one-line-json.ts'
import { countAt, elementsOf, memberOf, objectAt } from '../json/read-value.ts'
import { encode } from '../json/splice.ts'
import { CallNumbers } from './call-numbers.ts'

/**
 * The two forms of chat completions. All choices, probabilities of tokens, and members that the gateway does not know are in both; a stream has
 * those of the whole answer in its first chunk, and those of a choice in its last one.
 */
export const completionsForms: FormChange = {
  faultOf(answer) {
    const choices = answer.get('choices')?.children()
    const first = choices?.isObject === false ? choices.next() : undefined
    if (first === undefined) return 'the response has no choice'
    return first.get('message')?.kind === 'object' ? undefined : 'the choice has no message'
  },
  writeStream,
  collector: (hasRoom) => new ChunkCollector(hasRoom),
}

type Pieces = Generator<string | Uint8Array>

/** Members of every chunk, if the answer has them. */
const HEAD = ['id', 'created', 'model', 'service_tier', 'system_fingerprint']

/** Writes chunks: the members before and after the choice of each one. */
class Chunks {
  /** Everything but the choices, for the first chunk. */
  #all: string | undefined
  readonly #head: string
  readonly #end: string

  constructor(answer: JsonValue, includesUsage: boolean) {
    const type = '"chat.completion.chunk"'
    const all = membersOf(answer, { object: undefined, choices: undefined, usage: undefined })
    this.#all = [...(all === '' ? [] : [all]), `"object":${type}`].join(',')
    const head = HEAD.map((name) => [name, answer.get(name)] as const).filter(([, value]) => value !== undefined)
    const members = head.map(([name, value]) => `"${name}":${textOf(value)}`)
    this.#head = [...members, `"object":${type}`].join(',')
    this.#end = includesUsage ? '],"usage":null}\n\n' : ']}\n\n'
  }

  /** @param choice JSON text, and values in it */
  of(...choice: readonly (string | JsonValue)[]): Pieces {
    const around = this.#all ?? this.#head
    this.#all = undefined
    return inPieces([`data: {${around},"choices":[`, ...choice, this.#end])
  }

  usage(usage: JsonValue): Pieces {
    return inPieces([`data: {${this.#head},"choices":[],"usage":`, usage, '}\n\n'])
  }
}

function* writeStream(answer: JsonValue, includesUsage: boolean): Pieces {
  const chunks = new Chunks(answer, includesUsage)
  const choices = answer.get('choices')!.children()
  for (let choice = choices.next(); choice !== undefined; choice = choices.next()) {
    yield* writeChoice(choice, choice.get('index')?.count ?? choices.index, chunks)
  }
  const usage = answer.get('usage')
  // It is removed again if the client did not ask for it.
  if (usage !== undefined) yield* chunks.usage(usage)
  yield 'data: [DONE]\n\n'
}

/** Members of a message that have deltas of their own form. */
const OWN: ReadonlySet<string> = new Set(['role', 'content', 'refusal', 'tool_calls', 'function_call'])

function* writeChoice(choice: JsonValue, index: number, chunks: Chunks): Pieces {
  const message = choice.get('message')
  const [content, refusal] = [message?.get('content'), message?.get('refusal')]
  let probabilities = choice.get('logprobs')
  const delta = (...members: readonly (string | JsonValue)[]): Pieces => {
    const found = probabilities
    probabilities = undefined
    const rest = ['},"logprobs":', found ?? 'null', ',"finish_reason":null}']
    return chunks.of(`{"index":${index},"delta":{`, ...members, ...rest)
  }
  const withoutProbabilities = (...members: readonly (string | JsonValue)[]) =>
    chunks.of(`{"index":${index},"delta":{`, ...members, '},"logprobs":null,"finish_reason":null}')
  const role = textOf(message?.get('role')) || '"assistant"'
  yield* withoutProbabilities(`"role":${role},"content":${content?.kind === 'string' ? '""' : 'null'},"refusal":null`)
  // Thoughts, which other vendors have added, come first.
  yield* writeOthers(message, (value) => value.kind === 'string', withoutProbabilities)
  if (content !== undefined) yield* delta('"content":', content)
  if (refusal !== undefined) yield* delta('"refusal":', refusal)
  yield* writeOthers(message, (value) => value.kind !== 'string' && value.kind !== 'null', withoutProbabilities)
  const calls = message?.get('tool_calls')?.children()
  for (let call = calls?.next(); call !== undefined; call = calls?.next()) {
    yield* writeCall(call, calls!.index, withoutProbabilities)
  }
  const called = message?.get('function_call')
  if (called !== undefined) {
    yield* withoutProbabilities(`"function_call":${withMembers(called, { arguments: '""' })}`)
    const args = called.get('arguments')
    if (args !== undefined) yield* withoutProbabilities('"function_call":{"arguments":', args, '}')
  }
  const last = { index: undefined, message: undefined, logprobs: undefined, finish_reason: undefined }
  const others = membersOf(choice, last)
  const reason = textOf(choice.get('finish_reason')) || '"stop"'
  const end: readonly (string | JsonValue)[] = [`,"finish_reason":${reason}`, others === '' ? '' : `,${others}`, '}']
  yield* chunks.of(`{"index":${index},"delta":{},"logprobs":`, probabilities ?? 'null', ...end)
}

type WriteDelta = (...members: readonly (string | JsonValue)[]) => Pieces

function* writeOthers(
  message: JsonValue | undefined,
  isWanted: (value: JsonValue) => boolean,
  write: WriteDelta,
): Pieces {
  const members = message?.kind === 'object' ? message.children() : undefined
  for (let value = members?.next(); value !== undefined; value = members?.next()) {
    const { name } = members!
    if (!OWN.has(name) && isWanted(value)) yield* write(`${keyText(message!, members!)}:`, value)
  }
}

/** The member of a call whose texts come in pieces. */
const CALLED = { function: 'arguments', custom: 'input' } as const

function* writeCall(call: JsonValue, index: number, write: WriteDelta): Pieces {
  const kind = call.get('custom') === undefined ? 'function' : 'custom'
  const member = CALLED[kind]
  const called = call.get(kind)
  const begun = called && withMembers(called, { [member]: '""' })
  const rest = membersOf(call, { index: undefined, [kind]: begun ?? 'null' })
  yield* write(`"tool_calls":[{"index":${index}${rest === '' ? '' : `,${rest}`}}]`)
  const text = called?.get(member)
  if (text !== undefined) yield* write(`"tool_calls":[{"index":${index},"${kind}":{"${member}":`, text, '}}]')
}

interface CollectedChoice {
  message: JsonMembers
  readonly calls: CallNumbers
  readonly rest: JsonMembers
}

class ChunkCollector implements StreamCollector {
  readonly #hasRoom: (length: number) => boolean
  readonly #answer = membersIn({})
  readonly #choices = new Map<number, CollectedChoice>()

  constructor(hasRoom: (length: number) => boolean) {
    this.#hasRoom = hasRoom
  }

  event(name: string, data: Uint8Array): Collected | undefined {
    const text = decodeText(data)
    if (text.startsWith('[DONE]')) return this.#choices.size === 0 ? NO_CHOICE : this.#whole()
    const chunk = parsedOrNone(text)
    if (!isObject(chunk)) return text === '' ? undefined : NO_JSON
    if (name === 'error' || (memberOf(chunk, 'error') ?? undefined) !== undefined)
      return { kind: 'error', error: chunk }
    return this.#add(chunk) ? undefined : TOO_LARGE
  }

  /** Without an end mark the answer is complete if each choice says why it ended. */
  end(): Collected | undefined {
    const choices = [...this.#choices.values()]
    const isComplete =
      choices.length > 0 &&
      choices.every(({ rest }) => typeof rest.finish_reason === 'string' && rest.finish_reason !== '')
    return isComplete ? this.#whole() : undefined
  }

  #add(chunk: object): boolean {
    for (const [name, value] of Object.entries(chunk)) {
      // Padding, which makes chunks equally long.
      if (name === 'choices' || name === 'object' || name === 'obfuscation') continue
      if (!this.#set(this.#answer, name, value)) return false
    }
    return elementsOf(memberOf(chunk, 'choices')).every((choice, position) => this.#addTo(choice, position))
  }

  #addTo(choice: unknown, position: number): boolean {
    const { index, delta, logprobs, message, ...rest } = membersIn(choice)
    const number = countAt(choice, 'index') ?? position
    let known = this.#choices.get(number)
    if (known === undefined) {
      known = { message: emptyMessage(), calls: new CallNumbers(), rest: membersIn({}) }
      this.#choices.set(number, known)
    }
    // A proxy in front of the provider may send a whole message in an event.
    const isWhole = delta == null && Object.keys(objectAt(choice, 'message') ?? {}).length > 0
    const piece = isWhole ? message : delta
    if (!this.#hasRoom(EVENT_OVERHEAD + JSON.stringify([piece, logprobs]).length - BESIDES)) return false
    if (isWhole) known.message = emptyMessage()
    mergeMembers(known.message, isWhole ? piece : numbered(piece, known.calls))
    if (logprobs != null) mergeMembers(known.rest, { logprobs })
    return Object.entries(rest).every(([name, value]) => this.#set(known.rest, name, value))
  }

  /** The last value counts that is neither null nor empty. @returns false if there is no room */
  #set(members: JsonMembers, name: string, value: unknown): boolean {
    const isEmpty = value === null || value === ''
    return this.#hasRoom(setMember(members, name, isEmpty ? (members[name] ?? value) : value))
  }

  #whole(): Collected {
    const choices = [...this.#choices]
      .sort(([one], [other]) => one - other)
      .map(([index, choice]) => wholeChoice(index, choice))
    const { usage, ...head } = this.#answer
    const answer = { ...head, object: 'chat.completion', choices, ...(usage !== undefined && { usage }) }
    return { kind: 'whole', body: encode(JSON.stringify(answer)) }
  }
}

/** The piece with numbers of its calls. */
function numbered(piece: unknown, numbers: CallNumbers): unknown {
  const calls = elementsOf(memberOf(piece, 'tool_calls'))
  if (calls.length === 0) return piece
  return { ...membersIn(piece), tool_calls: calls.map((call) => ({ ...membersIn(call), index: numbers.of(call) })) }
}

function emptyMessage(): JsonMembers {
  return membersIn({ role: 'assistant', content: null, refusal: null })
}

const BESIDES = '{"content":""}'.length
const NO_CHOICE: Collected = { kind: 'unusable', what: 'the response has no choice' }

function wholeChoice(index: number, { message, rest }: CollectedChoice): object {
  const calls = elementsOf(message.tool_calls).map(wholeCall)
  const reason = rest.finish_reason || (calls.length > 0 ? 'tool_calls' : 'stop')
  const { logprobs = null, ...others } = rest
  return {
    index,
    message: { ...message, ...(calls.length > 0 && { tool_calls: calls }) },
    logprobs,
    ...others,
    finish_reason: reason,
  }
}

/** Only calls in streams have numbers. */
function wholeCall(call: unknown): object {
  const { index: _, type = memberOf(call, 'custom') === undefined ? 'function' : 'custom', ...rest } = membersIn(call)
  return { ...rest, type }
}
