import type { State } from './automaton.ts'

/** Shorter distances cost more than they save. */
const MIN_SPACING = 16

/**
 * What searches have found out about threads that outlived the last match: they did not match. The next search begins where that match ends,
 * and reads the same text again. Without this memory, `a(?:.*END)?` in many `a` without `END` would read the rest of the text for each of them. Remembered
 * at every `spacing` units, so that each unit is read a bounded number of times, and a text needs no more memory than a number for each unit.
 */
export class DeadEnds {
  readonly #spacing: number
  /** By number of the checkpoint, ascending. */
  #known: Map<number, Int32Array> | undefined
  /** The same of the running search, since its last match. */
  #open: { readonly checkpoint: number; readonly pcs: Int32Array }[] | undefined

  /** @param threads at most so many live at a time */
  constructor(threads: number) {
    this.#spacing = Math.max(MIN_SPACING, threads)
  }

  /** The first checkpoint after `position`. */
  after(position: number): number {
    return position - (position % this.#spacing) + this.#spacing
  }

  /** The instructions of threads that match nothing from `position` on, at the first character at or after a checkpoint. */
  at(position: number): Int32Array | undefined {
    return this.#known?.get(Math.floor(position / this.#spacing))
  }

  /** The search has a match, and goes on with these threads at `position`. */
  note(position: number, { pcs }: State): void {
    this.#open ??= []
    this.#open.push({ checkpoint: Math.floor(position / this.#spacing), pcs })
  }

  /** What was noted led to a match. */
  drop(): void {
    this.#open = undefined
  }

  /** The search is over; the next one begins at `position`. */
  keep(position: number): void {
    if (this.#known !== undefined) this.#forgetBefore(this.#known, position)
    if (this.#open === undefined) return
    this.#known ??= new Map()
    for (const { checkpoint, pcs } of this.#open) {
      const known = this.#known.get(checkpoint)
      // Known threads were left out, so that none is there twice.
      this.#known.set(checkpoint, known === undefined ? pcs : Int32Array.of(...known, ...pcs))
    }
    this.#open = undefined
  }

  #forgetBefore(known: Map<number, Int32Array>, position: number): void {
    for (const checkpoint of known.keys()) {
      if (checkpoint * this.#spacing >= position) return
      known.delete(checkpoint)
    }
  }
}
