import { parseExactJson } from '#base/exact-json.ts'
import { parseJson } from '#base/parse-json.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { decodeText } from './native.ts'
import { readsAt } from './reads-at.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** For shorter distances, examining bytes is faster than the native search. */
const NEAR = 32

/** Longer keys and values are skipped, except texts. */
const USUAL_BYTES = 64 * 1024

export interface MemberLimits {
  /** Longer values are skipped, if this is more than the usual limit. */
  readonly maxBytes?: number
  /** Memory for values that arrive in pieces. */
  readonly claim?: BodyClaim | undefined
  /** Numbers in values are preserved as they were written (`parseExactJson`), which takes longer. */
  readonly exact?: boolean
  /** Called for a member whose value is skipped. */
  readonly skipped?: ((path: string) => void) | undefined
}

const NO_BYTES = new Uint8Array(0)

/** Where a reader is. */
type ReaderState = 'before' | 'inside' | 'over' | 'no-object'

/** Why something is no object. */
export type ObjectFault = 'empty' | 'incomplete' | 'no-object'

const FAULTS: Readonly<Record<ReaderState, ObjectFault | undefined>> = {
  before: 'empty',
  inside: 'incomplete',
  over: undefined,
  'no-object': 'no-object',
}

/** The wanted members of one object, or of each object in a list, and those of its members that are objects; see `wantedMembers`. */
export interface WantedMembers {
  /** The object around it. */
  readonly outer: WantedMembers | undefined
  readonly inList: boolean
  /** 1 for the outermost object. */
  readonly depth: number
  readonly members: readonly WantedMember[]
}

interface WantedMember {
  readonly name: string
  /** From the outermost object. */
  readonly path: string
  /** What is wanted of its value; undefined: the whole value. */
  readonly inside: WantedMembers | undefined
}

/**
 * Reads selected members of a JSON object that arrives in pieces. It keeps nothing else, so it finds the usage in responses of any size. It
 * does not validate the JSON.
 */
export class MemberReader {
  /** The object that is being read. */
  #wanted: WantedMembers
  /** The value of the current key, if it is an object or a list of objects with wanted members. */
  #next: WantedMembers | undefined
  readonly #found: (path: string, value: unknown) => void
  readonly #maxBytes: number
  readonly #parse: (text: string) => unknown
  #state: ReaderState = 'before'
  #depth = 0
  #inString = false
  /** The next byte of the string is escaped. */
  #escaped = false
  /** In an object that is read: a string read now is a key. */
  #atKey = false
  /** The path of the current key if all of its value is wanted, else empty. */
  #path = ''
  /** A key or the value of a wanted member is being read. */
  #keeping = false
  /** The bytes of it in earlier pieces, and their number. One growing array, because a value may arrive byte by byte. */
  #kept = NO_BYTES
  #keptLength = 0
  readonly #claim: BodyClaim | undefined
  readonly #skipped: ((path: string) => void) | undefined

  /** @param found called for each of the wanted members */
  constructor(
    wanted: WantedMembers,
    found: (path: string, value: unknown) => void,
    { maxBytes = 0, claim, exact = false, skipped }: MemberLimits = {},
  ) {
    this.#wanted = wanted
    this.#found = found
    this.#maxBytes = Math.max(USUAL_BYTES, maxBytes)
    this.#parse = exact ? parseExactJson : parseJson
    this.#claim = claim
    this.#skipped = skipped
  }

  /** The object has ended. */
  get isOver(): boolean {
    return this.#state === 'over'
  }

  /** What has arrived is no object, or not all of one; undefined: it is one. */
  get fault(): ObjectFault | undefined {
    return FAULTS[this.#state]
  }

  /** Takes the next piece; does not keep a reference to it. */
  push(piece: Uint8Array): void {
    let at = this.#state === 'before' ? this.#begin(piece) : 0
    if (this.#state !== 'inside') return
    const { length } = piece
    /** Start of the part to keep in this piece. */
    let start = 0
    let depth = this.#depth
    let level = this.#wanted.depth
    if (this.#inString) {
      at = this.#skipString(piece, 0)
      if (depth === level && this.#atKey && !this.#inString) this.#readKey(piece, 0, at)
    }
    while (at < length) {
      const byte = piece[at++]!
      if (byte === QUOTE) {
        const begin = at - 1
        at = this.#skipString(piece, at)
        if (depth !== level || !this.#atKey) continue
        if (!this.#inString) this.#readKey(piece, begin, at)
        else start = this.#keep(begin)
      } else if (byte < 0x5b) {
        // Most bytes are digits, commas and colons. Only commas and colons matter, and only in objects that are read.
        if (depth > level) continue
        if (byte === 0x3a) {
          this.#atKey = false
          if (this.#path !== '') start = this.#keep(at)
        } else if (byte === 0x2c) {
          this.#endValue(piece, start, at - 1)
          this.#next = undefined
          this.#atKey = true
        }
      } else if (byte === 0x7b || byte === 0x5b) {
        depth++
        if (this.#next !== undefined) level = this.#open(this.#next, byte === 0x7b, depth, level)
      } else if ((byte === 0x7d || byte === 0x5d) && --depth < level) {
        this.#endValue(piece, start, at - 1)
        if (this.#wanted.outer === undefined) {
          this.#state = 'over'
          return
        }
        if (this.#wanted.inList) this.#next = this.#wanted
        this.#wanted = this.#wanted.outer
        level = this.#wanted.depth
        this.#atKey = false
      }
    }
    this.#depth = depth
    if (this.#keeping) this.#keepRest(piece.subarray(start))
  }

  /** @returns index after the opening brace */
  #begin(piece: Uint8Array): number {
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at]!
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) continue
      this.#state = byte === 0x7b ? 'inside' : 'no-object'
      this.#depth = 1
      this.#atKey = true
      return at + 1
    }
    return piece.length
  }

  /** @returns index after the closing quote, or the length of the piece when the string goes on in the next one */
  #skipString(piece: Uint8Array, at: number): number {
    this.#inString = true
    if (this.#escaped) at++
    this.#escaped = false
    const near = Math.min(piece.length, at + NEAR)
    while (at < near) {
      const byte = piece[at++]
      if (byte === QUOTE) return this.#endString(at)
      if (byte === BACKSLASH) at++
    }
    while (at < piece.length) {
      const quote = piece.indexOf(QUOTE, at)
      const end = quote < 0 ? piece.length : quote
      let escapes = end
      while (escapes > at && piece[escapes - 1] === BACKSLASH) escapes--
      const isEscaped = ((end - escapes) & 1) === 1
      if (quote >= 0 && !isEscaped) return this.#endString(quote + 1)
      at = isEscaped ? end + 1 : end
    }
    this.#escaped = at > piece.length
    return piece.length
  }

  #endString(at: number): number {
    this.#inString = false
    return at
  }

  /** Reads the key between its quotes; earlier pieces may have its first part. */
  #readKey(piece: Uint8Array, start: number, end: number): void {
    if (!this.#keeping) return this.#setKey(piece, start + 1, end - 1)
    this.#keeping = false
    this.#keepRest(piece.subarray(start, end))
    if (this.#keptLength > this.#maxBytes) this.#setKey(NO_BYTES, 0, 0)
    else this.#setKey(this.#kept, 1, this.#keptLength - 1)
    this.#forget()
  }

  #setKey(bytes: Uint8Array, start: number, end: number): void {
    const { members } = this.#wanted
    const size = end - start
    this.#path = ''
    this.#next = undefined
    for (let i = 0; i < members.length; i++) {
      const { name, path, inside } = members[i]!
      if (name.length !== size || !readsAt(bytes, start, name)) continue
      if (inside === undefined) this.#path = path
      else this.#next = inside
      return
    }
  }

  /**
   * An object or a list begins where members of `next` may be.
   * @returns the depth of the object that is read now
   */
  #open(next: WantedMembers, isObject: boolean, depth: number, level: number): number {
    if (depth > next.depth) return level
    const isListOfIt = !isObject && depth < next.depth
    const isListInIt = !isObject && depth === next.depth && next.inList
    if (isListOfIt || isListInIt) return level
    this.#next = undefined
    if (!isObject || depth < next.depth) return level
    this.#wanted = next
    this.#atKey = true
    return next.depth
  }

  #keep(at: number): number {
    this.#keeping = true
    return at
  }

  #keepRest(rest: Uint8Array): void {
    const before = this.#keptLength
    this.#keptLength += rest.length
    if (this.#keptLength > this.#maxBytes || !this.#growTo(this.#keptLength)) return
    this.#kept.set(rest, before)
  }

  /** @returns false if there is no memory: the value is skipped */
  #growTo(length: number): boolean {
    if (length <= this.#kept.length) return true
    const capacity = Math.max(length, Math.min(2 * this.#kept.length, this.#maxBytes))
    if (this.#claim?.take(capacity - this.#kept.length) === false) {
      this.#forget()
      this.#keptLength = Number.POSITIVE_INFINITY
      return false
    }
    const larger = new Uint8Array(capacity)
    larger.set(this.#kept)
    this.#kept = larger
    return true
  }

  #endValue(piece: Uint8Array, start: number, end: number): void {
    if (!this.#keeping) return
    this.#keeping = false
    if (this.#keptLength === 0) {
      if (end - start <= this.#maxBytes) this.#report(piece, start, end)
      else this.#skipped?.(this.#path)
      return
    }
    this.#keepRest(piece.subarray(start, end))
    if (this.#keptLength <= this.#maxBytes) this.#report(this.#kept, 0, this.#keptLength)
    else this.#skipped?.(this.#path)
    this.#forget()
  }

  /** A malformed value is not reported. */
  #report(bytes: Uint8Array, start: number, end: number): void {
    const text = plainString(bytes, start, end)
    if (text !== undefined) return this.#found(this.#path, text)
    let value: unknown
    try {
      value = this.#parse(decodeText(bytes, start, end))
    } catch {
      return
    }
    this.#found(this.#path, value)
  }

  #forget(): void {
    this.#claim?.give(this.#kept.length)
    this.#kept = NO_BYTES
    this.#keptLength = 0
  }
}

/**
 * Prepares paths for `MemberReader`: those of top-level members, such as `usage`, of members of objects, such as `response.usage`, and of
 * members of all objects in a list, such as `choices[].index`. A member cannot be wanted both whole and in part.
 */
export function wantedMembers(paths: readonly string[]): WantedMembers {
  return groupByObject('', paths, undefined)
}

/** @param within path of the object, or of the list with `[]`, and a dot at its end; empty for the outermost one */
function groupByObject(
  within: string,
  paths: readonly string[],
  outer: WantedMembers | undefined,
  inList = false,
): WantedMembers {
  const members: WantedMember[] = []
  const wanted: WantedMembers = { outer, inList, depth: (outer?.depth ?? 0) + (inList ? 2 : 1), members }
  const nested = new Map<string, string[]>()
  for (const each of paths) {
    const dot = each.indexOf('.')
    if (dot < 0) members.push({ name: each, path: within + each, inside: undefined })
    else nested.set(each.slice(0, dot), [...(nested.get(each.slice(0, dot)) ?? []), each.slice(dot + 1)])
  }
  for (const [part, rest] of nested) {
    const isList = part.endsWith('[]')
    const path = within + part
    members.push({
      name: isList ? part.slice(0, -2) : part,
      path,
      inside: groupByObject(`${path}.`, rest, wanted, isList),
    })
  }
  return wanted
}

/** The value if it is a string without escapes: it need not be parsed. */
function plainString(bytes: Uint8Array, start: number, end: number): string | undefined {
  while (start < end && bytes[start]! <= 0x20) start++
  if (end - start < 2 || bytes[start] !== QUOTE || bytes[end - 1] !== QUOTE) return undefined
  for (let at = start + 1; at < end - 1; at++) {
    const byte = bytes[at]!
    if (byte < 0x20 || byte === BACKSLASH || byte === QUOTE) return undefined
  }
  return decodeText(bytes, start + 1, end - 1)
}
