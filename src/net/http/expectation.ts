import { BODY_NONE, type BodyKind } from './framing.ts'
import type { Head } from './head.ts'

/** Who sends the 100 for `Expect: 100-continue` of a request, and whether it has been sent (RFC 9110, 10.1.1). */
export class Expectation {
  #owed = false
  #passed = false

  begin(head: Head, kind: BodyKind): void {
    this.#owed = head.expectsContinue && kind !== BODY_NONE
    this.#passed = false
  }

  /** The client may still wait. */
  get owed(): boolean {
    return this.#owed
  }

  /** Leaves the answer to the backend. @returns whether one is owed */
  pass(): boolean {
    this.#passed = this.#owed
    return this.#owed
  }

  /** The body has a consumer. @returns whether to send 100 now */
  bodyWanted(): boolean {
    return !this.#passed && this.answered()
  }

  /** @returns whether to send 100 now, as it has not been sent before */
  answered(): boolean {
    const { owed } = this
    this.#owed = false
    return owed
  }
}
