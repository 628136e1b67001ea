import { takeCacheControl, takeCacheMark } from '../../chat/cache-marks.ts'
import { readArguments, textAsInput } from '../../chat/call-input.ts'
import type { CallPart, Part, ResultPart, TextPart, Turn } from '../../chat/conversation.ts'
import type { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import { expectKind, ObjectReader } from '../../chat/object-reader.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import type { JsonValue } from '../../json/json-document.ts'
import type { JsonText } from '../../json/write-json.ts'
import { readAudio, readFile, readImage } from './read-media.ts'
import { readThoughts } from './thoughts.ts'

const encoder = new TextEncoder()

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const

/** Where the types of parts may stand. */
const PLACES: Readonly<Record<string, readonly (typeof ROLES)[number][]>> = {
  text: ['system', 'developer', 'user', 'assistant', 'tool'],
  image_url: ['user', 'tool'],
  input_audio: ['user'],
  file: ['user', 'tool'],
  refusal: ['assistant'],
}

/** One turn for each message. @param messages a list */
export function readTurns(messages: JsonValue, loops: Loops, losses: Losses): readonly Turn[] {
  const reader = new TurnReader(loops, losses)
  const turns: Turn[] = []
  loops.eachOf(messages, (message) => turns.push(reader.read(message)))
  return turns
}

class TurnReader {
  readonly #loops: Loops
  readonly #losses: Losses
  /** The ids of calls; most histories have none. */
  #calls: Set<string> | undefined
  /** Calls of functions, which had no ids before there were tools. The results follow in their order. */
  #functions: Map<string, string> | undefined
  #functionCount = 0

  constructor(loops: Loops, losses: Losses) {
    this.#loops = loops
    this.#losses = losses
  }

  read(origin: JsonValue): Turn {
    const message = new ObjectReader(origin)
    const role = message.require('role', message.word('role', ROLES))
    const turn: Turn = { role: turnRole(role), parts: this.#parts(role, message), origin }
    message.drop(this.#losses)
    return turn
  }

  #parts(role: (typeof ROLES)[number], message: ObjectReader): readonly Part[] {
    switch (role) {
      case 'assistant':
        return this.#assistant(message)
      case 'tool':
        return [this.#result(message)]
      case 'function':
        return [this.#functionResult(message)]
      default:
        return this.#content(message.require('content', message.take('content')), role)
    }
  }

  #content(value: JsonValue | undefined, role: (typeof ROLES)[number], parts: Part[] = []): Part[] {
    if (value?.kind === 'string') parts.push({ kind: 'text', text: value.json, origin: value })
    else if (value !== undefined) {
      this.#loops.eachOf(expectKind(value, 'array'), (part) => parts.push(this.#part(part, role)))
    }
    return parts
  }

  #part(origin: JsonValue, role: (typeof ROLES)[number]): Part {
    const reader = new ObjectReader(origin)
    const type = reader.require('type', reader.text('type'))
    if (!Object.hasOwn(PLACES, type)) {
      throw new Untranslatable(origin, `content of type ${type} cannot be translated`)
    }
    if (!PLACES[type]!.includes(role)) throw new Untranslatable(origin, `content of type ${type} is not allowed here`)
    const cached = takeCacheMark(reader, this.#losses)
    const part = this.#typedPart(type, reader)
    reader.drop(this.#losses)
    return cached === undefined ? part : { ...part, cached }
  }

  #typedPart(type: string, reader: ObjectReader): Part {
    switch (type) {
      case 'image_url':
        return readImage(reader, this.#losses)
      case 'input_audio':
        return readAudio(reader, this.#losses)
      case 'file':
        return readFile(reader, this.#losses)
      case 'refusal':
        return refusalPart(reader.require('refusal', reader.takeKind('refusal', 'string')), reader.value)
      default:
        return { kind: 'text', text: reader.require('text', reader.literal('text')), origin: reader.value }
    }
  }

  /** Thoughts come first, as the model had them, then texts, then calls. */
  #assistant(message: ObjectReader): readonly Part[] {
    const parts = this.#content(message.take('content'), 'assistant', this.#thoughts(message))
    const refusal = message.takeKind('refusal', 'string')
    if (refusal !== undefined) this.#loops.after(() => parts.push(refusalPart(refusal, refusal)))
    const audio = message.take('audio')
    if (audio !== undefined) throw new Untranslatable(audio, 'the audio of an earlier response cannot be translated')
    // What clients send back of a response, and no provider needs again.
    message.take('annotations')
    this.#loops.eachOf(message.list('tool_calls'), (call) => parts.push(this.#call(call)))
    const called = message.object('function_call')
    if (called !== undefined) this.#loops.after(() => parts.push(this.#functionCall(called)))
    return parts
  }

  #thoughts(message: ObjectReader): Part[] {
    const text = message.takeKind('reasoning_content', 'string')
    const signature = message.takeKind('reasoning_signature', 'string')
    const origin = text ?? signature
    if (origin === undefined) return []
    if (signature === undefined) return [{ kind: 'thinking', text: origin.json, signature: undefined, origin }]
    const given = signature.text
    if (text !== undefined && !given.startsWith('[')) {
      return [{ kind: 'thinking', text: text.json, signature: signature.json, origin }]
    }
    return readThoughts(text?.text ?? '', given).map((thought): Part => {
      if (thought.kind === 'redacted') return { kind: 'redacted', data: literal(thought.data), origin }
      return { kind: 'thinking', text: literal(thought.text), signature: literal(thought.signature), origin }
    })
  }

  #call(origin: JsonValue): CallPart {
    const reader = new ObjectReader(origin)
    const type = reader.word('type', ['function', 'custom']) ?? 'function'
    const id = reader.require('id', reader.text('id'))
    this.#calls ??= new Set()
    this.#calls.add(id)
    // The number of the call in its response.
    reader.take('index')
    const called = reader.require(type, reader.object(type))
    const name = called.require('name', called.text('name'))
    const input =
      type === 'function'
        ? readArguments(called.takeKind('arguments', 'string'))
        : textAsInput(called.require('input', called.literal('input')))
    called.drop(this.#losses)
    reader.drop(this.#losses)
    return { kind: 'call', id, name, input, origin }
  }

  #functionCall(called: ObjectReader): CallPart {
    const name = called.require('name', called.text('name'))
    const id = `call_${++this.#functionCount}`
    this.#functions ??= new Map()
    this.#functions.set(name, id)
    const input = readArguments(called.takeKind('arguments', 'string'))
    called.drop(this.#losses)
    return { kind: 'call', id, name, input, origin: called.value }
  }

  #result(message: ObjectReader): ResultPart {
    const id = message.require('tool_call_id', message.takeKind('tool_call_id', 'string'))
    const callId = id.text
    if (this.#calls?.has(callId) !== true) throw new Untranslatable(id, 'no earlier call has this id')
    const parts = this.#content(message.require('content', message.take('content')), 'tool')
    // The name of the tool, which some clients repeat.
    message.take('name')
    return { kind: 'result', callId, parts, isError: false, ...this.#marks(message) }
  }

  #marks(message: ObjectReader): Pick<Part, 'origin' | 'cached'> {
    return { origin: message.value, cached: takeCacheControl(message, this.#losses) }
  }

  #functionResult(message: ObjectReader): ResultPart {
    const name = message.require('name', message.takeKind('name', 'string'))
    const callId = this.#functions?.get(name.text)
    if (callId === undefined) throw new Untranslatable(name, 'no earlier call has this name')
    const parts = this.#content(message.takeKind('content', 'string'), 'tool')
    return { kind: 'result', callId, parts, isError: false, origin: message.value }
  }
}

function turnRole(role: (typeof ROLES)[number]): Turn['role'] {
  if (role === 'developer') return 'system'
  return role === 'tool' || role === 'function' ? 'user' : role
}

function refusalPart(refusal: JsonValue, origin: JsonValue): TextPart {
  return { kind: 'text', text: refusal.json, isRefusal: true, origin }
}

function literal(text: string): JsonText {
  return encoder.encode(JSON.stringify(text))
}
