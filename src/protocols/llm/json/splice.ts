import { allocate } from './native.ts'

/** One edit: replaces the bytes from `start` to `end` by `text`. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: Uint8Array
}

const encoder = new TextEncoder()

/** UTF-8 bytes of `text`. */
export function encode(text: string): Uint8Array {
  return encoder.encode(text)
}

/** The same bytes elsewhere. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = allocate(bytes.length)
  copy.set(bytes)
  return copy
}

/**
 * A copy of `bytes` with all edits; everything else is unchanged. Ranges must not overlap. Insertions at the same position are applied in
 * the order of the list.
 * @returns `bytes` itself if there is nothing to change
 */
export function applySplices(bytes: Uint8Array, splices: readonly Splice[]): Uint8Array {
  if (splices.length === 0) return bytes
  const ordered = splices.length === 1 ? splices : splices.toSorted((one, other) => one.start - other.start)
  let length = bytes.length
  for (const { start, end, text } of ordered) length += text.length - (end - start)
  const out = allocate(length)
  let from = 0
  let to = 0
  for (const { start, end, text } of ordered) {
    out.set(bytes.subarray(from, start), to)
    to += start - from
    out.set(text, to)
    to += text.length
    from = end
  }
  out.set(bytes.subarray(from), to)
  return out
}
