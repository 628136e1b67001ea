import { takeCacheControl } from '../../chat/cache-marks.ts'
import type { CallPart, MediaSource, Part, ResultPart, TextPart, ThinkingPart, Turn } from '../../chat/conversation.ts'
import type { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import { expectKind, ObjectReader } from '../../chat/object-reader.ts'
import { readTaggedSecret } from '../../chat/tagged-secrets.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import type { JsonValue } from '../../json/json-document.ts'
import { JsonPieces } from '../../json/write-json.ts'

import { givenCallId } from './client-call-id.ts'

type Role = Turn['role']

/** Where a type of block may stand. */
const PLACES: Readonly<Record<string, readonly (Role | 'result')[]>> = {
  text: ['system', 'user', 'assistant', 'result'],
  image: ['user', 'assistant', 'result'],
  document: ['user', 'assistant', 'result'],
  search_result: ['user', 'assistant', 'result'],
  tool_result: ['user'],
  tool_use: ['assistant'],
  thinking: ['assistant'],
  redacted_thinking: ['assistant'],
}

const SOURCES = ['base64', 'text', 'url', 'file'] as const

/** What tools of a provider left in the history. The texts after them say what came of them. */
const HOSTED = /^(?:server_tool_use|mcp_tool_use|\w+_tool_result)$/

/** Reads the contents of turns, in their order: a result of a tool must follow its call (decision B28). */
export class PartReader {
  readonly #loops: Loops
  readonly #losses: Losses
  readonly #calls = new Set<string>()

  constructor(loops: Loops, losses: Losses) {
    this.#loops = loops
    this.#losses = losses
  }

  /** @param value a string or a list of blocks @returns a list that is complete when all loops have run */
  content(value: JsonValue, place: Role | 'result'): readonly Part[] {
    if (value.kind === 'string') return [{ kind: 'text', text: value.json, origin: value }]
    const parts: Part[] = []
    this.#loops.eachOf(expectKind(value, 'array'), (block) => this.#block(block, place, parts))
    return parts
  }

  #block(origin: JsonValue, place: Role | 'result', parts: Part[]): void {
    const reader = new ObjectReader(origin)
    const type = reader.require('type', reader.text('type'))
    if (!Object.hasOwn(PLACES, type)) {
      if (place !== 'assistant' || !HOSTED.test(type)) {
        throw new Untranslatable(origin, `content of type ${type} cannot be translated`)
      }
      return this.#losses.drop(origin)
    }
    if (!PLACES[type]!.includes(place)) throw new Untranslatable(origin, `content of type ${type} is not allowed here`)
    if (type === 'document') this.#document(reader, parts)
    else if (type === 'search_result') this.#searchResult(reader, parts)
    else parts.push(this.#part(type, reader))
    reader.drop(this.#losses)
  }

  #part(type: string, reader: ObjectReader): Part {
    switch (type) {
      case 'image': {
        const source = this.#source(reader.require('source', reader.object('source')))
        return { kind: 'image', source, ...this.#marks(reader) }
      }
      case 'tool_result':
        return this.#result(reader)
      case 'tool_use':
        return this.#call(reader)
      case 'thinking': {
        const text = reader.require('thinking', reader.literal('thinking'))
        return { kind: 'thinking', text, ...readSignature(reader), origin: reader.value }
      }
      case 'redacted_thinking':
        return { kind: 'redacted', data: reader.require('data', reader.literal('data')), origin: reader.value }
      default:
        return this.#text(reader)
    }
  }

  #text(reader: ObjectReader): TextPart {
    const text = reader.require('text', reader.literal('text'))
    return { kind: 'text', text, origin: reader.value, cached: takeCacheControl(reader, this.#losses) }
  }

  #marks(reader: ObjectReader): { readonly origin: JsonValue; readonly cached: boolean | undefined } {
    return { origin: reader.value, cached: takeCacheControl(reader, this.#losses) }
  }

  #call(reader: ObjectReader): CallPart {
    const id = givenCallId(reader.require('id', reader.text('id')))
    this.#calls.add(id)
    // Who called the tool: the model, or code of a hosted tool.
    reader.take('caller')
    const name = reader.require('name', reader.text('name'))
    const input = reader.require('input', reader.takeKind('input', 'object')).json
    return { kind: 'call', id, name, input, ...this.#marks(reader) }
  }

  #result(reader: ObjectReader): ResultPart {
    const id = reader.require('tool_use_id', reader.takeKind('tool_use_id', 'string'))
    const callId = givenCallId(id.text)
    if (!this.#calls.has(callId)) throw new Untranslatable(id, 'no earlier call has this id')
    const content = reader.take('content')
    const parts = content === undefined ? [] : this.content(content, 'result')
    return { kind: 'result', callId, parts, isError: reader.flag('is_error') ?? false, ...this.#marks(reader) }
  }

  /** Becomes one text: where it comes from, and what was found. */
  #searchResult(reader: ObjectReader, parts: Part[]): void {
    const pieces: (string | Uint8Array)[] = ['"']
    pieces.push(inner(reader.require('title', reader.literal('title'))), '\\n')
    pieces.push(inner(reader.require('source', reader.literal('source'))))
    const found = this.content(reader.require('content', reader.takeKind('content', 'array')), 'system')
    this.#loops.each(found, (part) => {
      if (part.kind === 'text' && part.text instanceof Uint8Array) pieces.push('\\n\\n', inner(part.text))
    })
    const marks = this.#marks(reader)
    this.#loops.after(() => parts.push({ kind: 'text', text: new JsonPieces([...pieces, '"']), ...marks }))
  }

  #document(reader: ObjectReader, parts: Part[]): void {
    const source = reader.require('source', reader.object('source'))
    const content = source.take('content')
    if (content === undefined) {
      const name = reader.text('title')
      parts.push({ kind: 'file', source: this.#source(source), name, ...this.#marks(reader) })
      return
    }
    source.word('type', ['content'])
    source.drop(this.#losses)
    const { origin, cached } = this.#marks(reader)
    if (content.kind === 'string') {
      const name = reader.text('title')
      parts.push({ kind: 'file', source: { kind: 'text', text: content.json }, name, origin, cached })
      return
    }
    // The document is a sequence of texts and images.
    const contents = this.content(content, 'result')
    this.#loops.each(contents, (part) => parts.push(part))
    this.#loops.after(() => {
      const last = parts.at(-1)
      if (contents.length > 0) parts[parts.length - 1] = { ...last!, cached }
    })
  }

  #source(reader: ObjectReader): MediaSource {
    const type = reader.require('type', reader.word('type', SOURCES))
    const source = readSource(type, reader)
    reader.drop(this.#losses)
    return source
  }
}

function readSource(type: (typeof SOURCES)[number], reader: ObjectReader): MediaSource {
  switch (type) {
    case 'base64': {
      const mediaType = reader.require('media_type', reader.text('media_type'))
      return { kind: 'data', mediaType, data: inner(reader.require('data', reader.literal('data'))) }
    }
    case 'text':
      reader.take('media_type')
      return { kind: 'text', text: reader.require('data', reader.literal('data')) }
    case 'url':
      return { kind: 'url', url: reader.require('url', reader.literal('url')) }
    case 'file':
      return { kind: 'id', id: reader.require('file_id', reader.literal('file_id')) }
  }
}

/** A string without its quotes. */
function inner(text: Uint8Array): Uint8Array {
  return text.subarray(1, -1)
}

/** Signatures that say nothing else are of the messages API. */
function readSignature(reader: ObjectReader): Pick<ThinkingPart, 'signature' | 'provider'> {
  const signature = reader.takeKind('signature', 'string')
  if (signature === undefined) return { signature: undefined }
  const { provider, data } = readTaggedSecret(signature) ?? { provider: 'messages', data: signature.json }
  return { signature: data, provider }
}
