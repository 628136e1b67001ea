import type { Pace, Steps } from '#base/in-slices.ts'
import { orderInSteps } from '#base/order-in-steps.ts'
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
  const isOrdered = splices.every(({ start }, index) => index === 0 || splices[index - 1]!.start <= start)
  const ordered = isOrdered ? splices : splices.toSorted((one, other) => one.start - other.start)
  let added = 0
  for (const splice of ordered) added += addedBy(splice)
  const copy = new SplicedCopy(bytes, added)
  for (const splice of ordered) copy.write(splice)
  return copy.finish()
}

/** The work for an edit besides that for its text. */
const WORK_PER_SPLICE = 64
/** So many bytes are copied in the time for one unit of work. */
const COPIED_PER_WORK = 16

/** The same; it yields between edits. */
export function* spliceInSteps(bytes: Uint8Array, splices: readonly Splice[], pace: Pace): Steps<Uint8Array> {
  if (splices.length === 0) return bytes
  const ordered = yield* orderInSteps(splices, pace)
  let added = 0
  for (const splice of ordered) {
    added += addedBy(splice)
    if (pace.after(1)) yield
  }
  const copy = new SplicedCopy(bytes, added)
  for (const splice of ordered) {
    copy.write(splice)
    if (pace.after(WORK_PER_SPLICE + splice.text.length / COPIED_PER_WORK)) yield
  }
  return copy.finish()
}

/** So many bytes more are in the text with the edit. */
function addedBy({ start, end, text }: Splice): number {
  return text.length - (end - start)
}

class SplicedCopy {
  readonly #bytes: Uint8Array
  readonly #out: Uint8Array
  #from = 0
  #to = 0

  /** @param added so many bytes more than `bytes` */
  constructor(bytes: Uint8Array, added: number) {
    this.#bytes = bytes
    this.#out = allocate(bytes.length + added)
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
