import { parseExactJson } from '#base/exact-json.ts'
import { parseJson } from '#base/parse-json.ts'
import { type Collected, EVENT_OVERHEAD, type StreamCollector, TOO_LARGE } from '../answer/form-change.ts'
import { type JsonMembers, membersIn } from '../answer/merge-members.ts'
import { JsonValue, parseDocument } from '../json/json-document.ts'
import { decodeText } from '../json/native.ts'
import { membersOf, textOf } from '../json/one-line-json.ts'
import { elementsOf } from '../json/read-value.ts'
import { encode } from '../json/splice.ts'

const ERROR = /^(?:error|response\.failed)$/
const LAST = /^response\.(?:completed|incomplete|cancelled)$/
const ITEM = /^response\.output_item\.(added|done)$/
const PART = /^response\.(content|reasoning_summary)_part\.(?:added|done)$/
const PIECE = /^response\.(\w+)\.(delta|done|annotation\.added)$/
/** Have the response without output. */
const BEGINS: ReadonlySet<string> = new Set(['response.created', 'response.queued', 'response.in_progress'])

/** Where pieces of text belong, by the type of their events: to a part of an item of some type, or to a member of the item itself. */
const PIECES: Readonly<Record<string, Place>> = {
  output_text: { list: 'content', type: 'output_text', member: 'text' },
  refusal: { list: 'content', type: 'refusal', member: 'refusal' },
  reasoning_text: { list: 'content', type: 'reasoning_text', member: 'text' },
  reasoning_summary_text: { list: 'summary', type: 'summary_text', member: 'text' },
  function_call_arguments: { member: 'arguments' },
  mcp_call_arguments: { member: 'arguments' },
  custom_tool_call_input: { member: 'input' },
  code_interpreter_call_code: { member: 'code' },
}

type List = 'content' | 'summary'

interface Place {
  readonly member: string
  readonly list?: List
  readonly type?: string
}

/** An item that is not done. */
interface BegunItem {
  readonly members: JsonMembers
  /** By their positions. */
  readonly parts: Readonly<Record<List, Map<number, JsonMembers>>>
}

/**
 * Finds the whole response in a stream. Its last event has it, but some providers leave out the output there. The output then consists of the
 * items of earlier events: completed items as sent, and unfinished items with the content that has arrived.
 */
export class ResponseCollector implements StreamCollector {
  readonly #hasRoom: (length: number) => boolean
  /** By position; those that are done as JSON text. */
  readonly #items = new Map<number, BegunItem | string>()
  /** Positions by id. */
  readonly #byId = new Map<string, number>()
  /** Position after the last item. */
  #next = 0
  /** Items that there is no room for are forgotten: usually the last event has them all. */
  #isFull = false

  constructor(hasRoom: (length: number) => boolean) {
    this.#hasRoom = hasRoom
  }

  event(name: string, data: Uint8Array): Collected | undefined {
    if (BEGINS.has(name)) return undefined
    const event = parseDocument(data)
    if (!(event instanceof JsonValue)) return undefined
    const type = name || (event.get('type')?.text ?? name)
    const response = event.get('response')
    if (ERROR.test(type)) return { kind: 'error', error: parseJson(decodeText((response ?? event).json)) }
    if (LAST.test(type) && response !== undefined) return this.#whole(response, type === 'response.completed')
    if (!this.#isFull) this.#keep(type, event)
    return undefined
  }

  end(): undefined {}

  #whole(response: JsonValue, isCompleted: boolean): Collected {
    if (response.get('output')?.children().next() !== undefined) return { kind: 'whole', body: response.json }
    if (this.#isFull) return TOO_LARGE
    const items = sorted(this.#items).map((item) =>
      typeof item === 'string' ? item : JSON.stringify(itemSoFar(item, isCompleted)),
    )
    const members = [membersOf(response, { output: undefined }), `"output":[${items.join(',')}]`]
    return { kind: 'whole', body: encode(`{${members.filter((text) => text !== '').join(',')}}`) }
  }

  #keep(type: string, event: JsonValue): void {
    const grown = this.#noteItem(type, event) ?? this.#notePart(type, event) ?? this.#notePiece(type, event)
    if (grown === undefined || this.#hasRoom(EVENT_OVERHEAD + Math.max(0, grown))) return
    this.#isFull = true
    this.#items.clear()
    this.#byId.clear()
  }

  /** @returns how many more units of text are kept; undefined: the event is another one */
  #noteItem(type: string, event: JsonValue): number | undefined {
    const [, state] = ITEM.exec(type) ?? []
    const item = event.get('item')
    if (state === undefined || item === undefined) return undefined
    const id = item.get('id')?.text ?? ''
    const position = this.#placeOf(id, event.get('output_index')?.count, state)
    const begun = this.#items.get(position)
    this.#items.set(position, state === 'done' ? textOf(item) : beginItem(item))
    if (id !== '') this.#byId.set(id, position)
    this.#next = Math.max(this.#next, position + 1)
    return item.json.length - (typeof begun === 'object' ? JSON.stringify(itemSoFar(begun, true)).length : 0)
  }

  /** Some providers number all items 0, some give an item another id when it is done, and some all items the same. */
  #placeOf(id: string, index: number | undefined, state: string): number {
    const known = this.#byId.get(id)
    if (known !== undefined && !this.#isDone(known)) return known
    if (index !== undefined && !this.#isDone(index)) return index
    return state === 'done' && known !== undefined && (index ?? known) === known ? known : this.#next
  }

  #isDone(position: number): boolean {
    return typeof this.#items.get(position) === 'string'
  }

  #notePart(type: string, event: JsonValue): number | undefined {
    const [, kind] = PART.exec(type) ?? []
    const part = event.get('part')
    const item = kind === undefined ? undefined : this.#begunOf(event)
    if (item === undefined || part === undefined) return undefined
    const list = kind === 'content' ? 'content' : 'summary'
    const index = indexIn(list, event)
    const before = item.parts[list].get(index)
    item.parts[list].set(index, membersIn(parseExactJson(decodeText(part.json))))
    return part.json.length - (before === undefined ? 0 : JSON.stringify(before).length)
  }

  #notePiece(type: string, event: JsonValue): number | undefined {
    const [, kind = '', state] = PIECE.exec(type) ?? []
    const place = Object.hasOwn(PIECES, kind) ? PIECES[kind]! : undefined
    const item = place && this.#begunOf(event)
    if (item === undefined) return undefined
    const { list, type: partType, member } = place!
    const target = list === undefined ? item.members : partAt(item.parts[list], indexIn(list, event), partType!)
    if (state === 'annotation.added') return addAnnotation(target, event.get('annotation'))
    const before = typeof target[member] === 'string' ? target[member] : ''
    const text = state === 'delta' ? before + (event.get('delta')?.text ?? '') : (event.get(member)?.text ?? before)
    target[member] = text
    return text.length - before.length
  }

  /** The item of an event, if it is not done. */
  #begunOf(event: JsonValue): BegunItem | undefined {
    const known = this.#byId.get(event.get('item_id')?.text ?? '')
    const position = known !== undefined && !this.#isDone(known) ? known : event.get('output_index')?.count
    const item = position === undefined ? undefined : this.#items.get(position)
    return typeof item === 'object' ? item : undefined
  }
}

function beginItem(item: JsonValue): BegunItem {
  const members = membersIn(parseExactJson(decodeText(item.json)))
  const partsIn = (list: List) => new Map(elementsOf(members[list]).map((part, i) => [i, membersIn(part)]))
  return { members, parts: { content: partsIn('content'), summary: partsIn('summary') } }
}

function indexIn(list: List, event: JsonValue): number {
  return event.get(list === 'content' ? 'content_index' : 'summary_index')?.count ?? 0
}

function partAt(parts: Map<number, JsonMembers>, index: number, type: string): JsonMembers {
  const part = parts.get(index) ?? membersIn({ type, ...(type === 'output_text' && { annotations: [] }) })
  parts.set(index, part)
  return part
}

function addAnnotation(part: JsonMembers, annotation: JsonValue | undefined): number {
  if (annotation === undefined) return 0
  const annotations: unknown[] = Array.isArray(part.annotations) ? part.annotations : []
  annotations.push(parseExactJson(decodeText(annotation.json)))
  part.annotations = annotations
  return annotation.json.length
}

function sorted<T>(byPosition: ReadonlyMap<number, T>): T[] {
  return [...byPosition].sort(([one], [other]) => one - other).map(([, value]) => value)
}

/** An item whose end the provider has not told. */
function itemSoFar({ members, parts }: BegunItem, isCompleted: boolean): JsonMembers {
  const item = membersIn(members)
  for (const list of ['content', 'summary'] as const) if (parts[list].size > 0) item[list] = sorted(parts[list])
  if (item.status === 'in_progress') item.status = isCompleted ? 'completed' : 'incomplete'
  return item
}
