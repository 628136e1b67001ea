import type { Pace, Steps } from '#base/in-slices.ts'
import { allocate, encodeText } from './native.ts'

/** One edit: replaces the bytes from `start` to `end` by `text`. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: Uint8Array
}

/** UTF-8 bytes of `text`. */
export function encode(text: string): Uint8Array {
  return encodeText(text)
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
  const copy = new SplicedCopy(bytes, splices)
  for (const splice of copy.ordered) copy.write(splice)
  return copy.finish()
}

/** The work for an edit besides that for its text. */
const WORK_PER_SPLICE = 64

/** The same; it yields between edits. */
export function* spliceInSteps(bytes: Uint8Array, splices: readonly Splice[], pace: Pace): Steps<Uint8Array> {
  if (splices.length === 0) return bytes
  const copy = new SplicedCopy(bytes, splices)
  for (const splice of copy.ordered) {
    copy.write(splice)
    if (pace.after(WORK_PER_SPLICE)) yield
  }
  return copy.finish()
}

class SplicedCopy {
  readonly ordered: readonly Splice[]
  readonly #bytes: Uint8Array
  readonly #out: Uint8Array
  #from = 0
  #to = 0

  constructor(bytes: Uint8Array, splices: readonly Splice[]) {
    const isOrdered = splices.every(({ start }, index) => index === 0 || splices[index - 1]!.start <= start)
    this.ordered = isOrdered ? splices : splices.toSorted((one, other) => one.start - other.start)
    let { length } = bytes
    for (const { start, end, text } of splices) length += text.length - (end - start)
    this.#bytes = bytes
    this.#out = allocate(length)
  }

  /** The bytes up to an edit, and its text. */
  write({ start, end, text }: Splice): void {
    this.#copyTo(start)
    this.#out.set(text, this.#to)
    this.#to += text.length
    this.#from = end
  }

  finish(): Uint8Array {
    this.#copyTo(this.#bytes.length)
    return this.#out
  }

  #copyTo(end: number): void {
    this.#out.set(this.#bytes.subarray(this.#from, end), this.#to)
    this.#to += end - this.#from
  }
}
