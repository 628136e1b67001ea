import { readArguments, textAsInput } from '../../chat/call-input.ts'
import type { CallPart, Part, ResultPart, Turn } from '../../chat/conversation.ts'
import type { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import { expectKind, ObjectReader } from '../../chat/object-reader.ts'
import { readTaggedSecret } from '../../chat/tagged-secrets.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import type { JsonValue } from '../../json/json-document.ts'
import { JsonPieces, type JsonText } from '../../json/write-json.ts'
import { readContent } from './read-content.ts'

const ROLES = ['user', 'assistant', 'system', 'developer'] as const

/** What the API puts into items of a response, and no provider needs again. */
const BOOKKEEPING = ['id', 'status', 'phase', 'caller']

/** What tools of the provider have left in the history. The messages after them say what came of it. */
const HOSTED = /^(?:web_search_call|file_search_call|code_interpreter_call|mcp_list_tools|mcp_call)$/

/** Makes turns of the items of `input`. Items of the model that follow each other are one turn. */
export class ItemReader {
  readonly turns: Turn[] = []
  readonly #loops: Loops
  readonly #losses: Losses
  readonly #calls = new Set<string>()
  /** The parts of the last turn, if it is one of the model. */
  #said: Part[] | undefined

  constructor(loops: Loops, losses: Losses) {
    this.#loops = loops
    this.#losses = losses
  }

  addList(value: JsonValue): void {
    this.#loops.eachOf(expectKind(value, 'array'), (item) => this.#add(item))
  }

  /** @param content a string or a list of parts */
  addMessage(role: Turn['role'], content: JsonValue, origin: JsonValue): void {
    this.#addParts(role, readContent(content, role, this.#loops, this.#losses), origin)
  }

  #add(origin: JsonValue): void {
    const reader = new ObjectReader(origin)
    const type = reader.text('type') ?? 'message'
    if (HOSTED.test(type)) return this.#losses.drop(origin)
    for (const name of BOOKKEEPING) reader.take(name)
    switch (type) {
      case 'message': {
        const role = reader.require('role', reader.word('role', ROLES))
        const content = reader.require('content', reader.take('content'))
        this.addMessage(role === 'developer' ? 'system' : role, content, origin)
        break
      }
      case 'function_call':
      case 'custom_tool_call':
        this.#addParts('assistant', [this.#call(type, reader)], origin)
        break
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#addParts('user', [this.#result(reader)], origin)
        break
      case 'reasoning':
        this.#addParts('assistant', readReasoningItem(reader, this.#loops, this.#losses), origin)
        break
      case 'item_reference':
        throw new Untranslatable(origin, 'items are not stored: send the item itself, and set store to false')
      default:
        throw new Untranslatable(origin, `items of type ${type} cannot be translated`)
    }
    reader.drop(this.#losses)
  }

  #addParts(role: Turn['role'], parts: readonly Part[], origin: JsonValue): void {
    const said = role === 'assistant' ? this.#said : undefined
    const all = said ?? []
    this.#loops.each(parts, (part) => all.push(part))
    if (said !== undefined) return
    this.turns.push({ role, parts: all, origin })
    this.#said = role === 'assistant' ? all : undefined
  }

  #call(type: 'function_call' | 'custom_tool_call', reader: ObjectReader): CallPart {
    const id = reader.require('call_id', reader.text('call_id'))
    this.#calls.add(id)
    const name = reader.require('name', reader.text('name'))
    const input =
      type === 'function_call'
        ? readArguments(reader.takeKind('arguments', 'string'))
        : textAsInput(reader.require('input', reader.literal('input')))
    return { kind: 'call', id, name, input, origin: reader.value }
  }

  #result(reader: ObjectReader): ResultPart {
    const id = reader.require('call_id', reader.takeKind('call_id', 'string'))
    const callId = id.text
    if (!this.#calls.has(callId)) throw new Untranslatable(id, 'no earlier call has this id')
    const output = reader.require('output', reader.take('output'))
    const parts = readContent(output, 'result', this.#loops, this.#losses)
    return { kind: 'result', callId, parts, isError: false, origin: reader.value }
  }
}

/** The thought of a reasoning item; none if nothing is left of it. The list is complete when all loops have run. */
function readReasoningItem(reader: ObjectReader, loops: Loops, losses: Losses): readonly Part[] {
  const origin = reader.value
  const parts: Part[] = []
  const summary = readTexts(reader, 'summary', 'summary_text', loops, losses)
  const content = readTexts(reader, 'content', 'reasoning_text', loops, losses)
  const encrypted = reader.takeKind('encrypted_content', 'string')
  const secret = encrypted && readSecret(encrypted, losses)
  if (secret?.kind === 'redacted') {
    return [{ kind: 'redacted', data: secret.data, provider: secret.provider, origin }]
  }
  loops.after(() => {
    const text = joined(content.length > 0 ? content : summary)
    if (secret === undefined && text === undefined) return
    const signed = { signature: secret?.data, provider: secret?.provider }
    parts.push({ kind: 'thinking', text: text ?? new JsonPieces(['""']), ...signed, origin })
  })
  return parts
}

function readTexts(
  reader: ObjectReader,
  name: string,
  type: string,
  loops: Loops,
  losses: Losses,
): readonly Uint8Array[] {
  const texts: Uint8Array[] = []
  loops.eachOf(reader.list(name), (value) => {
    const part = new ObjectReader(value)
    if (part.text('type') !== type) throw new Untranslatable(value, `must be of the type ${type}`)
    const text = part.require('text', part.literal('text'))
    part.drop(losses)
    texts.push(text)
  })
  return texts
}

function readSecret(encrypted: JsonValue, losses: Losses) {
  const secret = readTaggedSecret(encrypted)
  if (secret === undefined) losses.drop(encrypted, 'only the provider that wrote it can read it')
  return secret
}

/** Several strings as one. */
function joined(texts: readonly Uint8Array[]): JsonText | undefined {
  if (texts.length < 2) return texts[0]
  const pieces = texts.flatMap((text, at) => (at === 0 ? [text.subarray(1, -1)] : ['\\n\\n', text.subarray(1, -1)]))
  return new JsonPieces(['"', ...pieces, '"'])
}
