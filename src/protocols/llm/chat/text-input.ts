/** Reads a piece of `{"input":"`, with spaces anywhere between. */
const BEGINNING = /^\s*\{\s*"input"\s*:\s*"/
/** A longer beginning is none. */
const MAX_BEGINNING = 256

const SHORT_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

/**
 * The text in the arguments `{"input": text}` of a call of a tool that takes a text, which arrive in pieces. Other arguments are the text
 * themselves.
 */
export class TextInput {
  #state: 'before' | 'inside' | 'after' | 'other' = 'before'
  /** The beginning, or an escape that is not complete. */
  #held = ''

  /** @returns what the piece adds to the text */
  read(piece: string): string {
    const text = this.#held + piece
    this.#held = ''
    switch (this.#state) {
      case 'before':
        return this.#begin(text)
      case 'inside':
        return this.#decode(text)
      case 'after':
        return ''
      case 'other':
        return text
    }
  }

  /** @returns the rest of the text, when no more pieces come */
  end(): string {
    const rest = this.#state === 'before' ? this.#held : ''
    this.#held = ''
    return rest === '{}' ? '' : rest
  }

  #begin(text: string): string {
    const found = BEGINNING.exec(text)
    if (found !== null) {
      this.#state = 'inside'
      return this.#decode(text.slice(found[0].length))
    }
    if (text.length > MAX_BEGINNING) {
      this.#state = 'other'
      return text
    }
    this.#held = text
    return ''
  }

  #decode(text: string): string {
    let decoded = ''
    let from = 0
    for (let at = 0; at < text.length; at++) {
      const character = text.charCodeAt(at)
      if (character === 0x22) {
        this.#state = 'after'
        return decoded + text.slice(from, at)
      }
      if (character !== 0x5c) continue
      decoded += text.slice(from, at)
      const length = text[at + 1] === 'u' ? 6 : 2
      if (at + length > text.length) {
        this.#held = text.slice(at)
        return decoded
      }
      decoded += decodeEscape(text.slice(at + 1, at + length))
      from = at + length
      at = from - 1
    }
    return decoded + text.slice(from)
  }
}

function decodeEscape(letters: string): string {
  if (letters.length === 5) return String.fromCharCode(Number.parseInt(letters.slice(1), 16))
  return SHORT_ESCAPES[letters] ?? letters
}
