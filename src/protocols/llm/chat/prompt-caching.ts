import { JsonPieces, type JsonText } from '../json/write-json.ts'
import type { BackendAiSpec } from '../settings/policy-schema.ts'
import type { Conversation, Part } from './conversation.ts'

/** Cache points that the gateway adds (specification 2, 2.4, `PromptCachingConfig`). */
export type PromptCaching = NonNullable<BackendAiSpec['promptCaching']>

const TOKENS_PER_WORD = 1.3

const encoder = new TextEncoder()

/** Whether the texts of the prompt, tools included, are estimated at no fewer tokens. */
export function reachesTokens(conversation: Conversation, tokens: number): boolean {
  const words = new WordCount(tokens / TOKENS_PER_WORD)
  for (const { name, description, parameters } of conversation.tools) {
    words.addName(name)
    if (description !== undefined) words.addString(description)
    if (parameters !== undefined) words.addJson(parameters)
  }
  for (const { parts } of conversation.turns) if (countParts(parts, words)) return true
  return words.isEnough
}

function countParts(parts: readonly Part[], words: WordCount): boolean {
  for (const part of parts) {
    if (words.isEnough) return true
    switch (part.kind) {
      case 'text':
        words.addString(part.text)
        break
      case 'file':
        if (part.source.kind === 'text') words.addString(part.source.text)
        break
      case 'call':
        words.addName(part.name)
        words.addJson(part.input)
        break
      case 'result':
        countParts(part.parts, words)
    }
  }
  return words.isEnough
}

const SPACE = 0x20
const BACKSLASH = 0x5c
/** `n`, `r` and `t`: the letters of escaped white space. */
const SPACE_LETTERS: readonly (number | undefined)[] = [0x6e, 0x72, 0x74]
/** Separates the words of JSON. */
const PUNCTUATION: readonly number[] = [...encoder.encode('{}[]:,"')]
/** Begins and ends a string; within it, quotes are escaped. */
const QUOTES: readonly number[] = [...encoder.encode('"')]

class WordCount {
  readonly #enough: number
  #words = 0

  constructor(enough: number) {
    this.#enough = enough
  }

  get isEnough(): boolean {
    return this.#words >= this.#enough
  }

  addName(name: string): void {
    if (name !== '') this.#words++
  }

  addString(text: JsonText): void {
    this.#add(text, QUOTES)
  }

  addJson(json: JsonText): void {
    this.#add(json, PUNCTUATION)
  }

  #add(text: JsonText, separators: readonly number[]): void {
    const pieces = text instanceof JsonPieces ? text.pieces : [text]
    for (const piece of pieces) {
      if (this.isEnough) return
      this.#addBytes(typeof piece === 'string' ? encoder.encode(piece) : piece, separators)
    }
  }

  #addBytes(bytes: Uint8Array, separators: readonly number[]): void {
    let isWithin = false
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!
      const isEscape = byte === BACKSLASH
      const isSpace = isEscape ? SPACE_LETTERS.includes(bytes[at + 1]) : byte <= SPACE || separators.includes(byte)
      if (!isSpace && !isWithin) this.#words++
      isWithin = !isSpace
      if (isEscape) at++
    }
  }
}
