/** A part of a JSON text. */
export type JsonPart =
  /** Structure, numbers and literals. */
  | { readonly kind: 'outside'; readonly text: string }
  | { readonly kind: 'begin'; readonly isKey: boolean }
  /** Decoded text of the string. */
  | { readonly kind: 'inside'; readonly text: string }
  | { readonly kind: 'end' }

/** Structure and space (RFC 8259, 2). */
const STRUCTURE = /[\s{}[\]:,]/

/** A number or literal, or the beginning of one (RFC 8259, 3 and 6). */
const SCALAR = /^(?:-?[0-9]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]*)?|t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?)$/

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** Splits JSON text that arrives in pieces into its strings and what is between them. An escape that is not complete waits. */
export class JsonStringSplitter {
  /** Whether each open object or list is an object. Undefined: none is open, as in all texts that are complete. */
  #isObject: boolean[] | undefined
  #expectsKey = false
  #isInside = false
  /** The number or literal that is being read. */
  #scalar = ''
  /** A value has ended: another one needs a comma or a colon before it. */
  #isAfterValue = false
  /** The beginning of an escape. */
  #escape = ''

  /** The beginning of an escape, which waits. */
  get pending(): string {
    return this.#escape
  }

  /** @returns the text from where it is no JSON; undefined: it is JSON so far */
  push(text: string, take: (part: JsonPart) => void): string | undefined {
    let at = 0
    while (at < text.length) {
      const next = this.#isInside ? this.#readString(text, at, take) : this.#readOutside(text, at, take)
      if (typeof next === 'string') return next
      at = next
    }
    return undefined
  }

  #readOutside(text: string, start: number, take: (part: JsonPart) => void): number | string {
    const quote = text.indexOf('"', start)
    let end = start
    for (const char of text.slice(start, quote < 0 ? text.length : quote)) {
      if (!this.#follow(char)) break
      end += char.length
    }
    if (end > start) take({ kind: 'outside', text: text.slice(start, end) })
    if (end === text.length) return end
    if (end !== quote || this.#scalar !== '' || this.#isAfterValue) return text.slice(end)
    this.#isInside = true
    take({ kind: 'begin', isKey: this.#expectsKey })
    return quote + 1
  }

  /** @returns false if the character cannot be here: text outside of strings is not checked */
  #follow(char: string): boolean {
    if (!STRUCTURE.test(char)) {
      if (this.#isAfterValue) return false
      this.#scalar += char
      return SCALAR.test(this.#scalar)
    }
    if (this.#scalar !== '') {
      this.#scalar = ''
      this.#isAfterValue = true
    }
    if (char === ',' || char === ':') this.#isAfterValue = false
    if (char === '{' || char === '[') this.#open(char === '{')
    if (char === '}' || char === ']') this.#close()
    if (char === '{' || char === '[' || char === ',') this.#expectsKey = this.#isObject?.at(-1) === true
    if (char === ':') this.#expectsKey = false
    return true
  }

  #open(isObject: boolean): void {
    this.#isObject ??= []
    this.#isObject.push(isObject)
  }

  #close(): void {
    this.#isObject?.pop()
    if (this.#isObject?.length === 0) this.#isObject = undefined
  }

  #readString(text: string, start: number, take: (part: JsonPart) => void): number | string {
    let decoded = ''
    let rest: string | undefined
    let at = start
    for (; at < text.length; at++) {
      const char = text[at]!
      const begun = this.#escape
      if (begun !== '') {
        const read = this.#readEscape(char)
        if (read === undefined) rest = begun + text.slice(at)
        else decoded += read
      } else if (char === '\\') this.#escape = char
      else if (char === '"') break
      else if (char < ' ') rest = text.slice(at)
      else decoded += char
      if (rest !== undefined) break
    }
    if (decoded !== '') take({ kind: 'inside', text: decoded })
    if (rest !== undefined) return rest
    if (at === text.length) return at
    this.#isInside = false
    this.#isAfterValue = true
    take({ kind: 'end' })
    return at + 1
  }

  /** @returns the character of a complete escape, empty for an incomplete one; undefined: it is invalid */
  #readEscape(char: string): string | undefined {
    this.#escape += char
    const letter = this.#escape[1]!
    if (letter !== 'u') {
      this.#escape = ''
      return '"\\/'.includes(letter) ? letter : ESCAPES[letter]
    }
    if (this.#escape.length < 6) return ''
    const code = this.#escape.slice(2)
    this.#escape = ''
    return /^[0-9a-fA-F]{4}$/.test(code) ? String.fromCharCode(Number.parseInt(code, 16)) : undefined
  }
}
