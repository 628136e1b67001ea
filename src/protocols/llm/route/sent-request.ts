import { parseJson } from '#base/parse-json.ts'
import type { LlmRequest, NumberParameter, PromptEntry } from '#exchange/llm-facts.ts'
import type { PromptMember } from '../dialects/format.ts'
import { formatOf } from '../dialects/index.ts'
import { flattenContent } from '../facts/flatten-content.ts'
import { decodeText } from '../json/native.ts'
import { elementsOf, memberOf, textAt } from '../json/read-value.ts'
import { findMember, type Members, scanMembers, stringAt, valueAt } from '../json/scan-members.ts'
import type { ClientFormat } from '../settings/route-type.ts'

/** The contents of a request, parsed lazily from the bytes that were sent. */
export class SentRequest implements LlmRequest {
  readonly #type: ClientFormat | 'Detect'
  readonly #members: Members
  readonly #body: Uint8Array
  #prompt: readonly PromptEntry[] | undefined

  /**
   * @param members of the body before messages were added, masked or renamed; parameters are the same in it
   * @param body the body that is sent, well-formed JSON
   */
  constructor(type: ClientFormat | 'Detect', members: Members, body = members.bytes) {
    this.#type = type
    this.#members = members
    this.#body = body
  }

  number(parameter: NumberParameter): number | undefined {
    for (const name of NAMES[parameter]) {
      const text = this.#textOf(name)
      if (text !== undefined && /^-?\d/.test(text)) return exactNumber(text)
    }
    return undefined
  }

  text(parameter: 'encoding_format'): string | undefined {
    const index = findMember(this.#members, parameter)
    return index < 0 ? undefined : stringAt(this.#members, index)
  }

  get outputType(): 'text' | 'json' | 'speech' | undefined {
    const modalities = this.#textOf('modalities')
    if (modalities?.includes('"audio"')) return 'speech'
    for (const path of OUTPUT_FORMATS) {
      const type = textIn(this.#members, path)
      if (type === 'text') return 'text'
      if (type?.startsWith('json') === true) return 'json'
    }
    return undefined
  }

  /** Flattened: each message has a role and a text. */
  get prompt(): readonly PromptEntry[] {
    this.#prompt ??= this.#readPrompt()
    return this.#prompt
  }

  #readPrompt(): readonly PromptEntry[] {
    const members = this.#body === this.#members.bytes ? this.#members : scanMembers(this.#body)
    if ('fault' in members) return []
    return (formatOf(this.#type)?.promptMembers ?? ALL_PROMPTS).flatMap((key) => {
      const index = findMember(members, key)
      return index < 0 ? [] : READ[key](parseValue(valueAt(members, index)))
    })
  }

  #textOf(name: string): string | undefined {
    const index = findMember(this.#members, name)
    if (index < 0) return undefined
    const value = valueAt(this.#members, index)
    return decodeText(value, 0, value.length)
  }
}

/** Where the dialects have the format of the output. A schema may follow the type, so only the type is read. */
const OUTPUT_FORMATS: readonly (readonly string[])[] = [
  ['response_format', 'type'],
  ['text', 'format', 'type'],
  ['output_config', 'format', 'type'],
  ['output_format', 'type'],
]

function textIn(members: Members, [key, ...inner]: readonly string[]): string | undefined {
  const index = findMember(members, key!)
  if (index < 0) return undefined
  if (inner.length === 0) return stringAt(members, index)
  const within = scanMembers(valueAt(members, index))
  return 'fault' in within ? undefined : textIn(within, inner)
}

/** Names of the parameters in the dialects; the first one that a request has is used. */
const NAMES: Readonly<Record<NumberParameter, readonly string[]>> = {
  temperature: ['temperature'],
  top_p: ['top_p'],
  frequency_penalty: ['frequency_penalty'],
  presence_penalty: ['presence_penalty'],
  seed: ['seed'],
  max_tokens: ['max_completion_tokens', 'max_tokens', 'max_output_tokens'],
  dimensions: ['dimensions'],
}

/** A number that a double cannot represent would appear changed. */
function exactNumber(text: string): number | undefined {
  const number = Number(text)
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : undefined
}

/** Of a request in an unknown format. */
const ALL_PROMPTS: readonly PromptMember[] = ['system', 'messages', 'instructions', 'input']

/** Readers of the members with text for the model. */
const READ: Readonly<Record<PromptMember, (value: unknown) => readonly PromptEntry[]>> = {
  system: readSystem,
  instructions: readSystem,
  messages: (value) => elementsOf(value).map((message) => readMessage(message, ' ')),
  input: readInput,
}

function parseValue(value: Uint8Array): unknown {
  return parseJson(decodeText(value, 0, value.length))
}

function readSystem(value: unknown): PromptEntry[] {
  return value == null ? [] : [{ role: 'system', content: flattenContent(value, '\n') }]
}

/** A text, several texts, or items, of which only messages are used. */
function readInput(value: unknown): PromptEntry[] {
  if (typeof value === 'string') return [{ role: 'user', content: value }]
  return elementsOf(value).flatMap((item) => {
    if (typeof item === 'string') return [{ role: 'user', content: item }]
    return textAt(item, 'role') === undefined ? [] : [readMessage(item, '\n')]
  })
}

function readMessage(message: unknown, separator: string): PromptEntry {
  return { role: textAt(message, 'role') ?? '', content: flattenContent(memberOf(message, 'content'), separator) }
}
