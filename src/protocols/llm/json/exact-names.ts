import { foldCase } from '#base/fold-case.ts'
import { keyAt, type Members, memberCount } from './scan-members.ts'

/** Names of members that a body must not have in another letter case: a provider may ignore case, the gateway does not. */
export interface ExactNames {
  readonly names: ReadonlySet<string>
  readonly folded: ReadonlySet<string>
  /** All names are in lower case, so a key in lower case is never a variant. */
  readonly areFolded: boolean
}

export function exactNames(names: readonly string[]): ExactNames {
  const folded = new Set(names.map(foldCase))
  return { names: new Set(names), folded, areFolded: names.every((name) => folded.has(name)) }
}

/** Index of the first member that differs from one of the names only in letter case; -1 if there is none. */
export function findCaseVariant(members: Members, { names, folded, areFolded }: ExactNames): number {
  const { bytes, offsets } = members
  for (let index = 0; index < memberCount(members); index++) {
    if (areFolded && isLowerCase(bytes, offsets[4 * index]!, offsets[4 * index + 1]!)) continue
    const key = keyAt(members, index)
    if (!names.has(key) && folded.has(foldCase(key))) return index
  }
  return -1
}

/** No capitals, no escapes, only ASCII. */
function isLowerCase(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte >= 0x80 || byte === 0x5c || (byte >= 0x41 && byte <= 0x5a)) return false
  }
  return true
}
