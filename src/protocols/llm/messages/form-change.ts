import {
  type Collected,
  EVENT_OVERHEAD,
  type FormChange,
  NO_JSON,
  parsedOrNone,
  type StreamCollector,
  TOO_LARGE,
} from '../answer/form-change.ts'
import { isObject, type JsonMembers, membersIn, setMember } from '../answer/merge-members.ts'
import type { JsonValue } from '../json/json-document.ts'
import { decodeText } from '../json/native.ts'
import { inPieces, textOf, withMembers } from '../json/one-line-json.ts'
import { countAt, elementsOf, memberOf, objectAt, textAt } from '../json/read-value.ts'
import { encode } from '../json/splice.ts'

/** The two forms of the messages API. Blocks and members that the gateway does not know are in both. */
export const messagesForms: FormChange = {
  faultOf: (message) => (message.get('content')?.kind === 'array' ? undefined : 'the response has no content'),
  writeStream,
  collector: (hasRoom) => new MessageCollector(hasRoom),
}

type Pieces = Generator<string | Uint8Array>

function event(type: string, ...members: readonly (string | JsonValue)[]): Pieces {
  const rest = members.length === 0 ? [] : [',', ...members]
  return inPieces([`event: ${type}\ndata: {"type":"${type}"`, ...rest, '}\n\n'])
}

/** Members of the message that a stream tells at its end, and all that it may have of them. */
const AT_END = ['stop_reason', 'stop_sequence', 'stop_details', 'container']

function* writeStream(message: JsonValue): Pieces {
  const usage = message.get('usage')
  const begun = withMembers(message, {
    ...{ content: '[]', stop_reason: 'null', stop_sequence: 'null', stop_details: undefined, container: undefined },
    ...{ context_management: undefined, usage: usage && withMembers(usage, { output_tokens: '0' }) },
  })
  yield* event('message_start', `"message":${begun}`)
  const blocks = message.get('content')!.children()
  for (let block = blocks.next(); block !== undefined; block = blocks.next()) yield* writeBlock(block, blocks.index)
  const delta = AT_END.map((name) => [name, message.get(name)] as const)
    .filter(([name, value]) => value !== undefined || name === 'stop_sequence')
    .map(([name, value]) => `"${name}":${textOf(value) || 'null'}`)
  const managed = message.get('context_management')
  yield* event(
    'message_delta',
    `"delta":{${delta.join(',')}}`,
    managed === undefined ? '' : `,"context_management":${textOf(managed)}`,
    usage === undefined ? '' : `,"usage":${textOf(usage)}`,
  )
  yield* event('message_stop')
}

/** What arrives in pieces: member, and the type of its deltas. */
const DELTAS: readonly (readonly [type: RegExp, member: string, delta: string])[] = [
  [/^text$/, 'text', 'text_delta'],
  [/^thinking$/, 'thinking', 'thinking_delta'],
  [/^thinking$/, 'signature', 'signature_delta'],
  [/^compaction$/, 'content', 'compaction_delta'],
]
const CALL = /tool_use$/

function* writeBlock(block: JsonValue, index: number): Pieces {
  const type = block.get('type')?.text ?? ''
  const deltas = DELTAS.filter(([types, member]) => types.test(type) && block.get(member)?.kind === 'string')
  const input = CALL.test(type) ? block.get('input') : undefined
  const citations = type === 'text' ? block.get('citations') : undefined
  const begun = withMembers(block, {
    ...Object.fromEntries(deltas.map(([, member]) => [member, '""'])),
    ...(input !== undefined && { input: '{}' }),
    ...(citations !== undefined && { citations: '[]' }),
  })
  yield* event('content_block_start', `"index":${index},"content_block":${begun}`)
  for (const [, member, delta] of deltas) {
    yield* event(
      'content_block_delta',
      `"index":${index},"delta":{"type":"${delta}","${member}":`,
      block.get(member)!,
      '}',
    )
  }
  for (const citation of citations?.elements ?? []) {
    yield* event('content_block_delta', `"index":${index},"delta":{"type":"citations_delta","citation":`, citation, '}')
  }
  if (input !== undefined) {
    const text = JSON.stringify(textOf(input))
    yield* event('content_block_delta', `"index":${index},"delta":{"type":"input_json_delta","partial_json":${text}}`)
  }
  yield* event('content_block_stop', `"index":${index}`)
}

interface CollectedBlock {
  readonly index: number
  readonly members: JsonMembers
  /** JSON text of the input of a call. */
  input: string
}

class MessageCollector implements StreamCollector {
  readonly #hasRoom: (length: number) => boolean
  #message: JsonMembers | undefined
  /** In the order of their beginnings. */
  readonly #blocks: CollectedBlock[] = []
  /** The last one of each index. */
  readonly #byIndex = new Map<number, CollectedBlock>()

  constructor(hasRoom: (length: number) => boolean) {
    this.#hasRoom = hasRoom
  }

  event(name: string, data: Uint8Array): Collected | undefined {
    if (data.length === 0) return undefined
    const text = decodeText(data)
    // A proxy in front of the provider may add the end mark of another API.
    if (text.startsWith('[DONE]')) return this.end()
    const read = parsedOrNone(text)
    if (!isObject(read)) return NO_JSON
    const type = textAt(read, 'type') ?? name
    // A proxy in front of the provider may leave out the type, or the name.
    const isError = [type, name].includes('error') || (memberOf(read, 'error') ?? undefined) !== undefined
    if (isError) return { kind: 'error', error: read }
    if (type === 'message_stop') return this.#message && this.#whole(this.#message)
    return this.#add(type, read) ? undefined : TOO_LARGE
  }

  /** Without its last event a message is complete if it says why it ended. */
  end(): Collected | undefined {
    return typeof this.#message?.stop_reason === 'string' ? this.#whole(this.#message) : undefined
  }

  /** @returns false if there is no room */
  #add(type: string, read: unknown): boolean {
    const index = countAt(read, 'index')
    if (type === 'message_start') {
      this.#message ??= membersIn(memberOf(read, 'message'))
    } else if (type === 'content_block_start') {
      this.#begin(index ?? (this.#blocks.at(-1)?.index ?? -1) + 1, memberOf(read, 'content_block'))
    } else if (type === 'content_block_delta') {
      const block = index === undefined ? this.#blocks.at(-1) : this.#byIndex.get(index)
      if (block !== undefined) addDelta(block, memberOf(read, 'delta'))
    } else if (type === 'message_delta' && this.#message !== undefined) {
      return this.#hasRoom(EVENT_OVERHEAD + finish(this.#message, read))
    } else {
      return true
    }
    return this.#hasRoom(EVENT_OVERHEAD + JSON.stringify(memberOf(read, 'delta') ?? read).length)
  }

  #begin(index: number, block: unknown): void {
    const begun = { index, members: membersIn(block), input: '' }
    this.#blocks.push(begun)
    this.#byIndex.set(index, begun)
  }

  #whole(message: JsonMembers): Collected {
    const content = [...this.#blocks].sort((one, other) => one.index - other.index).map(wholeBlock)
    const whole = { stop_sequence: null, ...message, content, stop_reason: message.stop_reason ?? 'end_turn' }
    return { kind: 'whole', body: encode(JSON.stringify(whole)) }
  }
}

function addDelta(block: CollectedBlock, delta: unknown): void {
  const type = textAt(delta, 'type')
  if (type === 'input_json_delta') {
    block.input += textAt(delta, 'partial_json') ?? ''
    return
  }
  const { members } = block
  if (type === 'citations_delta') {
    members.citations = [...elementsOf(members.citations), memberOf(delta, 'citation')]
    return
  }
  for (const [name, value] of Object.entries(delta ?? {})) {
    if (name === 'type') continue
    const old = members[name]
    members[name] = typeof old === 'string' && typeof value === 'string' ? old + value : value
  }
}

/** Counts of the end replace those of the beginning. @returns how many more units of text the message has */
function finish(message: JsonMembers, read: unknown): number {
  const { type: _, delta, usage, ...rest } = membersIn(read)
  let grown = 0
  for (const [name, value] of Object.entries({ ...rest, ...membersIn(delta) })) grown += setMember(message, name, value)
  const counts = Object.entries(usage ?? {}).filter(([, count]) => count !== null)
  if (counts.length === 0) return grown
  return grown + setMember(message, 'usage', { ...objectAt(message, 'usage'), ...Object.fromEntries(counts) })
}

function wholeBlock({ members, input }: CollectedBlock): object {
  if (input === '') return members
  return { ...members, input: inputOf(input) }
}

/** An input that the model did not complete stays a text. */
function inputOf(text: string): unknown {
  const input = parsedOrNone(text)
  return input === undefined ? text : input
}
