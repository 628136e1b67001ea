import type { JsonValue } from '../json/json-document.ts'

/** More are counted, not listed. */
const MAX_LISTED = 50

/**
 * What a translation could not carry, as paths of the body that it was read from (decision B26). They go into the decision record and
 * `explain`.
 */
export class Losses {
  readonly #paths: string[] = []
  #more = 0

  /** @param why said after the path, if it is not plain that the target has no counterpart */
  drop(value: JsonValue, why?: string): void {
    if (this.isListFull) this.countOne()
    else this.#paths.push(why === undefined ? value.path : `${value.path} (${why})`)
  }

  /** What is dropped from now on is counted, so that its path need not be known. */
  get isListFull(): boolean {
    return this.#paths.length === MAX_LISTED
  }

  countOne(): void {
    this.#more++
  }

  /** In the order in which they were found. */
  get paths(): readonly string[] {
    return this.#more === 0 ? this.#paths : [...this.#paths, `${this.#more} more`]
  }
}
