import type { Json } from './json.ts'

/** Of an empty array, without the place that refers to it. */
const ARRAY_BYTES = 32
/** Of an empty object: it has room for four members. */
const OBJECT_BYTES = 56
/** A place for an element, or a small number in it. */
const ELEMENT_BYTES = 8
/** A place for a member, and its share of the names and of the description that objects of one form have in common. */
const MEMBER_BYTES = 40
/** Of a string without its characters, or of a number that is not small. */
const SCALAR_BYTES = 24

/**
 * The memory of parsed JSON, in bytes. Measured with V8 (used heap after full collections, bodies of 90 KB), a body of n bytes keeps
 *
 * - 1.3 n for a chat, 2.2 n for a list of records, 4 n for a list of digits,
 * - 13 n for a list of `[]`, 16 n for objects that each have another name, 22 n for a list of `{}`: the worst.
 *
 * The estimate is between half and three times what was measured. So values are counted, and not bodies at the worst multiple: most chats
 * would be refused for memory that they never use.
 */
export function heapOfJson(value: Json): number {
  let bytes = 0
  const left: Json[] = [value]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next === 'string') bytes += SCALAR_BYTES + next.length
    else if (typeof next === 'number') bytes += Number.isInteger(next) ? 0 : SCALAR_BYTES
    else if (Array.isArray(next)) {
      bytes += ARRAY_BYTES + next.length * ELEMENT_BYTES
      for (const element of next as readonly Json[]) left.push(element)
    } else if (typeof next === 'object' && next !== null) {
      const members = Object.values(next)
      bytes += OBJECT_BYTES + members.length * MEMBER_BYTES
      for (const member of members) left.push(member)
    }
  }
  return bytes
}
