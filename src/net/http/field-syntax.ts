/** Syntax elements in which a byte is valid; bits of `CHARACTER` (RFC 9110, 5.6.2 and 5.5; RFC 9112, 3.2). */
export const TOKEN = 1
export const FIELD_VALUE = 2
export const TARGET = 4
export const HOST = 8
/** A token without lower-case letters, as all registered methods are. */
export const METHOD = 16
/** A field value in ASCII. */
const ASCII_VALUE = 32

/** One entry per byte, the sum of the bits above. */
export const CHARACTER: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) => bitsOf(code))

function bitsOf(code: number): number {
  let bits = 0
  if (code === 9 || (code >= 32 && code !== 127)) bits |= code < 128 ? FIELD_VALUE | ASCII_VALUE : FIELD_VALUE
  // Clients never send a fragment. A server that truncates the target at '#' would serve a different path than the gateway matched.
  if (code > 32 && code < 127 && code !== 35) bits |= TARGET
  const text = String.fromCharCode(code)
  if (/[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(text)) bits |= TOKEN
  if (/[!#$%&'*+\-.^_`|~0-9A-Z]/.test(text)) bits |= METHOD
  if (/[-._0-9A-Za-z]/.test(text)) bits |= HOST
  return bits
}

/** Whether `text` is a valid field name: a token (RFC 9110, 5.6.2). */
export function isFieldName(text: string): boolean {
  return text.length > 0 && consistsOf(text, TOKEN)
}

/**
 * Whether `text` is an accepted method. Methods are case-sensitive (RFC 9110, 9.1), but many servers treat `delete` as DELETE, which
 * would bypass a rule for DELETE. Therefore lower-case letters are refused (decision A-135).
 */
export function isMethod(text: string): boolean {
  return text.length > 0 && consistsOf(text, METHOD)
}

declare const checked: unique symbol
/** A valid field value: a head takes it without another check. */
export type FieldValue = string & { readonly [checked]: true }

/** Whether `text` is a valid field value: byte text without CR, LF, NUL or other controls (RFC 9110, 5.5). */
export function isFieldValue(text: string): text is FieldValue {
  return consistsOf(text, FIELD_VALUE)
}

/** Whether `text` is a valid field value that is the same as text and as byte text. */
export function isAsciiFieldValue(text: string): text is FieldValue {
  return consistsOf(text, ASCII_VALUE)
}

/** Whether `text` is a valid request target in any form (RFC 9112, 3.2). */
export function isTarget(text: string): boolean {
  return text.length > 0 && consistsOf(text, TARGET)
}

const AUTHORITY = /^(?:[-._0-9A-Za-z]+|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?$/

/** Whether `text` is a host with an optional port: a name, an IPv4 address or an IPv6 address in brackets. */
export function isAuthority(text: string): boolean {
  return AUTHORITY.test(text)
}

/** The host of an authority, in its original form. */
export function withoutPort(authority: string): string {
  const colon = authority.indexOf(':', authority.indexOf(']') + 1)
  return colon < 0 ? authority : authority.slice(0, colon)
}

/** A character that is no byte has no entry, and so none of the bits. */
function consistsOf(text: string, bit: number): boolean {
  for (let i = 0; i < text.length; i++) if ((CHARACTER[text.charCodeAt(i)]! & bit) === 0) return false
  return true
}
