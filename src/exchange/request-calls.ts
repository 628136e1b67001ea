import type { CallKeeper, EndedCall } from './call.ts'

/** Calls of a request that are kept; further ones count without the labels of the request. */
const MAX_KEPT = 1000

/** The calls that a request has caused, until it has ended: only then their labels are known. */
export class RequestCalls implements CallKeeper {
  #ended: EndedCall[] | undefined = []

  /** @returns false: the request has ended, or has too many calls */
  keep(call: EndedCall): boolean {
    if (this.#ended === undefined || this.#ended.length >= MAX_KEPT) return false
    this.#ended.push(call)
    return true
  }

  /** The request has ended. */
  take(): readonly EndedCall[] {
    const ended = this.#ended ?? []
    this.#ended = undefined
    return ended
  }
}
