import { isSameName, readsLike } from './same-name.ts'

const NONE: readonly string[] = []

/** Names of header fields by length: received fields are compared with few of them, and without a string for each field. `_` and `-` are equal. */
export class NameTable {
  readonly #byLength: readonly (readonly string[])[]

  /** @param names in lower case */
  constructor(names: readonly string[]) {
    const longest = Math.max(0, ...names.map(({ length }) => length))
    this.#byLength = Array.from({ length: longest + 1 }, (_, length) => names.filter((name) => name.length === length))
  }

  /** @param lowerName lower case */
  hasSame(lowerName: string): boolean {
    return this.#ofLength(lowerName.length).some((name) => isSameName(lowerName, name))
  }

  /** Whether a part of the text is one of the names, in any case. */
  hasPart(text: string, start: number, end: number): boolean {
    for (const name of this.#ofLength(end - start)) if (readsLike(text, start, name)) return true
    return false
  }

  #ofLength(length: number): readonly string[] {
    return this.#byLength[length] ?? NONE
  }
}
