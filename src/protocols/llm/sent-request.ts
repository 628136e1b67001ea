import type { LlmRequest, NumberParameter, PromptEntry } from '#exchange/llm-facts.ts'
import { flattenContent } from './flatten-content.ts'
import { decodeText } from './json/decode-text.ts'
import { elementsOf, memberOf, textAt } from './json/read-value.ts'
import { findMember, type Members, scanMembers, stringAt, valueAt } from './json/scan-members.ts'
import { PROMPT_MEMBERS, type PromptMember } from './prompt-members.ts'
import type { ClientFormat } from './route-type.ts'

/** What a request says, read from the bytes that were sent; nothing is read before somebody asks. */
export class SentRequest implements LlmRequest {
  readonly #type: ClientFormat | 'Detect'
  readonly #members: Members
  readonly #body: Uint8Array
  #prompt: readonly PromptEntry[] | undefined

  /**
   * @param members of the body before messages were put in, masked or renamed: parameters are the same in it
   * @param body what is sent, well-formed JSON like the former
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

  /** Flattened: a message is its role and its text. */
  get prompt(): readonly PromptEntry[] {
    this.#prompt ??= this.#readPrompt()
    return this.#prompt
  }

  #readPrompt(): readonly PromptEntry[] {
    const members = this.#body === this.#members.bytes ? this.#members : scanMembers(this.#body)
    if ('fault' in members) return []
    return PROMPT_MEMBERS[this.#type].flatMap((key) => {
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

/** What dialects call the parameters; the first that a request has counts. */
const NAMES: Readonly<Record<NumberParameter, readonly string[]>> = {
  temperature: ['temperature'],
  top_p: ['top_p'],
  frequency_penalty: ['frequency_penalty'],
  presence_penalty: ['presence_penalty'],
  seed: ['seed'],
  max_tokens: ['max_completion_tokens', 'max_tokens', 'max_output_tokens'],
  dimensions: ['dimensions'],
}

/** A number that a double cannot hold would be shown as another one. */
function exactNumber(text: string): number | undefined {
  const number = Number(text)
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : undefined
}

/** How members with text for the model are read. */
const READ: Readonly<Record<PromptMember, (value: unknown) => readonly PromptEntry[]>> = {
  system: readSystem,
  instructions: readSystem,
  messages: (value) => elementsOf(value).map((message) => readMessage(message, ' ')),
  input: readInput,
}

/** Undefined for text with broken escapes, which a scan does not see. */
function parseValue(value: Uint8Array): unknown {
  try {
    return JSON.parse(decodeText(value, 0, value.length))
  } catch {
    return undefined
  }
}

function readSystem(value: unknown): PromptEntry[] {
  return value == null ? [] : [{ role: 'system', content: flattenContent(value, '\n') }]
}

/** A text, several texts, or items, of which only messages count. */
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
