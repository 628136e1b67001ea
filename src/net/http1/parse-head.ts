import { CHARACTER, FIELD_VALUE, HOST, METHOD, TARGET, TOKEN } from '../http/field-syntax.ts'
import type { Head } from '../http/head.ts'
import {
  EXPECTATION_FAILED,
  HEADERS_TOO_LARGE,
  HOST_INVALID,
  INCOMPLETE,
  MALFORMED,
  METHOD_NOT_IMPLEMENTED,
  URI_TOO_LONG,
  VERSION_NOT_SUPPORTED,
} from '../http/head-outcome.ts'
import { type HeadLimits, MAX_METHOD_BYTES } from '../limits.ts'
import { EMPTY_LINE, findFieldLines, INCOMPLETE_LINE, MALFORMED_LINE } from './field-lines.ts'

/** The length of `HTTP/1.1`. */
const VERSION_BYTES = 8
/** Enough digits for any real body, and few enough for exact arithmetic. */
const MAX_LENGTH_DIGITS = 15

const CR = 13
const LF = 10
const SP = 32
const HTAB = 9
const COLON = 58

/**
 * Parses and validates a request head from `bytes[start, end)` in one pass (RFC 9112, 3 and 5). Refuses everything that two parsers could
 * interpret differently. After INCOMPLETE, call again with the same head and all bytes from `start`.
 * @returns the index after the head, or a negative result; the caller then sets `head.text` and finishes the head (finish-head.ts)
 */
export function parseRequestHead(
  bytes: Uint8Array,
  start: number,
  end: number,
  head: Head,
  limits: HeadLimits,
): number {
  if (head.parsedTo === 0) {
    const problem = parseRequestLine(bytes, start, end, head)
    if (problem === INCOMPLETE) return end - start > limits.maxHeadBytes ? URI_TOO_LONG : INCOMPLETE
    if (problem !== 0) return problem
    if (head.parsedTo > limits.maxHeadBytes) return URI_TOO_LONG
  }
  const after = parseFields(bytes, start, end, head, limits, true)
  if (after < 0) return after
  if (head.hostField < 0) return HOST_INVALID
  return head.chunked && (head.contentLength >= 0 || head.http10) ? MALFORMED : after
}

/** Parses a response head, like `parseRequestHead`. */
export function parseResponseHead(
  bytes: Uint8Array,
  start: number,
  end: number,
  head: Head,
  limits: HeadLimits,
): number {
  if (head.parsedTo === 0) {
    const problem = parseStatusLine(bytes, start, end, head)
    if (problem === INCOMPLETE) return incomplete(start, end, limits)
    if (problem !== 0) return problem
  }
  const after = parseFields(bytes, start, end, head, limits, false)
  if (after < 0) return after
  return head.chunked && (head.contentLength >= 0 || head.http10) ? MALFORMED : after
}

/** Parses the request line; `head.parsedTo` is then its end. @returns 0 or a negative result */
function parseRequestLine(bytes: Uint8Array, start: number, end: number, head: Head): number {
  let i = start
  while (i < end && (CHARACTER[bytes[i]!]! & METHOD) !== 0) i++
  if (i - start > MAX_METHOD_BYTES) return METHOD_NOT_IMPLEMENTED
  if (i === end) return INCOMPLETE
  // A token with a lower-case letter (`isMethod`).
  if ((CHARACTER[bytes[i]!]! & TOKEN) !== 0) return METHOD_NOT_IMPLEMENTED
  if (bytes[i] !== SP || i === start) return MALFORMED
  head.methodEnd = i - start
  const targetStart = ++i
  while (i < end && (CHARACTER[bytes[i]!]! & TARGET) !== 0) i++
  if (i === end) return INCOMPLETE
  if (bytes[i] !== SP || i === targetStart) return MALFORMED
  head.targetEnd = i - start
  const first = bytes[targetStart]!
  // Every form other than origin form is parsed later from the text.
  head.unfinished = first !== 47 || isConnect(bytes, start, head.methodEnd)
  const problem = parseVersion(bytes, i + 1, end, head)
  if (problem !== 0) return problem
  const after = i + 1 + VERSION_BYTES
  if (after + 2 > end) return after === end || bytes[after] === CR ? INCOMPLETE : MALFORMED
  if (bytes[after] !== CR || bytes[after + 1] !== LF) return MALFORMED
  head.startLineKept = !head.http10
  head.startLineEnd = after + 2 - start
  head.parsedTo = head.startLineEnd
  return 0
}

function isConnect(bytes: Uint8Array, start: number, length: number): boolean {
  return length === CONNECT.length && equals(bytes, start, CONNECT)
}

/** Parses `HTTP/1.1` or `HTTP/1.0` at `i`. @returns 0 or a negative result */
function parseVersion(bytes: Uint8Array, i: number, end: number, head: Head): number {
  for (let k = 0; k < VERSION.length; k++) {
    if (i + k === end) return INCOMPLETE
    if (bytes[i + k] !== VERSION[k]) return MALFORMED
  }
  if (i + VERSION_BYTES > end) return INCOMPLETE
  const major = bytes[i + 5]! - 48
  const minor = bytes[i + 7]! - 48
  if (major < 0 || major > 9 || bytes[i + 6] !== 46 || minor < 0 || minor > 9) return MALFORMED
  if (major !== 1 || minor > 1) return VERSION_NOT_SUPPORTED
  head.http10 = minor === 0
  return 0
}

/** Like `parseRequestLine`. */
function parseStatusLine(bytes: Uint8Array, start: number, end: number, head: Head): number {
  const problem = parseVersion(bytes, start, end, head)
  if (problem !== 0) return problem
  let i = start + VERSION_BYTES
  if (i + 5 > end) return INCOMPLETE
  if (bytes[i] !== SP) return MALFORMED
  let status = 0
  for (let k = 1; k <= 3; k++) {
    const digit = bytes[i + k]! - 48
    if (digit < 0 || digit > 9) return MALFORMED
    status = status * 10 + digit
  }
  if (status < 100) return MALFORMED
  i += 4
  // Servers that omit the reason phrase often omit its space too; the line is then rewritten.
  const bare = bytes[i] === CR
  if (!bare && bytes[i] !== SP) return MALFORMED
  while (i < end && (CHARACTER[bytes[i]!]! & FIELD_VALUE) !== 0) i++
  if (i + 2 > end) return i === end || bytes[i] === CR ? INCOMPLETE : MALFORMED
  if (bytes[i] !== CR || bytes[i + 1] !== LF) return MALFORMED
  head.receivedStatus(status)
  head.startLineKept = !head.http10 && !bare
  head.startLineEnd = i + 2 - start
  head.parsedTo = head.startLineEnd
  return 0
}

function parseFields(
  bytes: Uint8Array,
  start: number,
  end: number,
  head: Head,
  limits: HeadLimits,
  ofRequest: boolean,
): number {
  for (;;) {
    const lines = findFieldLines(bytes, start + head.parsedTo, end)
    const { count, stop, next } = lines
    const first = head.received
    if (first + count > limits.maxHeaders) return HEADERS_TOO_LARGE
    head.reserve(first + count)
    lines.copyOffsets(start, head.offsets, first)
    head.received += count
    head.parsedTo = stop - start
    let { nameLengths } = head
    for (let at = first; at < first + count; at++) {
      head.dropped[at] = 0
      const name = start + head.offsets[4 * at]!
      const length = start + head.offsets[4 * at + 1]! - name
      nameLengths |= 1 << length
      if (length > LONGEST_NOTED || NOTED[32 * length + (bytes[name]! & 31)] !== 1) continue
      const problem = noteField(bytes, name, length, start, head, at, ofRequest)
      if (problem !== 0) return problem
    }
    head.nameLengths = nameLengths
    if (next === EMPTY_LINE) return parseEmptyLine(bytes, start, stop, end, limits)
    if (next === MALFORMED_LINE) {
      const problem = ofRequest ? MALFORMED : moveColon(bytes, stop, end)
      if (problem === INCOMPLETE) return incomplete(start, end, limits)
      if (problem !== 0) return problem
    }
    if (next === INCOMPLETE_LINE) return incomplete(start, end, limits)
  }
}

/**
 * Removes whitespace between a field name and its colon, which a proxy must do in responses (RFC 9112, 5.1): the colon moves to the end of the
 * name, and the whitespace is then part of what may precede a value. @returns 0; MALFORMED if the line at `at` has another fault
 */
function moveColon(bytes: Uint8Array, at: number, end: number): number {
  let nameEnd = at
  while (nameEnd < end && (CHARACTER[bytes[nameEnd]!]! & TOKEN) !== 0) nameEnd++
  let colon = nameEnd
  while (colon < end && (bytes[colon] === SP || bytes[colon] === HTAB)) colon++
  if (nameEnd === at || colon === nameEnd) return MALFORMED
  if (colon === end) return INCOMPLETE
  if (bytes[colon] !== COLON) return MALFORMED
  bytes[nameEnd] = COLON
  bytes[colon] = SP
  return 0
}

function parseEmptyLine(bytes: Uint8Array, start: number, i: number, end: number, limits: HeadLimits): number {
  if (i + 2 > end) return incomplete(start, end, limits)
  if (bytes[i + 1] !== LF) return MALFORMED
  return i + 2 - start > limits.maxHeadBytes ? HEADERS_TOO_LARGE : i + 2
}

function incomplete(start: number, end: number, limits: HeadLimits): number {
  return end - start > limits.maxHeadBytes ? HEADERS_TOO_LARGE : INCOMPLETE
}

const VERSION = bytesOf('HTTP/')
const CONNECT = bytesOf('connect')
const TE = bytesOf('te')
const HOST_NAME = bytesOf('host')
const EXPECT = bytesOf('expect')
const TRAILER = bytesOf('trailer')
const UPGRADE = bytesOf('upgrade')
const CONNECTION = bytesOf('connection')
const KEEP_ALIVE = bytesOf('keep-alive')
const CONTENT_LENGTH = bytesOf('content-length')
const PROXY_CONNECTION = bytesOf('proxy-connection')
const TRANSFER_ENCODING = bytesOf('transfer-encoding')
const PROXY_AUTHENTICATE = bytesOf('proxy-authenticate')

/** 1 if the length of a name and the last five bits of its first letter match a name that `noteField` handles. */
const LONGEST_NOTED = PROXY_AUTHENTICATE.length
const NOTED = new Uint8Array(32 * (LONGEST_NOTED + 1))
for (const name of [TE, HOST_NAME, EXPECT, TRAILER, UPGRADE, CONNECTION, KEEP_ALIVE, CONTENT_LENGTH]) note(name)
for (const name of [PROXY_CONNECTION, TRANSFER_ENCODING, PROXY_AUTHENTICATE]) note(name)

function note(name: Uint8Array): void {
  NOTED[32 * name.length + (name[0]! & 31)] = 1
}

const CLOSE = bytesOf('close')
const CHUNKED = bytesOf('chunked')
const TIMEOUT = bytesOf('timeout=')
const CONTINUE = bytesOf('100-continue')

/** Processes a field that affects framing or the connection. @returns 0 or a negative result */
function noteField(
  bytes: Uint8Array,
  name: number,
  nameLength: number,
  start: number,
  head: Head,
  at: number,
  ofRequest: boolean,
): number {
  const valueStart = start + head.offsets[4 * at + 2]!
  const valueEnd = start + head.offsets[4 * at + 3]!
  switch (nameLength) {
    case 2:
      if (!equals(bytes, name, TE)) return 0
      head.unfinished = true
      return droppedField(head, at)
    case 4:
      if (!ofRequest || !equals(bytes, name, HOST_NAME)) return 0
      if (head.hostField >= 0 || !isHost(bytes, valueStart, valueEnd)) return HOST_INVALID
      head.hostField = at
      return 0
    case 6:
      return ofRequest && equals(bytes, name, EXPECT) ? noteExpect(bytes, valueStart, valueEnd, head, at) : 0
    case 7:
      // An upgrade needs an option of Connection, too; the head is then unfinished already.
      return equals(bytes, name, UPGRADE) || equals(bytes, name, TRAILER) ? droppedField(head, at) : 0
    case 10:
      if (equals(bytes, name, CONNECTION)) return noteConnection(bytes, valueStart, valueEnd, head, at)
      return equals(bytes, name, KEEP_ALIVE) ? noteKeepAlive(bytes, valueStart, valueEnd, head, at) : 0
    case 14:
      if (!equals(bytes, name, CONTENT_LENGTH)) return 0
      if (hasTab(bytes, name + nameLength, valueEnd)) return MALFORMED
      return noteLength(bytes, valueStart, valueEnd, head, at)
    case 16:
      return equals(bytes, name, PROXY_CONNECTION) ? droppedField(head, at) : 0
    case 17:
      if (!equals(bytes, name, TRANSFER_ENCODING)) return 0
      // With any other coding, or a list, parsers could disagree about the end of the body.
      if (head.chunked || valueEnd - valueStart !== CHUNKED.length || !equals(bytes, valueStart, CHUNKED))
        return MALFORMED
      if (hasTab(bytes, name + nameLength, valueEnd)) return MALFORMED
      head.chunked = true
      return droppedField(head, at)
    default:
      // 18: `NOTED` has no other length.
      return ofRequest && equals(bytes, name, PROXY_AUTHENTICATE) ? droppedField(head, at) : 0
  }
}

/** Parsers disagree on whether a tab before or after a framing value belongs to it. */
function hasTab(bytes: Uint8Array, start: number, valueEnd: number): boolean {
  for (let i = start; i < valueEnd || bytes[i] !== CR; i++) if (bytes[i] === HTAB) return true
  return false
}

function droppedField(head: Head, at: number): 0 {
  head.drop(at)
  return 0
}

function noteConnection(bytes: Uint8Array, start: number, end: number, head: Head, at: number): 0 {
  if (end - start === CLOSE.length && equals(bytes, start, CLOSE)) head.saysClose = true
  else if (end - start === KEEP_ALIVE.length && equals(bytes, start, KEEP_ALIVE)) head.saysKeepAlive = true
  else head.unfinished = true
  return droppedField(head, at)
}

/** `timeout=N`: with this hint, no request is sent on a connection that is about to close. */
function noteKeepAlive(bytes: Uint8Array, start: number, end: number, head: Head, at: number): 0 {
  let i = start + TIMEOUT.length
  if (i < end && equals(bytes, start, TIMEOUT)) {
    let seconds = 0
    // What follows the value is no digit: a space, a tab or CR.
    while (bytes[i]! >= 48 && bytes[i]! <= 57 && seconds < 100_000) seconds = seconds * 10 + bytes[i++]! - 48
    head.keepAliveSeconds = seconds
  }
  return droppedField(head, at)
}

/** The gateway answers the expectation itself, so the field is not forwarded (RFC 9110, 10.1.1). */
function noteExpect(bytes: Uint8Array, start: number, end: number, head: Head, at: number): number {
  if (end - start !== CONTINUE.length || !equals(bytes, start, CONTINUE)) return EXPECTATION_FAILED
  head.expectsContinue = !head.http10
  return droppedField(head, at)
}

function noteLength(bytes: Uint8Array, start: number, end: number, head: Head, at: number): number {
  if (end === start || end - start > MAX_LENGTH_DIGITS) return MALFORMED
  let length = 0
  for (let i = start; i < end; i++) {
    const digit = bytes[i]! - 48
    if (digit < 0 || digit > 9) return MALFORMED
    length = length * 10 + digit
  }
  // Some parsers treat a number with a leading zero as octal.
  if (bytes[start] === 48 && end - start > 1) return MALFORMED
  if (head.contentLength >= 0) return head.contentLength === length ? droppedField(head, at) : MALFORMED
  head.contentLength = length
  head.lengthField = at
  return 0
}

/**
 * A name, an IPv4 address, or an IPv6 address in brackets, with an optional port (RFC 9110, 7.2; RFC 3986, 3.2.2). What follows the value
 * is part of none of them: a space, a tab or CR.
 */
function isHost(bytes: Uint8Array, start: number, end: number): boolean {
  let i = start
  if (bytes[i] === 91) {
    i++
    while (isAddressByte(bytes[i]!)) i++
    if (i === start + 1 || bytes[i] !== 93) return false
    i++
  } else {
    while ((CHARACTER[bytes[i]!]! & HOST) !== 0) i++
    if (i === start) return false
  }
  if (i === end) return true
  if (bytes[i] !== COLON || end - i > 6 || end - i < 2) return false
  for (i++; i < end; i++) if (bytes[i]! < 48 || bytes[i]! > 57) return false
  return true
}

/** Hexadecimal digit, colon or dot. */
function isAddressByte(code: number): boolean {
  const lower = code | 32
  return (code >= 48 && code <= 58) || (lower >= 97 && lower <= 102) || code === 46
}

/**
 * Whether `bytes` contain `lowerName` at `start`, ignoring case. Reads no further than the first difference. Both are free of control
 * characters, so the bit that is set changes nothing but capitals.
 */
function equals(bytes: Uint8Array, start: number, lowerName: Uint8Array): boolean {
  for (let i = 0; i < lowerName.length; i++) {
    if ((bytes[start + i]! | 32) !== lowerName[i]) return false
  }
  return true
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0))
}
