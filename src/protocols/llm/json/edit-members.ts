import { findField, type Members, memberCount } from './scan-members.ts'
import { encode, type Splice } from './splice.ts'

/** Changes of top-level members: JSON text of the new value, or undefined to remove the member. */
export type MemberEdits = ReadonlyMap<string, string | undefined>

const NOTHING = new Uint8Array(0)

/**
 * The splices that make `edits` in an object: values are replaced in place, new members go to the end in the order of the edits,
 * a removed member takes its comma along. All other members keep their bytes, so that their order, unknown members and numbers
 * of any size survive.
 */
export function editMembers(members: Members, edits: MemberEdits): Splice[] {
  const { offsets } = members
  const removed = new Set<number>()
  const splices: Splice[] = []
  const added: string[] = []
  for (const [key, json] of edits) {
    const index = findField(members, key)
    if (json === undefined) {
      if (index >= 0) removed.add(index)
    } else if (index < 0) added.push(`${JSON.stringify(key)}:${json}`)
    else splices.push({ start: offsets[4 * index + 2]!, end: offsets[4 * index + 3]!, text: encode(json) })
  }

  const count = memberCount(members)
  let last = count - 1
  while (last >= 0 && removed.has(last)) last--
  for (const index of removed) {
    if (index > last) continue
    splices.push({ start: offsets[4 * index]! - 1, end: offsets[4 * index + 4]! - 1, text: NOTHING })
  }
  // What follows the last member that stays: removed members before the end, and added ones in their place.
  const start = last < 0 ? members.bytes.indexOf(0x7b) + 1 : offsets[4 * last + 3]!
  const end = last < count - 1 ? offsets[4 * count - 1]! : start
  if (end > start || added.length > 0) {
    const text = added.length === 0 ? NOTHING : encode((last < 0 ? '' : ',') + added.join(','))
    splices.push({ start, end, text })
  }
  return splices
}
