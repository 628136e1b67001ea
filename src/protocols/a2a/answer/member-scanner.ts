import { parseJson } from '#base/parse-json.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Longer keys and values are those of nothing that is read. */
const MAX_BYTES = 256

const decoder = new TextDecoder()

/**
 * Reads scalars of one JSON text after another, as their bytes arrive. It holds 256 bytes, whatever the length of the text, and skips what is
 * not asked for. It does not check the text.
 */
export class MemberScanner {
  readonly #containers: ReadonlySet<string>
  readonly #visit: (path: string, value: string) => void
  /** Paths of the open objects, each with a dot at its end. */
  readonly #open: string[] = []
  /** Containers that are skipped, nested. */
  #skipped = 0
  #key = ''
  #isKey = false
  #inString = false
  /** The last byte was a backslash that escapes the next one. */
  #escaped = false
  readonly #held = new Uint8Array(MAX_BYTES)
  #heldLength = 0

  /**
   * @param containers paths of the objects whose scalars are read: `result.status`; '' is the outermost one
   * @param visit gets the path of a scalar, and the text of a string or number
   */
  constructor(containers: ReadonlySet<string>, visit: (path: string, value: string) => void) {
    this.#containers = containers
    this.#visit = visit
  }

  /** Begins another text. */
  reset(): void {
    this.#open.length = 0
    this.#skipped = 0
    this.#isKey = false
    this.#inString = false
    this.#escaped = false
    this.#heldLength = 0
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    let at = start
    while (at < end) at = this.#inString ? this.#readString(bytes, at, end) : this.#readOther(bytes, at)
  }

  /** @returns the index after the string, or `end` */
  #readString(bytes: Uint8Array, start: number, end: number): number {
    let at = start
    if (this.#escaped) at++
    this.#escaped = false
    for (;;) {
      const quote = bytes.indexOf(QUOTE, at)
      const stop = quote < 0 || quote >= end ? end : quote
      let before = stop
      while (before > at && bytes[before - 1] === BACKSLASH) before--
      const isEscape = ((stop - before) & 1) === 1
      if (stop === end) {
        this.#escaped = isEscape
        this.#hold(bytes, start, end)
        return end
      }
      at = stop + 1
      if (isEscape) continue
      this.#hold(bytes, start, stop)
      this.#inString = false
      this.#endString()
      return at
    }
  }

  #hold(bytes: Uint8Array, start: number, end: number): void {
    if (this.#skipped > 0) return
    const fits = this.#heldLength + end - start <= MAX_BYTES
    if (fits) this.#held.set(bytes.subarray(start, end), this.#heldLength)
    // A length that is too large is remembered.
    this.#heldLength = fits ? this.#heldLength + end - start : MAX_BYTES + 1
  }

  #endString(): void {
    if (this.#skipped > 0) return
    const text = this.#takeHeld('"')
    if (this.#isKey) this.#key = text ?? ''
    else if (text !== undefined) this.#visitValue(text)
  }

  #readOther(bytes: Uint8Array, at: number): number {
    const byte = bytes[at]!
    switch (byte) {
      case QUOTE:
        this.#inString = true
        this.#heldLength = 0
        break
      case OPEN_BRACE:
        this.#openObject()
        break
      case OPEN_BRACKET:
        this.#skipped++
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.#endNumber()
        if (this.#skipped > 0) this.#skipped--
        else this.#open.pop()
        break
      case COMMA:
        this.#endNumber()
        if (this.#skipped === 0) this.#isKey = true
        break
      case COLON:
        if (this.#skipped === 0) this.#isKey = false
        this.#heldLength = 0
        break
      default:
        if (byte > 0x20 && !this.#isKey) this.#hold(bytes, at, at + 1)
    }
    return at + 1
  }

  #openObject(): void {
    const parent = this.#open.at(-1)
    const path = parent === undefined ? '' : parent + this.#key
    const isOutermost = parent === undefined
    // A member may have an empty name.
    if (this.#skipped > 0 || !this.#containers.has(path) || (path === '') !== isOutermost) {
      this.#skipped++
      return
    }
    this.#open.push(path === '' ? '' : `${path}.`)
    this.#isKey = true
  }

  #endNumber(): void {
    if (this.#skipped > 0 || this.#isKey || this.#heldLength === 0) return
    const text = this.#takeHeld('')
    if (text !== undefined) this.#visitValue(text)
  }

  #takeHeld(quote: '"' | ''): string | undefined {
    const length = this.#heldLength
    this.#heldLength = 0
    if (length > MAX_BYTES) return undefined
    const text = decoder.decode(this.#held.subarray(0, length))
    if (!text.includes('\\')) return text
    try {
      return parseJson(`${quote}${text}${quote}`) as string
    } catch {
      return undefined
    }
  }

  #visitValue(text: string): void {
    const parent = this.#open.at(-1)
    if (parent !== undefined) this.#visit(parent + this.#key, text)
  }
}
