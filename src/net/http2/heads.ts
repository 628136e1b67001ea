import { isConnectionLevel } from '../http/field-name.ts'
import { isAuthority, isFieldName, isFieldValue, isMethod, isTarget } from '../http/field-syntax.ts'
import type { Head } from '../http/head.ts'
import {
  EXPECTATION_FAILED,
  HEADERS_TOO_LARGE,
  HOST_INVALID,
  MALFORMED,
  METHOD_NOT_IMPLEMENTED,
} from '../http/head-outcome.ts'
import { foldName } from '../http/same-name.ts'
import { isHeadOnly } from '../http/trailer-fields.ts'
import { type HeadLimits, MAX_METHOD_BYTES } from '../limits.ts'
import type { TrailerGate } from '../stream.ts'

/** Size of a field in addition to its text (RFC 9113, 6.5.2). */
const FIELD_OVERHEAD = 32

/**
 * Converts the fields of an HTTP/2 request (alternating names and values) to the head of the same request in HTTP/1.1, so an HTTP/1.1
 * server gets exactly the text that was checked here. As strict as `parseRequestHead`.
 * @param head an empty head
 * @returns 0, or a negative result of `head-outcome.ts`
 */
export function readRequestFields(fields: readonly string[], head: Head, limits: HeadLimits): number {
  const pseudo = readPseudoFields(fields)
  if (pseudo === MALFORMED) return MALFORMED
  const { method, path, authority, host, count } = pseudo
  if (method === undefined || !isFieldName(method)) return MALFORMED
  if (method.length > MAX_METHOD_BYTES || !isMethod(method)) return METHOD_NOT_IMPLEMENTED
  const named = authority ?? host
  if (named === undefined || !isAuthority(named)) return HOST_INVALID
  // Different hosts in `:authority` and Host could bypass routing rules (decision A-50).
  if (host !== undefined && host.toLowerCase() !== named.toLowerCase()) return HOST_INVALID
  const target = method === 'CONNECT' ? connectTarget(path, named) : pathTarget(path, method)
  if (target === undefined) return MALFORMED
  head.methodEnd = method.length
  head.targetEnd = method.length + 1 + target.length
  head.startLineEnd = head.targetEnd + 11
  head.startLineKept = true
  head.hostField = 0
  const text = addField(head, `${method} ${target} HTTP/1.1\r\n`, 'host', named)
  return readFields(fields, 2 * count, text, head, limits, noteRequestField)
}

/** Like `readRequestFields`, for a response. */
export function readResponseFields(fields: readonly string[], head: Head, limits: HeadLimits): number {
  const status = fields[0] === ':status' ? fields[1]! : ''
  if (!/^[1-9][0-9]{2}$/.test(status)) return MALFORMED
  head.receivedStatus(Number(status))
  return readFields(fields, 2, '', head, limits, noteResponseField)
}

/** Reads trailers; fields that are only valid before a body are omitted (RFC 9110, 6.5.1). */
export function readTrailerFields(fields: readonly string[], head: Head, limits: HeadLimits): number {
  return readFields(fields, 0, '', head, limits, noteTrailerField)
}

/** The fields of a request: alternating names and values. @param length as in `Head.writeRequest` */
export function requestFields(head: Head, scheme: 'http' | 'https', length: number): string[] {
  const { method, authority, target } = head
  const fields = [':method', method, ':authority', authority]
  if (method !== 'CONNECT') fields.push(':scheme', scheme, ':path', target)
  head.each((name, value) => {
    if (name !== 'host' && travels(name)) fields.push(name, value)
  })
  if (head.takesTrailers) fields.push('te', 'trailers')
  if (length >= 0) fields.push('content-length', String(length))
  return fields
}

/** The fields of a response: alternating names and values. @param length as in `Head.writeResponse` */
export function responseFields(head: Head, length: number): string[] {
  const fields = [':status', String(head.status)]
  head.each((name, value) => {
    if (travels(name)) fields.push(name, value)
  })
  if (length >= 0) fields.push('content-length', String(length))
  return fields
}

/** The size of a field list of alternating names and values (RFC 9113, 6.5.2). */
export function listBytes(fields: readonly string[]): number {
  // Half of the entries are names.
  let bytes = (FIELD_OVERHEAD / 2) * fields.length
  for (let i = 0; i < fields.length; i++) bytes += fields[i]!.length
  return bytes
}

/**
 * The fields of a head as an object, the only form that node:http2 accepts for interim responses and trailers. It has no prototype,
 * because `constructor` is a valid field name.
 */
export function fieldObject(head: Head, gate?: TrailerGate): Record<string, string[]> {
  const object = Object.create(null) as Record<string, string[]>
  head.each((name, value) => {
    if (!travels(name) || gate?.admits(name) === false) return
    object[name] ??= []
    object[name].push(value)
  })
  return object
}

/** Like `listBytes`, for fields as an object. */
export function objectBytes(fields: Readonly<Record<string, readonly string[]>>): number {
  let bytes = 0
  for (const name in fields) for (const value of fields[name]!) bytes += sizeOf(name, value)
  return bytes
}

interface PseudoFields {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly authority: string | undefined
  readonly host: string | undefined
  /** The number of pseudo-header fields. */
  readonly count: number
}

/** Reads the pseudo-header fields, which become the request line and the Host field (RFC 9113, 8.3.1). */
function readPseudoFields(fields: readonly string[]): PseudoFields | typeof MALFORMED {
  let method: string | undefined
  let path: string | undefined
  let authority: string | undefined
  let host: string | undefined
  let count = 0
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!
    const value = fields[i + 1]!
    if (name === 'host') {
      if (host !== undefined) return MALFORMED
      host = value
    }
    if (name[0] !== ':') continue
    if (i !== 2 * count) return MALFORMED
    count++
    if (name === ':method' && method === undefined) method = value
    else if (name === ':path' && path === undefined) path = value
    else if (name === ':authority' && authority === undefined) authority = value
    else if (name !== ':scheme') return MALFORMED
  }
  return { method, path, authority, host, count }
}

function pathTarget(path: string | undefined, method: string): string | undefined {
  if (path === undefined || !isTarget(path)) return undefined
  return path[0] === '/' || (path === '*' && method === 'OPTIONS') ? path : undefined
}

/** The target of CONNECT: it has no path, and its authority is `host:port` (RFC 9113, 8.5). */
function connectTarget(path: string | undefined, authority: string): string | undefined {
  return path === undefined && /:[0-9]+$/.test(authority) ? authority : undefined
}

/** Results of `NoteField`. */
const KEEP = 0
const DROP = 1
/** Processes a field. @returns one of the above, or a negative result */
type NoteField = (head: Head, name: string, value: string) => number

/** Appends the fields from index `from` on to `start`, the text so far. @returns 0 or a negative result */
function readFields(
  fields: readonly string[],
  from: number,
  start: string,
  head: Head,
  limits: HeadLimits,
  note: NoteField,
): number {
  let text = start
  let cookie = ''
  let bytes = 0
  for (let i = 0; i < from; i += 2) bytes += sizeOf(fields[i]!, fields[i + 1]!)
  for (let i = from; i < fields.length; i += 2) {
    const name = fields[i]!
    const value = fields[i + 1]!
    bytes += sizeOf(name, value)
    if (bytes > limits.maxHeadBytes) return HEADERS_TOO_LARGE
    if (!isLowerName(name) || !isFieldValue(value) || isPadded(value)) return MALFORMED
    const noted = note(head, name, value)
    if (noted < 0) return noted
    if (noted === DROP) continue
    // Split Cookie fields are joined (RFC 9113, 8.2.3).
    if (name === 'cookie') cookie += cookie === '' || value === '' ? value : `; ${value}`
    else if (head.received === limits.maxHeaders) return HEADERS_TOO_LARGE
    else text = addField(head, text, name, value)
  }
  if (cookie !== '') text = addField(head, text, 'cookie', cookie)
  head.text = `${text}\r\n`
  return 0
}

/** Names must be lower case (RFC 9113, 8.2.1), and rules expect that. */
function isLowerName(name: string): boolean {
  return isFieldName(name) && name === name.toLowerCase()
}

/** Whether a value has whitespace around it, which HTTP/1.1 does not treat as part of the value (RFC 9113, 8.2.1). */
function isPadded(value: string): boolean {
  return isSpace(value.charCodeAt(0)) || isSpace(value.charCodeAt(value.length - 1))
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9
}

function sizeOf(name: string, value: string): number {
  return name.length + value.length + FIELD_OVERHEAD
}

/** Appends a field and records its offsets in `head`. @returns the new text */
function addField(head: Head, text: string, name: string, value: string): string {
  const at = head.received++
  head.reserve(at + 1)
  const { offsets } = head
  const start = text.length
  offsets[4 * at] = start
  offsets[4 * at + 1] = start + name.length
  offsets[4 * at + 2] = start + name.length + 2
  offsets[4 * at + 3] = start + name.length + 2 + value.length
  head.dropped[at] = 0
  head.nameLengths |= 1 << name.length
  return `${text}${name}: ${value}\r\n`
}

function noteRequestField(head: Head, name: string, value: string): number {
  switch (name) {
    case 'te':
      if (value.toLowerCase() !== 'trailers') return MALFORMED
      head.takesTrailers = true
      return DROP
    case 'expect':
      // The gateway answers the expectation itself, so the field is not forwarded (RFC 9110, 10.1.1).
      if (value.toLowerCase() !== '100-continue') return EXPECTATION_FAILED
      head.expectsContinue = true
      return DROP
    case 'host':
    case 'proxy-authenticate':
      return DROP
    default:
      return noteResponseField(head, name, value)
  }
}

function noteResponseField(head: Head, name: string, value: string): number {
  if (name === 'content-length') return noteLength(head, value)
  if (name === 'trailer' || name === 'http2-settings') return DROP
  // Connection-level fields are invalid in HTTP/2 and could affect an HTTP/1.1 connection to a backend (RFC 9113, 8.2.2).
  return isConnectionLevel(name) ? MALFORMED : KEEP
}

function noteTrailerField(_head: Head, name: string): number {
  const foldedName = foldName(name)
  return isHeadOnly(foldedName) ? DROP : KEEP
}

/** Like `noteLength` of HTTP/1: accepts only digits that every parser reads as the same number. */
function noteLength(head: Head, value: string): number {
  if (!/^(?:0|[1-9][0-9]{0,14})$/.test(value) || head.contentLength >= 0) return MALFORMED
  head.contentLength = Number(value)
  head.lengthField = head.received
  return KEEP
}

/** Whether a field of a head is sent in an HTTP/2 message; Content-Length is written from the framing. */
function travels(name: string): boolean {
  return name !== 'http2-settings' && !isConnectionLevel(name)
}
