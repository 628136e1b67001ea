import { parseJson } from './parse-json.ts'

/** The source text of a number that a double would print differently. `JSON.stringify` writes it unchanged. */
export interface RawNumber {
  readonly rawJSON: string
}

/** ECMAScript's JSON source text access, which the type library does not have yet. */
interface SourceTextJson {
  /** Missing in older browsers. */
  rawJSON?: (text: string) => RawNumber
  isRawJSON?: (value: unknown) => value is RawNumber
}
const json = JSON as unknown as SourceTextJson

/**
 * Finds every number that a double would print differently: many digits, `-0`, `1.0`, `1e3`. It may also match in strings and match exact
 * numbers, which only costs time.
 */
const DELICATE_NUMBER = /(?:^|[:,[\s])(?:-0|-?(?:[\d.]{16}|\d+\.\d*0(?!\d)|\d+(?:\.\d+)?[eE]))/

/** Whether exact parsing of a text is slow: some of its numbers must be examined one by one. */
export function isDelicate(text: string): boolean {
  return DELICATE_NUMBER.test(text)
}

/**
 * Parses JSON so that serializing it preserves every number: forwarded messages may contain 64-bit identifiers, and receivers may
 * distinguish `1.0` from `1`.
 *
 * @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  return parseJson(text, isDelicate(text) ? readExactNumber : undefined)
}

export function isRawNumber(value: unknown): value is RawNumber {
  return json.isRawJSON?.(value) === true
}

/** The nearest double of a number of either kind; undefined for other values. */
export function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return isRawNumber(value) ? Number(value.rawJSON) : undefined
}

/**
 * A value that `JSON.stringify` writes as this number. If the runtime does not support it, the text itself, which becomes a JSON string.
 */
export function rawNumber(text: string): RawNumber | string {
  return json.rawJSON?.(text) ?? text
}

function readExactNumber(text: string): unknown {
  const value = Number(text)
  return String(value) === text ? value : (json.rawJSON?.(text) ?? value)
}
