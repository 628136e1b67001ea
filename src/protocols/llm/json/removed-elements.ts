import type { Splice } from './splice.ts'

/** Where an element is. */
interface Element {
  readonly place: number
  readonly end: number
}

const NOTHING = new Uint8Array(0)

/** Edits that remove elements from a list, each with a comma. All elements are told, in order. */
export class RemovedElements {
  readonly splices: Splice[] = []
  /** Everything before this position is kept, or its removal is among the edits; negative: no element has been kept yet. */
  #keptUpTo = -1
  /** Of the removed elements before the first one that is kept. */
  #start = -1
  #end = -1

  keep({ place, end }: Element): void {
    if (this.#keptUpTo < 0 && this.#start >= 0) this.#remove(this.#start, place)
    this.#keptUpTo = end
  }

  remove({ place, end }: Element): void {
    if (this.#keptUpTo >= 0) {
      this.#remove(this.#keptUpTo, end)
      this.#keptUpTo = end
    } else {
      if (this.#start < 0) this.#start = place
      this.#end = end
    }
  }

  /** There are no more. */
  end(): this {
    if (this.areAll) this.#remove(this.#start, this.#end)
    return this
  }

  /** Nothing is left of a list that had elements. */
  get areAll(): boolean {
    return this.#keptUpTo < 0 && this.#start >= 0
  }

  #remove(start: number, end: number): void {
    this.splices.push({ start, end, text: NOTHING })
  }
}
