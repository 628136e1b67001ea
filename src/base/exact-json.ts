/** A number as it was written, because a double would change it; `JSON.stringify` writes it out unchanged. */
export interface RawNumber {
  readonly rawJSON: string
}

/** ECMAScript's JSON source text access, which the type library does not know yet. */
interface SourceTextJson {
  parse(text: string, revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  rawJSON(text: string): RawNumber
  /** Missing in older browsers, which have no such numbers either. */
  isRawJSON?: (value: unknown) => value is RawNumber
}
const json = JSON as unknown as SourceTextJson

/** Fewer digits always fit a double. Also finds digits inside strings, which only costs time. */
const MANY_DIGITS = /[0-9]{16}/

/**
 * Parses JSON so that writing it again keeps the numbers: what passes through the gateway may hold 64-bit identifiers.
 *
 * @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  return MANY_DIGITS.test(text) ? json.parse(text, keepNumber) : JSON.parse(text)
}

export function isRawNumber(value: unknown): value is RawNumber {
  return json.isRawJSON?.(value) === true
}

function keepNumber(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || source.length < 16) return value
  return String(value) === source ? value : json.rawJSON(source)
}
