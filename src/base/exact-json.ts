/** A number as it was written, because a double is written otherwise; `JSON.stringify` writes it out unchanged. */
export interface RawNumber {
  readonly rawJSON: string
}

/** ECMAScript's JSON source text access, which the type library does not know yet. */
interface SourceTextJson {
  parse(text: string, revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  /** Missing in older browsers. */
  rawJSON?: (text: string) => RawNumber
  isRawJSON?: (value: unknown) => value is RawNumber
}
const json = JSON as unknown as SourceTextJson

/**
 * Finds every number that a double is written otherwise than: many digits, `-0`, `1.0`, `1e3`. May also find such things in strings, and
 * numbers that a double keeps, which only costs time.
 */
const DELICATE_NUMBER = /(?:^|[:,[\s])(?:-0|-?(?:[\d.]{16}|\d+\.\d*0(?!\d)|\d+(?:\.\d+)?[eE]))/

/** Whether reading a text exactly takes long: there is some number to look at one by one. */
export function isDelicate(text: string): boolean {
  return DELICATE_NUMBER.test(text)
}

/**
 * Parses JSON so that writing it again keeps every number: what passes through the gateway may hold 64-bit identifiers, and may care
 * about `1.0`.
 *
 * @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  return isDelicate(text) ? json.parse(text, keepNumber) : JSON.parse(text)
}

export function isRawNumber(value: unknown): value is RawNumber {
  return json.isRawJSON?.(value) === true
}

/** The nearest double of a number of either kind; undefined for anything else. */
export function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return isRawNumber(value) ? Number(value.rawJSON) : undefined
}

/** What `JSON.stringify` writes as this number; the text itself, and so a JSON string, where the runtime cannot. */
export function rawNumber(text: string): RawNumber | string {
  return json.rawJSON?.(text) ?? text
}

function keepNumber(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || String(value) === source) return value
  return json.rawJSON?.(source) ?? value
}
