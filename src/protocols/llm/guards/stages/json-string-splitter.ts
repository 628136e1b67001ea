import { parseJson } from '#base/parse-json.ts'

/** A part of a string in a JSON text. Everything between strings is structure, numbers and literals. */
export type JsonPart =
  | { readonly kind: 'begin'; readonly isKey: boolean }
  /**
   * Decoded text. What it is decoded from ends with the pushed text from `start` to `end`, and may begin with text that waited. If `end` is negative, it ends
   * so many units before the pushed text.
   */
  | { readonly kind: 'inside'; readonly text: string; readonly start: number; readonly end: number }
  | { readonly kind: 'end' }

const VALUE = '{["-0123456789tfn'

/** What can come next, besides space (RFC 8259, 2). */
const EXPECTED = {
  /** Arguments are an object, a list or a string (`beginsArguments`). */
  arguments: '{["',
  value: VALUE,
  element: `${VALUE}]`,
  member: '"}',
  name: '"',
  colon: ':',
  end: ',]}',
} as const

/** What is nested deeper is no JSON: a stream may go on for a long time. */
const MAX_DEPTH = 10_000

const SPACE = ' \t\n\r'
const DIGITS = '0123456789'

/** How numbers and literals go on (RFC 8259, 3 and 6). A state is named after the shortest text that leads to it. */
const STEPS: readonly (readonly [from: string, chars: string, to: string])[] = [
  ['', '-', '-'],
  ['', '0', '0'],
  ['', '123456789', '1'],
  ['-', '0', '0'],
  ['-', '123456789', '1'],
  ['1', DIGITS, '1'],
  ['0', '.', '0.'],
  ['1', '.', '0.'],
  ['0.', DIGITS, '0.0'],
  ['0.0', DIGITS, '0.0'],
  ['0', 'eE', '0e'],
  ['1', 'eE', '0e'],
  ['0.0', 'eE', '0e'],
  ['0e', '+-', '0e+'],
  ['0e', DIGITS, '0e0'],
  ['0e+', DIGITS, '0e0'],
  ['0e0', DIGITS, '0e0'],
  ...['true', 'false', 'null'].flatMap((literal) =>
    [...literal].map((char, at) => [literal.slice(0, at), char, literal.slice(0, at + 1)] as const),
  ),
]
/** By state, the next one by the next character. */
const NEXT_STATES: ReadonlyMap<string, ReadonlyMap<string, string>> = nextStates()

function nextStates(): Map<string, Map<string, string>> {
  const states = new Map<string, Map<string, string>>()
  for (const [from, chars, to] of STEPS) {
    const next = states.get(from) ?? new Map<string, string>()
    states.set(from, next)
    for (const char of chars) next.set(char, to)
  }
  return states
}

const FIRST_STATES = NEXT_STATES.get('')!
/** States in which a number or literal can end. */
const WHOLE: ReadonlySet<string> = new Set(['0', '1', '0.0', '0e0', 'true', 'false', 'null'])

// Characters as they are written in a string (RFC 8259, 7). The first half of a surrogate pair waits for what follows it.
const PLAIN = String.raw`[ !#-[\]-\ud7ff\udc00-\uffff]`
const LOW = String.raw`[\udc00-\udfff]|\\u[dD][c-fC-F][\da-fA-F]{2}`
const HIGH = String.raw`[\ud800-\udbff]|\\u[dD][89abAB][\da-fA-F]{2}`
const ESCAPE = String.raw`\\["\\/bfnrt]|\\u(?![dD][89abAB])[\da-fA-F]{4}`
/** Characters without an escape, or one that is escaped: if it is masked, the others stay as they are written. */
const PIECE = new RegExp(
  String.raw`(?:${PLAIN}|[\ud800-\udbff][\udc00-\udfff])+|${ESCAPE}|(?:${HIGH})(?:${LOW}|(?=${PLAIN}|${ESCAPE}|${HIGH}|"))`,
  'y',
)
const INCOMPLETE = new RegExp(String.raw`^(?:${HIGH})?(?:\\(?:u[\da-fA-F]{0,3})?)?$`)

/**
 * Finds the strings in the JSON text of arguments, which arrives in pieces. An incomplete character of a string, number or literal waits for the next piece, and so
 * does white space before the first value: where the text was split does not matter.
 */
export class JsonStringSplitter {
  #expected: keyof typeof EXPECTED = 'arguments'
  /** What closes the open objects and lists, outermost first. */
  readonly #open: string[] = []
  #isInside = false
  /** In a string, the beginning of a character that is not complete. */
  #half = ''
  /** The state of the number or literal that is being read; empty: none. */
  #scalar = ''
  #isBroken = false

  /** The text is no JSON. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  /** The text begins as JSON. */
  get hasBegun(): boolean {
    return this.#expected !== 'arguments' || this.#isInside
  }

  get #expectsKey(): boolean {
    return this.#expected === 'member' || this.#expected === 'name'
  }

  /** The string that has begun. */
  get string(): 'key' | 'value' | undefined {
    if (!this.#isInside) return undefined
    return this.#expectsKey ? 'key' : 'value'
  }

  /** In a string, a character has begun. */
  get isInCharacter(): boolean {
    return this.#half !== ''
  }

  /** @returns up to where the text is settled. What is behind that waits, with all that has waited before; or it is no JSON, if the text is broken. */
  push(text: string, take: (part: JsonPart) => void): number {
    let settled = 0
    let at = 0
    while (at < text.length) {
      if (this.#isInside) {
        settled = this.#readString(text, at, take)
        if (this.#isInside) return settled
        at = settled
        continue
      }
      if (!this.#follow(text.charAt(at), take)) {
        this.#isBroken = true
        return settled
      }
      at++
      if (this.#scalar === '' && this.hasBegun) settled = at
    }
    return settled
  }

  /** @returns whether the character can be here */
  #follow(char: string, take: (part: JsonPart) => void): boolean {
    if (this.#scalar !== '') {
      const state = NEXT_STATES.get(this.#scalar)?.get(char)
      if (state !== undefined) {
        this.#scalar = state
        return true
      }
      if (!WHOLE.has(this.#scalar)) return false
      this.#scalar = ''
    }
    if (SPACE.includes(char)) return true
    if (!EXPECTED[this.#expected].includes(char)) return false
    switch (char) {
      case '{':
        this.#expected = 'member'
        return this.#open.push('}') <= MAX_DEPTH
      case '[':
        this.#expected = 'element'
        return this.#open.push(']') <= MAX_DEPTH
      case '"':
        this.#isInside = true
        take({ kind: 'begin', isKey: this.#expectsKey })
        return true
      case ':':
        this.#expected = 'value'
        return true
      case ',':
        this.#expected = this.#open.at(-1) === '}' ? 'name' : 'value'
        return this.#open.length > 0
      case ']':
      case '}':
        this.#expected = 'end'
        return this.#open.pop() === char
      default:
        this.#expected = 'end'
        this.#scalar = FIRST_STATES.get(char)!
        return true
    }
  }

  /** @returns up to where the text is settled */
  #readString(text: string, at: number, take: (part: JsonPart) => void): number {
    const offset = at - this.#half.length
    const written = this.#half + text.slice(at)
    this.#half = ''
    let length = 0
    for (let end = endOfPiece(written, 0); end > length; end = endOfPiece(written, end)) {
      const start = Math.max(at, offset + length)
      // It ends before the pushed text if it is a half of a character that no other half follows.
      take({ kind: 'inside', text: decode(written.slice(length, end)), start, end: offset + end })
      length = end
    }
    if (written[length] === '"') {
      this.#isInside = false
      this.#expected = this.#expectsKey ? 'colon' : 'end'
      take({ kind: 'end' })
      return offset + length + 1
    }
    const rest = written.slice(length)
    if (INCOMPLETE.test(rest)) this.#half = rest
    else this.#isBroken = true
    return Math.max(0, offset + length)
  }
}

/** Where the piece ends that begins at a position; that position if there is none. */
function endOfPiece(written: string, start: number): number {
  PIECE.lastIndex = start
  return PIECE.test(written) ? PIECE.lastIndex : start
}

function decode(written: string): string {
  if (!written.includes('\\')) return written
  return parseJson(`"${written}"`) as string
}
