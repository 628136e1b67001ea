import { type FieldName, fieldName } from './field-name.ts'
import { type FieldValue, isFieldName, isFieldValue, isTarget } from './field-syntax.ts'
import type { NameTable } from './name-table.ts'
import { readMethod } from './read-method.ts'
import { reasonPhrase } from './reason-phrase.ts'
import { equalsAt, isSameName, readsLike } from './same-name.ts'

/** How the body of a message is delimited; equal to the numbers of `net/stream.ts`. */
type Kind = 0 | 1 | 2 | 3
const NONE = 0
const LENGTH = 1
const CHUNKED = 2

const LINE_END = '\r\n'
const NOTHING: readonly string[] = []
/** Never changed. */
const NO_NAMES: FieldName[] = []
const NO_VALUES: string[] = []
/** The tables of a head without received fields, which is most heads that the gateway creates. */
const NO_OFFSETS = new Int32Array()
const NONE_DROPPED = new Uint8Array()
/** Fields for which the tables have room at first. */
const FIRST_FIELDS = 8

/**
 * The head of one HTTP/1 message: the received byte text, a table of offsets into it, and separate edits. Fields are decoded on demand,
 * and unchanged fields are sent exactly as received, in the longest possible runs. Arguments with field names must be lower case; values
 * are byte text. Uses no Node API.
 */
export class Head {
  // Written by the parser (parse-head.ts, finish-head.ts); other modules use the accessors below.
  /** The received head with its final empty line; '' for a head that the gateway created. */
  text = ''
  /** Four offsets into `text` per received field: name start, name end, value start, value end. */
  offsets: Int32Array = NO_OFFSETS
  /** 1 for a received field that was removed. */
  dropped: Uint8Array = NONE_DROPPED
  received = 0
  /** Bit `n % 32` is set if a received field has a name of `n` characters: most names that policies search are absent, and most of them end here. */
  nameLengths = 0
  droppedCount = 0
  /** Where an interrupted parse continues: the start of the first incomplete line. */
  parsedTo = 0
  methodEnd = 0
  targetEnd = 0
  startLineEnd = 0
  /** The start line is sent as received. */
  startLineKept = false
  hostField = -1
  lengthField = -1
  /** `finishRequestHead` or `finishResponseHead` must process the head, which requires its text. */
  unfinished = false

  /** Announced body length in bytes; -1 without a Content-Length. */
  contentLength = -1
  chunked = false
  http10 = false
  /** The Connection field has the option `close`. */
  saysClose = false
  saysKeepAlive = false
  /** The idle timeout of the peer, as hinted by Keep-Alive; -1 without one. */
  keepAliveSeconds = -1
  /** `Expect: 100-continue` (RFC 9110, 10.1.1): received, or sent with the request. */
  expectsContinue = false
  /** The protocol of a requested or accepted upgrade; '' without one. */
  upgrade = ''
  /** `TE: trailers`. */
  takesTrailers = false
  /** The sender knows that the request may be processed twice, although its method is not idempotent. */
  isRepeatable = false
  /** Fields that the Connection field of a request nominates, except connection-level fields; in lower case. */
  nominated: readonly string[] = NOTHING

  #method: string | undefined
  #target: string | undefined
  #status = 0
  /** The number of added fields: the first ones of the lists, which are reused for the next head and created with the first field. */
  #added = 0
  #names: FieldName[] = NO_NAMES
  #values: string[] = NO_VALUES

  /** Creates a request head. @param target in origin form */
  static request(method: string, target: string): Head {
    const head = new Head()
    head.method = method
    head.target = target
    return head
  }

  /** Creates a response head with the registered reason phrase. */
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

  /** Sets the status of a received head; its start line is unchanged. */
  receivedStatus(status: number): void {
    this.#status = status
  }

  /** Value of the Host field. */
  get authority(): string {
    return this.keepsReceivedHost ? this.#value(this.hostField) : (this.get('host') ?? '')
  }

  /** The Host field is still the received one, so `authority` is what it was at the beginning. */
  get keepsReceivedHost(): boolean {
    return this.hostField >= 0 && this.dropped[this.hostField] === 0
  }

  set authority(authority: string) {
    this.set('host', authority)
  }

  get keepAlive(): boolean {
    return !this.saysClose && (!this.http10 || this.saysKeepAlive)
  }

  /** The fields are those that were received: none was removed, set or added. */
  get hasReceivedFields(): boolean {
    return this.droppedCount === 0 && this.#added === 0
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
    for (let i = 0; i < this.#added; i++) if (this.#names[i]!.text === name) found.push(this.#values[i]!)
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
      if (this.#names[i]!.text !== name) continue
      const value = this.#values[i]!
      text = text === undefined ? value : `${text}${separator}${value}`
    }
    return text
  }

  has(name: string): boolean {
    return this.#find(name, 0) >= 0 || this.#findAdded(name) >= 0
  }

  /**
   * Replaces all fields with that name, by the comparison of `remove`. Throws if name or value is invalid; callers must check untrusted
   * text before.
   */
  set(name: string, value: string): void {
    this.setValid(fieldName(name), checkedValue(value))
  }

  /** Like `set`, for name and value that have been checked. */
  setValid(name: FieldName, value: FieldValue): void {
    this.remove(name.text)
    this.#add(name, value)
  }

  /** Adds a field after those with the same name. Throws like `set`. */
  append(name: string, value: string): void {
    this.appendValid(fieldName(name), checkedValue(value))
  }

  /** Like `append`, for name and value that have been checked. */
  appendValid(name: FieldName, value: FieldValue): void {
    this.#add(name, value)
  }

  /** Removes all fields with that name; `_` and `-` are equal (decision A-134). */
  remove(name: string): void {
    if (this.mayHaveReceived(name)) {
      for (let at = 0; at < this.received; at++) if (this.isNamed(at, name)) this.drop(at)
    }
    for (let i = this.#added - 1; i >= 0; i--) {
      if (!isSameName(this.#names[i]!.text, name)) continue
      this.#added--
      this.#names.copyWithin(i, i + 1)
      this.#values.copyWithin(i, i + 1)
      this.#values[this.#added] = ''
    }
  }

  /** False if no received field has a name of that length. */
  mayHaveReceived(name: string): boolean {
    return (this.nameLengths & (1 << name.length)) !== 0
  }

  /** Whether the received field `at` has that name; `_` and `-` are equal. Also for dropped fields. */
  isNamed(at: number, name: string): boolean {
    const start = this.offsets[4 * at]!
    return this.offsets[4 * at + 1]! - start === name.length && readsLike(this.text, start, name)
  }

  /** Removes the received field `at`. */
  drop(at: number): void {
    if (this.dropped[at] === 1) return
    this.dropped[at] = 1
    this.droppedCount++
  }

  /** Calls `visit` for every field in order, one call per field line. @param except names of fields to leave out; `_` and `-` are equal */
  each(visit: (lowerName: string, value: string) => void, except?: NameTable): void {
    for (let at = 0; at < this.received; at++) {
      if (
        this.dropped[at] === 1 ||
        except?.hasPart(this.text, this.offsets[4 * at]!, this.offsets[4 * at + 1]!) === true
      )
        continue
      visit(this.receivedName(at).toLowerCase(), this.#value(at))
    }
    for (let i = 0; i < this.#added; i++) {
      const { text } = this.#names[i]!
      if (except?.hasSame(text) !== true) visit(text, this.#values[i]!)
    }
  }

  /** Name of the received field `at` in its original case; also for dropped fields. */
  receivedName(at: number): string {
    return this.text.slice(this.offsets[4 * at], this.offsets[4 * at + 1])
  }

  /** Value of the received field `at`; also for dropped fields. */
  receivedValue(at: number): string {
    return this.#value(at)
  }

  /**
   * The head as request text with its final empty line. Framing fields are derived from `kind` and `length` (negative: no
   * Content-Length); `connectionLines` are complete lines with connection-level fields. Those of this head are not written.
   */
  writeRequest(kind: Kind, length: number, connectionLines: string): string {
    if (this.startLineKept) return this.#write('', 0, kind, length, connectionLines)
    const line = `${this.method} ${this.target} HTTP/1.1\r\n`
    return this.#write(line, this.startLineEnd, kind, length, connectionLines)
  }

  /** The head as response text; parameters like `writeRequest`. */
  writeResponse(kind: Kind, length: number, connectionLines: string): string {
    if (this.startLineKept) return this.#write('', 0, kind, length, connectionLines)
    const line = `HTTP/1.1 ${this.#status} ${reasonPhrase(this.#status)}\r\n`
    return this.#write(line, this.startLineEnd, kind, length, connectionLines)
  }

  /** Allocates space for `count` received fields. */
  reserve(count: number): void {
    if (count <= this.dropped.length) return
    const capacity = Math.max(count, 2 * this.dropped.length, FIRST_FIELDS)
    const memory = new ArrayBuffer(17 * capacity)
    const offsets = new Int32Array(memory, 0, 4 * capacity)
    offsets.set(this.offsets)
    this.offsets = offsets
    const dropped = new Uint8Array(memory, 16 * capacity, capacity)
    dropped.set(this.dropped)
    this.dropped = dropped
  }

  /** Empties the head for the next message. */
  reset(): void {
    this.text = ''
    this.received = 0
    this.nameLengths = 0
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
    this.isRepeatable = false
    this.nominated = NOTHING
    this.#method = undefined
    this.#target = undefined
    this.#status = 0
    while (this.#added > 0) this.#values[--this.#added] = ''
  }

  /** An independent copy: a retry needs the head from before the first attempt changed it. */
  clone(): Head {
    return new Head().copyFrom(this)
  }

  /** A copy with the fields as received. */
  cloneAsReceived(): Head {
    const head = this.clone()
    head.dropped.fill(0)
    head.droppedCount = 0
    head.#added = 0
    return head
  }

  /** Copies `other` into this head. */
  copyFrom(other: Head): this {
    this.reserve(other.received)
    for (let i = 0; i < 4 * other.received; i++) this.offsets[i] = other.offsets[i]!
    for (let i = 0; i < other.received; i++) this.dropped[i] = other.dropped[i]!
    this.text = other.text
    this.received = other.received
    this.nameLengths = other.nameLengths
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
    this.isRepeatable = other.isRepeatable
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

  #add(name: FieldName, value: string): void {
    if (this.#names === NO_NAMES) {
      this.#names = []
      this.#values = []
    }
    const at = this.#added++
    this.#names[at] = name
    this.#values[at] = value
  }

  #findAdded(name: string): number {
    for (let i = 0; i < this.#added; i++) if (this.#names[i]!.text === name) return i
    return -1
  }

  /** Index of the first received field with that name, starting at `from`; -1 without one. */
  #find(name: string, from: number): number {
    if (!this.mayHaveReceived(name)) return -1
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
    let tail = this.#addedLines()
    if (!keepsLength && announced >= 0) tail += `content-length: ${announced}\r\n`
    if (kind === CHUNKED) tail += 'transfer-encoding: chunked\r\n'
    tail += connectionLines
    if (tail === '' && startLine === '' && this.droppedCount === 0 && skip < 0) return this.text
    return `${startLine}${this.#keptLines(from, skip)}${tail}\r\n`
  }

  /** Received text starting at `from`, without dropped fields, the field `skip` and the final empty line. */
  #keptLines(from: number, skip: number): string {
    const { text, offsets, dropped, received } = this
    const end = text.length - 2
    if (this.droppedCount === 0 && skip < 0) return text.slice(from, end)
    let kept = ''
    let run = from
    for (let at = 0; at < received; at++) {
      if (dropped[at] === 0 && at !== skip) continue
      const start = offsets[4 * at]!
      kept += text.slice(run, start)
      run = at + 1 < received ? offsets[4 * at + 4]! : end
    }
    return kept + text.slice(run, end)
  }

  #addedLines(): string {
    let lines = ''
    for (let i = 0; i < this.#added; i++) {
      const { isConnectionLevel, lineStart } = this.#names[i]!
      if (!isConnectionLevel) lines += lineStart + this.#values[i]! + LINE_END
    }
    return lines
  }
}

function checkedValue(value: string): FieldValue {
  if (!isFieldValue(value)) throw new TypeError('the field value must be Latin-1 without control characters')
  return value
}
