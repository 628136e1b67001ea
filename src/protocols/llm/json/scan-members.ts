import { skipSpace, skipValue } from '#base/json-bytes/skip-value.ts'
import { walkMembers } from '#base/json-bytes/walk-members.ts'
import { decodeString } from './json-pieces.ts'
import { readsAt } from './reads-at.ts'
import type { JsonFault } from './unreadable.ts'

/** With more members, duplicates are found with a set. */
const FEW = 24

/** Requests have fewer members. Each configured field is searched among all of them, and no other request runs meanwhile. */
export const MAX_MEMBERS = 1000

/** Positions of the members of the outermost object of a JSON text. */
export interface Members {
  readonly bytes: Uint8Array
  /** Per member: start and end of the key without its quotes, start and end of the value. */
  readonly offsets: readonly number[]
  /** Some key contains an escape: keys must be decoded to be compared. */
  readonly escapedKeys: boolean
}

/**
 * Finds the members of a JSON object in one pass, without building values. The whole text must be one well-formed object without duplicate
 * keys (decision B29): a second `model` could hide from a rule the value that the provider reads. UTF-8 is not checked.
 * @param maxMembers with more, it ends with a fault
 */
export function scanMembers(bytes: Uint8Array, maxMembers = Number.POSITIVE_INFINITY): Members | JsonFault {
  const offsets: number[] = []
  let escapedKeys = false
  let tooMany = false
  const end = walkMembers(bytes, (key, keyEnd, value, valueEnd) => {
    tooMany = offsets.length === 4 * maxMembers
    if (hasBackslash(bytes, key, keyEnd)) escapedKeys = true
    offsets.push(key, keyEnd, value, valueEnd)
    return !tooMany
  })
  if (tooMany) return { fault: 'too-many-members', at: ~end }
  if (end < 0) return refuseText(bytes, ~end)
  const members = { bytes, offsets, escapedKeys }
  const duplicate = findDuplicate(members)
  return duplicate < 0 ? members : { fault: 'duplicate-key', at: offsets[4 * duplicate]! - 1 }
}

/** Index of the member with this key, which must be ASCII; -1 if there is none. */
export function findMember(members: Members, key: string): number {
  const { bytes, offsets } = members
  if (members.escapedKeys) return findField(members, key)
  for (let at = 0; at < offsets.length; at += 4) {
    if (equalsAscii(bytes, offsets[at]!, offsets[at + 1]!, key)) return at >> 2
  }
  return -1
}

/** The same for any key; it must decode the keys. */
export function findField(members: Members, key: string): number {
  for (let index = 0; index < memberCount(members); index++) if (keyAt(members, index) === key) return index
  return -1
}

export function memberCount(members: Members): number {
  return members.offsets.length >> 2
}

/** The key of member `index`, decoded. */
export function keyAt(members: Members, index: number): string {
  const { bytes, offsets } = members
  return decodeString(bytes, offsets[4 * index]!, offsets[4 * index + 1]!)
}

/** The value of member `index` if it is a string. */
export function stringAt(members: Members, index: number): string | undefined {
  const { bytes, offsets } = members
  const start = offsets[4 * index + 2]!
  if (bytes[start] !== 0x22) return undefined
  return decodeString(bytes, start + 1, offsets[4 * index + 3]! - 1)
}

/** Whether the value of member `index` reads exactly `text` (ASCII): `true`, `null`. */
export function valueIs(members: Members, index: number, text: string): boolean {
  const { bytes, offsets } = members
  return equalsAscii(bytes, offsets[4 * index + 2]!, offsets[4 * index + 3]!, text)
}

/** The bytes of the value of member `index`; shares the memory of the body. */
export function valueAt(members: Members, index: number): Uint8Array {
  return members.bytes.subarray(members.offsets[4 * index + 2]!, members.offsets[4 * index + 3]!)
}

/** Start and end of each element of a JSON array. The text must be an array that was scanned before. */
export function scanElements(bytes: Uint8Array): number[] {
  const offsets: number[] = []
  let at = skipSpace(bytes, 1)
  while (bytes[at] !== 0x5d) {
    const end = skipValue(bytes, at)
    if (end < 0) throw new Error('not a scanned JSON array')
    offsets.push(at, end)
    at = skipSpace(bytes, end)
    if (bytes[at] === 0x2c) at = skipSpace(bytes, at + 1)
  }
  return offsets
}

/** @param at of the first byte that cannot belong to an object */
function refuseText(bytes: Uint8Array, at: number): JsonFault {
  const isStart = at < bytes.length && at === skipSpace(bytes, 0)
  const end = isStart ? skipValue(bytes, at) : ~at
  return end < 0 ? { fault: 'not-json', at: ~end } : { fault: 'not-an-object', at }
}

function findDuplicate(members: Members): number {
  const { bytes, offsets } = members
  if (members.escapedKeys || offsets.length > 4 * FEW) return findDuplicateByName(members)
  for (let second = 4; second < offsets.length; second += 4) {
    const start = offsets[second]!
    const length = offsets[second + 1]! - start
    for (let first = 0; first < second; first += 4) {
      const other = offsets[first]!
      if (offsets[first + 1]! - other === length && equalRanges(bytes, start, other, length)) return second >> 2
    }
  }
  return -1
}

function findDuplicateByName(members: Members): number {
  const seen = new Set<string>()
  for (let index = 0; index < memberCount(members); index++) {
    const key = keyAt(members, index)
    if (seen.has(key)) return index
    seen.add(key)
  }
  return -1
}

function hasBackslash(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === 0x5c) return true
  return false
}

function equalRanges(bytes: Uint8Array, one: number, other: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (bytes[one + i] !== bytes[other + i]) return false
  return true
}

function equalsAscii(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  return end - start === text.length && readsAt(bytes, start, text)
}
