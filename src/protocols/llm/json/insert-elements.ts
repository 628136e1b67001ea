import { scanElements } from './scan-members.ts'
import { encode, type Splice } from './splice.ts'

/** JSON texts to insert before the element with that index; the number of elements means the end. In ascending order. */
export type Insertion = readonly [before: number, json: readonly string[]]

/** Position of a value. */
export interface Range {
  readonly start: number
  readonly end: number
}

/**
 * Splices that insert elements into the array at `range` of `bytes`; existing elements keep their bytes.
 * @param offsets where these are, from the start of the array
 */
export function insertElements(
  bytes: Uint8Array,
  { start, end }: Range,
  insertions: readonly Insertion[],
  offsets: readonly number[] = scanElements(bytes.subarray(start, end)),
): Splice[] {
  const count = offsets.length >> 1
  const inside = insertions.filter(([before, json]) => before < count && json.length > 0)
  const splices = inside.map(([before, json]) => insertAt(start + offsets[2 * before]!, `${json.join(',')},`))
  const atEnd = insertions.flatMap(([before, json]) => (before < count ? [] : json)).join(',')
  if (atEnd === '') return splices
  if (count === 0) return [...splices, insertAt(start + 1, atEnd)]
  return [...splices, insertAt(start + offsets[2 * count - 1]!, `,${atEnd}`)]
}

/** A splice that only inserts. */
export function insertAt(at: number, text: string): Splice {
  return { start: at, end: at, text: encode(text) }
}
