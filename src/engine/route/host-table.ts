/**
 * Values by hostname: exact, `*.suffix` (any number of labels), or any host (empty hostname). Tiers are searched from the most specific to
 * the least, until one has a result (docs/behaviour/http.md, "Finding a route").
 */
export class HostTable<T> {
  readonly #exact = new Map<string, T>()
  readonly #wildcard = new Map<string, T>()
  #any: T | undefined

  /** The value of a hostname, created on first use. */
  at(hostname: string, create: () => T): T {
    if (hostname === '' || hostname === '*') {
      this.#any ??= create()
      return this.#any
    }
    const wild = hostname.startsWith('*.')
    const table = wild ? this.#wildcard : this.#exact
    const key = wild ? hostname.slice(1) : hostname
    let value = table.get(key)
    if (value === undefined) {
      value = create()
      table.set(key, value)
    }
    return value
  }

  get(hostname: string): T | undefined {
    if (hostname === '' || hostname === '*') return this.#any
    return hostname.startsWith('*.') ? this.#wildcard.get(hostname.slice(1)) : this.#exact.get(hostname)
  }

  /** The first result of `ask` for the tiers that match the host (lower case, without port). */
  first<R>(host: string, ask: (value: T) => R | undefined): R | undefined {
    const exact = this.#exact.get(host)
    if (exact !== undefined) {
      const answer = ask(exact)
      if (answer !== undefined) return answer
    }
    if (this.#wildcard.size > 0) {
      for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
        const value = this.#wildcard.get(host.slice(dot))
        if (value === undefined || dot === 0) continue
        const answer = ask(value)
        if (answer !== undefined) return answer
      }
    }
    return this.#any === undefined ? undefined : ask(this.#any)
  }

  *entries(): Generator<[hostname: string, value: T]> {
    yield* this.#exact
    for (const [suffix, value] of this.#wildcard) yield [`*${suffix}`, value]
    if (this.#any !== undefined) yield ['', this.#any]
  }

  *values(): Generator<T> {
    yield* this.#exact.values()
    yield* this.#wildcard.values()
    if (this.#any !== undefined) yield this.#any
  }
}
