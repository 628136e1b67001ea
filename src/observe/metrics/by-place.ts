import { type Exchange, NO_PLAN_NAMES, type PlanNames } from '#exchange/exchange.ts'

/** Binds of a place that are known: a listener on all addresses of the host has one for each address that clients use. */
const MAX_BINDS = 64

interface Bound<T> {
  readonly address: string
  readonly port: number
  readonly kept: T
}

/** Keeps something for each place and bind, such as the series of its requests. */
export class ByPlace<T> {
  readonly #create: () => T
  readonly #places = new WeakMap<PlanNames, Bound<T>[]>()

  constructor(create: () => T) {
    this.#create = create
  }

  of({ names = NO_PLAN_NAMES, peer: { localAddress, localPort } }: Pick<Exchange, 'names' | 'peer'>): T {
    let binds = this.#places.get(names)
    if (binds === undefined) {
      binds = []
      this.#places.set(names, binds)
    }
    for (const { address, port, kept } of binds) if (port === localPort && address === localAddress) return kept
    const kept = this.#create()
    if (binds.length < MAX_BINDS) binds.push({ address: localAddress, port: localPort, kept })
    return kept
  }
}
