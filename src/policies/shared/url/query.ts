import { toByteText } from '#base/byte-text.ts'

/** Path and query of a request target; the query includes its `?`, or is empty. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?')
  return mark < 0 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark) }
}

/** Values of a query parameter in order, form-decoded, as byte text. */
export function queryValues(target: string, name: string): string[] {
  const mark = target.indexOf('?')
  if (mark < 0) return []
  const wanted = toByteText(name)
  return segmentsOf(target, mark).flatMap((segment) => (nameIn(segment) === wanted ? [valueIn(segment)] : []))
}

/** The target without all occurrences of a query parameter; the rest is unchanged, and an empty query is removed. */
export function withoutQueryParameter(target: string, name: string): string {
  const mark = target.indexOf('?')
  if (mark < 0) return target
  const wanted = toByteText(name)
  const kept = segmentsOf(target, mark).filter((segment) => nameIn(segment) !== wanted)
  const path = target.slice(0, mark)
  return kept.length === 0 ? path : `${path}?${kept.join('&')}`
}

/** The target with a query parameter set to `value` (byte text), replacing all occurrences. */
export function withQueryParameter(target: string, name: string, value: string): string {
  const base = withoutQueryParameter(target, name)
  const segment = `${encode(toByteText(name))}=${encode(value)}`
  return `${base}${base.includes('?') ? '&' : '?'}${segment}`
}

function segmentsOf(target: string, mark: number): string[] {
  return target.slice(mark + 1).split('&')
}

function nameIn(segment: string): string {
  const equals = segment.indexOf('=')
  return decode(equals < 0 ? segment : segment.slice(0, equals))
}

function valueIn(segment: string): string {
  const equals = segment.indexOf('=')
  return equals < 0 ? '' : decode(segment.slice(equals + 1))
}

/** Form decoding to byte text; invalid escapes are unchanged. */
function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  return text
    .replaceAll('+', ' ')
    .replace(/%([0-9A-Fa-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
}

/** Percent-encodes byte text, except the unreserved characters of RFC 3986, 2.3. */
function encode(byteText: string): string {
  return byteText.replace(
    /[^-._~0-9A-Za-z]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
}
