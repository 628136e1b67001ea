import type { Head } from '#net/http/head.ts'

/**
 * The canonical form of a request in Signature Version 4 ("Create a signed AWS API request", step 1). It depends only on what no server on the
 * way changes: method, target, and the fields of `isSigned`.
 */
export interface CanonicalRequest {
  /** Byte text without the final line, which is the digest of the body. */
  readonly text: string
  /** `content-type;host;x-amz-date` */
  readonly signedHeaders: string
}

/**
 * @param encodesPathTwice all services except S3 sign the path as they would encode the received one again, and without empty and dot segments
 */
export function canonicalRequest(request: Head, encodesPathTwice: boolean): CanonicalRequest {
  const { method, target } = request
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  const fields = signedFields(request)
  const signedHeaders = fields.map(([name]) => name).join(';')
  const lines = fields.map(([name, value]) => `${name}:${value}\n`).join('')
  const uri = encodesPathTwice ? encodeBytes(normalizePath(path), true) : encodeOnce(path, true)
  const query = mark < 0 ? '' : canonicalQuery(target.slice(mark + 1))
  return { text: `${method}\n${uri}\n${query}\n${lines}\n${signedHeaders}\n`, signedHeaders }
}

/** Fields that servers on the way may change, such as `user-agent`, `via` and `x-amzn-trace-id`, are not signed. */
function isSigned(lowerName: string): boolean {
  switch (lowerName) {
    case 'host':
    case 'content-type':
    case 'date':
      return true
    case 'x-amzn-trace-id':
      return false
    default:
      return lowerName.startsWith('x-amz-') || lowerName.startsWith('x-amzn-')
  }
}

/** Sorted by name; values of one name are joined, runs of white space count as one space. */
function signedFields(request: Head): readonly (readonly [name: string, value: string])[] {
  const fields: [name: string, value: string][] = []
  request.each((name, value) => {
    if (!isSigned(name)) return
    const text = value.trim().replace(/[ \t]+/g, ' ')
    const before = fields.find(([known]) => known === name)
    if (before === undefined) fields.push([name, text])
    else before[1] += `,${text}`
  })
  return fields.sort(([a], [b]) => (a < b ? -1 : 1))
}

function normalizePath(path: string): string {
  if (!/\/(?:\/|\.)/.test(path)) return path
  const kept: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop()
    else if (segment !== '' && segment !== '.') kept.push(segment)
  }
  return kept.length === 0 ? '/' : `/${kept.join('/')}${path.endsWith('/') ? '/' : ''}`
}

/** `+` counts as a space, as in forms. */
function canonicalQuery(query: string): string {
  const pairs: [name: string, value: string][] = []
  for (const parameter of query.split('&')) {
    if (parameter === '') continue
    const equals = parameter.indexOf('=')
    const name = equals < 0 ? parameter : parameter.slice(0, equals)
    const value = equals < 0 ? '' : parameter.slice(equals + 1)
    pairs.push([encodeQueryText(name), encodeQueryText(value)])
  }
  pairs.sort(([a, x], [b, y]) => (a === b ? compare(x, y) : compare(a, b)))
  return pairs.map(([name, value]) => `${name}=${value}`).join('&')
}

function encodeQueryText(text: string): string {
  return encodeOnce(text.replaceAll('+', '%20'), false)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The text with exactly the unreserved characters unescaped (RFC 3986, 2.3); what is escaped already stays escaped. */
function encodeOnce(text: string, keepsSlash: boolean): string {
  if (!text.includes('%')) return encodeBytes(text, keepsSlash)
  return text
    .split(/(%[0-9A-Fa-f]{2})/)
    .map((part, at) => (at % 2 === 0 ? encodeBytes(part, keepsSlash) : recode(part)))
    .join('')
}

function recode(escaped: string): string {
  return encodeBytes(String.fromCharCode(Number.parseInt(escaped.slice(1), 16)), false)
}

function encodeBytes(text: string, keepsSlash: boolean): string {
  return text.replace(keepsSlash ? /[^A-Za-z0-9\-._~/]/g : /[^A-Za-z0-9\-._~]/g, escapeByte)
}

function escapeByte(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}
