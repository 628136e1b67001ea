import { Allowance } from '#base/allowance.ts'

/** Counts what each address has open, up to a limit. */
export class PeerCounts {
  readonly #max: number
  readonly #counts = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  /** @returns false: the address has as much as it may have */
  add(address: string): boolean {
    const count = this.#counts.get(address) ?? 0
    if (count >= this.#max) return false
    this.#counts.set(address, count + 1)
    return true
  }

  /** Must follow each `add` that returned true, once. */
  remove(address: string): void {
    const count = this.#counts.get(address) ?? 0
    if (count <= 1) this.#counts.delete(address)
    else this.#counts.set(address, count - 1)
  }
}

/** Addresses that are remembered; beyond, all begin anew. */
const MAX_ADDRESSES = 10_000

/** Limits how often each address does something: `burst` times at once, then `perSecond`. */
export class PeerRates {
  readonly #burst: number
  readonly #perSecond: number
  readonly #rates = new Map<string, Allowance>()

  constructor(burst: number, perSecond: number) {
    this.#burst = burst
    this.#perSecond = perSecond
  }

  /** @returns false: too often */
  take(address: string): boolean {
    let rate = this.#rates.get(address)
    if (rate === undefined) {
      if (this.#rates.size === MAX_ADDRESSES) this.#rates.clear()
      rate = new Allowance(this.#burst, this.#perSecond)
      this.#rates.set(address, rate)
    }
    return rate.take()
  }
}
