import { isFieldName, isFieldValue, isLowerFieldName, isTarget } from './field-syntax.ts'
import { reasonPhrase } from './reason-phrase.ts'

/** How the body of a message is delimited; equal to the numbers of `net/stream.ts`. */
type Kind = 0 | 1 | 2 | 3
const NONE = 0
const LENGTH = 1
const CHUNKED = 2

const NOTHING: readonly string[] = []

/**
 * The head of one HTTP/1 message: the latin-1 text as it came from the wire, a table of offsets into it, and edits kept beside
 * it. Nothing is decoded before somebody asks; fields that nobody touched go out as they came in, in runs as long as possible.
 * Names given to it are lower case; values are latin-1 text of bytes. Uses no Node API.
 */
export class Head {
  // Written by the parser (parse-head.ts, finish-head.ts) and read here; the gateway's rooms use the accessors below.
  /** The head as received, with its final empty line; '' for a head made by the gateway. */
  text = ''
  /** Per received field: name start, name end, value start, value end; relative to `text`. */
  offsets: Int32Array = new Int32Array(4 * 32)
  /** 1 for a received field that is no longer part of the head. */
  dropped: Uint8Array = new Uint8Array(32)
  received = 0
  droppedCount = 0
  /** Where an interrupted parse goes on: start of the first incomplete line. */
  parsedTo = 0
  methodEnd = 0
  targetEnd = 0
  startLineEnd = 0
  /** The start line goes out as it came in. */
  startLineKept = false
  hostField = -1
  lengthField = -1
  /** Connection-level fields that need their text to be understood. */
  unfinished = false

  /** Announced body length in bytes; -1 without a Content-Length. */
  contentLength = -1
  chunked = false
  http10 = false
  /** Options of the Connection field. */
  saysClose = false
  saysKeepAlive = false
  /** The peer's hint how long it keeps an idle connection; -1 without one. */
  keepAliveSeconds = -1
  /** `Expect: 100-continue` (RFC 9110, 10.1.1). */
  expectsContinue = false
  /** Protocol of an upgrade that was asked for or accepted; '' without one. */
  upgrade = ''
  /** `TE: trailers`. */
  takesTrailers = false
  /** Fields that the Connection field of a request names, but for those that are about the connection; in lower case. */
  nominated: readonly string[] = NOTHING

  #method: string | undefined
  #target: string | undefined
  #status = 0
  /** Fields that were added: so many from the beginning of these, which are kept for the next head. */
  #added = 0
  readonly #names: string[] = []
  readonly #values: string[] = []

  /** A request head made by the gateway. `target` in origin form. */
  static request(method: string, target: string): Head {
    const head = new Head()
    head.method = method
    head.target = target
    return head
  }

  /** A response head made by the gateway; the reason phrase is the registered one. */
  static response(status: number): Head {
    const head = new Head()
    head.status = status
    return head
  }

  get method(): string {
    this.#method ??= readMethod(this.text, this.methodEnd)
    return this.#method
  }

  set method(method: string) {
    if (!isFieldName(method)) throw new TypeError('the method must be a token')
    this.#method = method
    this.startLineKept = false
  }

  /** The request target in origin form (`/path?query`), `*`, or for CONNECT `host:port`. */
  get target(): string {
    this.#target ??= this.text.slice(this.methodEnd + 1, this.targetEnd)
    return this.#target
  }

  set target(target: string) {
    if (!isTarget(target)) throw new TypeError('the request target must contain only visible ASCII characters')
    this.#target = target
    this.startLineKept = false
  }

  get status(): number {
    return this.#status
  }

  set status(status: number) {
    if (!Number.isInteger(status) || status < 100 || status > 999)
      throw new RangeError('the status must have three digits')
    this.#status = status
    this.startLineKept = false
  }

  /** The status of a received head, whose start line stays as it is. */
  receivedStatus(status: number): void {
    this.#status = status
  }

  /** Value of the Host field. */
  get authority(): string {
    const at = this.hostField
    if (at >= 0 && this.dropped[at] === 0) return this.#value(at)
    return this.get('host') ?? ''
  }

  /** The same; `likely` itself when it is equal, which saves making and comparing another text. */
  authorityLike(likely: string): string {
    const at = this.hostField
    if (at < 0 || this.dropped[at] !== 0) return this.authority
    const start = this.offsets[4 * at + 2]!
    const same = this.offsets[4 * at + 3]! - start === likely.length && this.text.startsWith(likely, start)
    return same ? likely : this.#value(at)
  }

  set authority(authority: string) {
    this.set('host', authority)
  }

  get keepAlive(): boolean {
    return !this.saysClose && (!this.http10 || this.saysKeepAlive)
  }

  get fieldCount(): number {
    return this.received - this.droppedCount + this.#added
  }

  /** First value of a field, by lower-case name. */
  get(name: string): string | undefined {
    const at = this.#find(name, 0)
    if (at >= 0) return this.#value(at)
    const added = this.#findAdded(name)
    return added < 0 ? undefined : this.#values[added]
  }

  /** All values of a field in order. */
  getAll(name: string): string[] {
    const found: string[] = []
    for (let at = this.#find(name, 0); at >= 0; at = this.#find(name, at + 1)) found.push(this.#value(at))
    for (let i = 0; i < this.#added; i++) if (this.#names[i] === name) found.push(this.#values[i]!)
    return found
  }

  /** The values of a field as one text: joined with `, `, those of Cookie with `; ` (RFC 9110, 5.3; RFC 9113, 8.2.3). */
  joined(name: string): string | undefined {
    const separator = name === 'cookie' ? '; ' : ', '
    let text: string | undefined
    for (let at = this.#find(name, 0); at >= 0; at = this.#find(name, at + 1)) {
      text = text === undefined ? this.#value(at) : `${text}${separator}${this.#value(at)}`
    }
    for (let i = 0; i < this.#added; i++) {
      if (this.#names[i] === name) text = text === undefined ? this.#values[i] : `${text}${separator}${this.#values[i]}`
    }
    return text
  }

  has(name: string): boolean {
    return this.#find(name, 0) >= 0 || this.#findAdded(name) >= 0
  }

  /**
   * Replaces all fields of that name, as `remove` takes them, by one. Throws when name or value cannot be a field; check strangers'
   * text before.
   */
  set(name: string, value: string): void {
    const lowerName = checkField(name, value)
    this.remove(lowerName)
    this.#add(lowerName, value)
  }

  /** Adds a field after those of the same name. Throws as `set` does. */
  append(name: string, value: string): void {
    this.#add(checkField(name, value), value)
  }

  /** Removes all fields of that name; `_` and `-` are one in it (decision A-134). */
  remove(name: string): void {
    for (let at = 0; at < this.received; at++) if (this.isNamed(at, name)) this.drop(at)
    for (let i = this.#added - 1; i >= 0; i--) {
      if (!isSameName(this.#names[i]!, name)) continue
      this.#added--
      this.#names.copyWithin(i, i + 1)
      this.#values.copyWithin(i, i + 1)
      this.#values[this.#added] = ''
    }
  }

  /** Whether the received field `at` has that name, `_` and `-` being one in it; also of a dropped field. */
  isNamed(at: number, name: string): boolean {
    const start = this.offsets[4 * at]!
    return this.offsets[4 * at + 1]! - start === name.length && readsLike(this.text, start, name)
  }

  /** Takes the received field `at` out of the head. */
  drop(at: number): void {
    if (this.dropped[at] === 1) return
    this.dropped[at] = 1
    this.droppedCount++
  }

  /** Calls `visit` for every field in order, one call per field line. */
  each(visit: (lowerName: string, value: string) => void): void {
    for (let at = 0; at < this.received; at++) {
      if (this.dropped[at] === 0) visit(this.receivedName(at).toLowerCase(), this.#value(at))
    }
    for (let i = 0; i < this.#added; i++) visit(this.#names[i]!, this.#values[i]!)
  }

  /** Name of the received field `at` as it was written; also of a dropped one. */
  receivedName(at: number): string {
    return this.text.slice(this.offsets[4 * at], this.offsets[4 * at + 1])
  }

  /** Value of the received field `at`; also of a dropped one. */
  receivedValue(at: number): string {
    return this.#value(at)
  }

  /**
   * The head as request text with its final empty line. Framing fields come from `kind` and `length` (a length below 0 announces
   * none); `connectionLines` are whole lines about the connection. Connection-level fields of this head are not written.
   */
  writeRequest(kind: Kind, length: number, connectionLines: string): string {
    if (this.startLineKept) return this.#write('', 0, kind, length, connectionLines)
    const line = `${this.method} ${this.target} HTTP/1.1\r\n`
    return this.#write(line, this.startLineEnd, kind, length, connectionLines)
  }

  /** The head as response text; arguments as `writeRequest`. */
  writeResponse(kind: Kind, length: number, connectionLines: string): string {
    if (this.startLineKept) return this.#write('', 0, kind, length, connectionLines)
    const line = `HTTP/1.1 ${this.#status} ${reasonPhrase(this.#status)}\r\n`
    return this.#write(line, this.startLineEnd, kind, length, connectionLines)
  }

  /** Room for `count` received fields. */
  reserve(count: number): void {
    if (count <= this.dropped.length) return
    const capacity = Math.max(count, 2 * this.dropped.length)
    const offsets = new Int32Array(4 * capacity)
    offsets.set(this.offsets)
    this.offsets = offsets
    const dropped = new Uint8Array(capacity)
    dropped.set(this.dropped)
    this.dropped = dropped
  }

  /** Makes it an empty head, ready for the next message. */
  reset(): void {
    this.text = ''
    this.received = 0
    this.droppedCount = 0
    this.parsedTo = 0
    this.methodEnd = 0
    this.targetEnd = 0
    this.startLineEnd = 0
    this.startLineKept = false
    this.hostField = -1
    this.lengthField = -1
    this.unfinished = false
    this.contentLength = -1
    this.chunked = false
    this.http10 = false
    this.saysClose = false
    this.saysKeepAlive = false
    this.keepAliveSeconds = -1
    this.expectsContinue = false
    this.upgrade = ''
    this.takesTrailers = false
    this.nominated = NOTHING
    this.#method = undefined
    this.#target = undefined
    this.#status = 0
    while (this.#added > 0) this.#values[--this.#added] = ''
  }

  /** An independent copy: a retry needs the head as it was before the first attempt changed it. */
  clone(): Head {
    return new Head().copyFrom(this)
  }

  /** Makes it equal to `other`, with later edits of either not seen by the other. */
  copyFrom(other: Head): this {
    this.reserve(other.received)
    for (let i = 0; i < 4 * other.received; i++) this.offsets[i] = other.offsets[i]!
    for (let i = 0; i < other.received; i++) this.dropped[i] = other.dropped[i]!
    this.text = other.text
    this.received = other.received
    this.droppedCount = other.droppedCount
    this.parsedTo = other.parsedTo
    this.methodEnd = other.methodEnd
    this.targetEnd = other.targetEnd
    this.startLineEnd = other.startLineEnd
    this.startLineKept = other.startLineKept
    this.hostField = other.hostField
    this.lengthField = other.lengthField
    this.unfinished = other.unfinished
    this.contentLength = other.contentLength
    this.chunked = other.chunked
    this.http10 = other.http10
    this.saysClose = other.saysClose
    this.saysKeepAlive = other.saysKeepAlive
    this.keepAliveSeconds = other.keepAliveSeconds
    this.expectsContinue = other.expectsContinue
    this.upgrade = other.upgrade
    this.takesTrailers = other.takesTrailers
    this.nominated = other.nominated
    this.#method = other.#method
    this.#target = other.#target
    this.#status = other.#status
    this.#added = 0
    for (let i = 0; i < other.#added; i++) this.#add(other.#names[i]!, other.#values[i]!)
    return this
  }

  #value(at: number): string {
    return this.text.slice(this.offsets[4 * at + 2], this.offsets[4 * at + 3])
  }

  #add(lowerName: string, value: string): void {
    this.#names[this.#added] = lowerName
    this.#values[this.#added++] = value
  }

  #findAdded(name: string): number {
    for (let i = 0; i < this.#added; i++) if (this.#names[i] === name) return i
    return -1
  }

  /** Index of the first received field of that name, from `from` on; -1 without one. */
  #find(name: string, from: number): number {
    const { offsets, dropped, received } = this
    for (let at = from; at < received; at++) {
      const start = offsets[4 * at]!
      if (offsets[4 * at + 1]! - start !== name.length || dropped[at] === 1) continue
      if (equalsAt(this.text, start, name)) return at
    }
    return -1
  }

  #write(startLine: string, from: number, kind: Kind, length: number, connectionLines: string): string {
    const announced = kind === LENGTH || kind === NONE ? length : -1
    const keepsLength =
      this.lengthField >= 0 && announced === this.contentLength && this.dropped[this.lengthField] === 0
    const skip = keepsLength ? -1 : this.lengthField
    let tail = this.#added === 0 ? '' : this.#addedLines()
    if (!keepsLength && announced >= 0) tail += `content-length: ${announced}\r\n`
    if (kind === CHUNKED) tail += 'transfer-encoding: chunked\r\n'
    tail += connectionLines
    if (tail === '' && startLine === '' && this.droppedCount === 0 && skip < 0) return this.text
    return `${startLine}${this.#keptLines(from, skip)}${tail}\r\n`
  }

  /** Received text from `from` on without dropped fields, the field `skip` and the final empty line. */
  #keptLines(from: number, skip: number): string {
    const { text, offsets, dropped, received } = this
    const end = text.length - 2
    if (this.droppedCount === 0 && skip < 0) return text.slice(from, end)
    let kept = ''
    let run = from
    for (let at = 0; at < received; at++) {
      if (dropped[at] === 0 && at !== skip) continue
      const start = offsets[4 * at]!
      if (start > run) kept += text.slice(run, start)
      run = at + 1 < received ? offsets[4 * at + 4]! : end
    }
    return kept + text.slice(run, end)
  }

  #addedLines(): string {
    let lines = ''
    for (let i = 0; i < this.#added; i++) {
      const name = this.#names[i]!
      if (!isConnectionLevel(name)) lines += `${name}: ${this.#values[i]!}\r\n`
    }
    return lines
  }
}

/** The usual methods by their length. */
const METHODS: readonly (readonly string[])[] = [
  [],
  [],
  [],
  ['GET', 'PUT'],
  ['POST', 'HEAD'],
  ['PATCH'],
  ['DELETE'],
  ['OPTIONS'],
]

/** One text for each usual method: comparing the same object is comparing nothing. */
function readMethod(text: string, end: number): string {
  for (const method of METHODS[end] ?? []) if (text.startsWith(method)) return method
  return text.slice(0, end)
}

/** @returns the name in lower case */
function checkField(name: string, value: string): string {
  if (!isFieldValue(value)) throw new TypeError('the field value must be Latin-1 without control characters')
  // Names are written in lower case nearly always; lower-casing them all the same costs as much as the two checks.
  if (isLowerFieldName(name)) return name
  if (!isFieldName(name)) throw new TypeError('the field name must be a token')
  return name.toLowerCase()
}

/** Fields that belong to one connection and its framing; the connection writes them itself (RFC 9110, 7.6.1). */
export function isConnectionLevel(name: string): boolean {
  switch (name) {
    case 'connection':
    case 'content-length':
    case 'keep-alive':
    case 'proxy-connection':
    case 'te':
    case 'trailer':
    case 'transfer-encoding':
    case 'upgrade':
      return true
    default:
      return false
  }
}

/** One text for all names that are one to a server that cannot tell `_` from `-` (decision A-134). */
export function foldName(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}

/** Whether two lower-case names are one to a server that cannot tell `_` from `-`, as with CGI (decision A-134). */
export function isSameName(name: string, lowerName: string): boolean {
  return name.length === lowerName.length && readsLike(name, 0, lowerName)
}

/** As `equalsAt`, with `_` and `-` the same. */
function readsLike(text: string, start: number, lowerName: string): boolean {
  for (let i = 0; i < lowerName.length; i++) {
    const wanted = lowerName.charCodeAt(i)
    const given = text.charCodeAt(start + i)
    if (given === wanted) continue
    if (isDash(wanted) ? !isDash(given) : (given | 32) !== wanted || wanted < 97 || wanted > 122) return false
  }
  return true
}

function isDash(code: number): boolean {
  return code === 45 || code === 95
}

/** Whether `text` at `start` reads `lowerName`, in any case of letters. */
function equalsAt(text: string, start: number, lowerName: string): boolean {
  for (let i = 0; i < lowerName.length; i++) {
    const wanted = lowerName.charCodeAt(i)
    const given = text.charCodeAt(start + i)
    if (given === wanted) continue
    if ((given | 32) !== wanted || wanted < 97 || wanted > 122) return false
  }
  return true
}
