import { type ExactNames, findCaseVariant } from '../json/exact-names.ts'
import { findInvalidUtf8 } from '../json/native.ts'
import { findMember, MAX_MEMBERS, type Members, scanMembers, valueIs } from '../json/scan-members.ts'
import type { JsonFault } from '../json/unreadable.ts'

/** The members of a body that must be JSON, whatever its provider would make of it. */
export function readMembers(body: Uint8Array, names: ExactNames): Members | JsonFault {
  const invalid = findInvalidUtf8(body)
  return invalid < 0 ? scanExactly(body, names) : { fault: 'not-json', at: invalid }
}

/** The members of a body in which every relevant name is unambiguous (decision B29). */
export function scanExactly(body: Uint8Array, names: ExactNames): Members | JsonFault {
  const members = scanMembers(body, MAX_MEMBERS)
  if ('fault' in members) return members
  const variant = findCaseVariant(members, names)
  return variant < 0 ? members : { fault: 'ambiguous-key', at: members.offsets[4 * variant]! - 1 }
}

/** The members of the changed body; the original and the changes are well-formed. */
export function rescan(received: Members, changed: Uint8Array | undefined): Members {
  if (changed === undefined || changed === received.bytes) return received
  const members = scanMembers(changed)
  if ('fault' in members) throw new Error('editing a body broke its JSON')
  return members
}

/** The request asks for a stream. */
export function isStreamed(members: Members): boolean {
  const index = findMember(members, 'stream')
  return index >= 0 && valueIs(members, index, 'true')
}
