export type Cell = 'pass' | { readonly cannot: string } | { readonly failed: string }

/** Clients and scenarios by upstream. */
export class Table {
  failures = 0
  readonly #upstreams: readonly string[]
  readonly #rows = new Map<string, Map<string, Map<string, Cell>>>()

  constructor(upstreams: readonly string[]) {
    this.#upstreams = upstreams
  }

  /** Fixes the order of rows. */
  expect(client: string, scenarios: readonly string[]): void {
    this.#rows.set(client, new Map(scenarios.map((scenario) => [scenario, new Map()])))
  }

  add(client: string, upstream: string, scenario: string, cell: Cell): void {
    const rows = this.#rows.get(client) ?? new Map<string, Map<string, Cell>>()
    const row = rows.get(scenario) ?? new Map<string, Cell>()
    this.#rows.set(client, rows.set(scenario, row.set(upstream, cell)))
    if (typeof cell === 'object' && 'failed' in cell) this.failures++
  }

  /** Prints a line for each scenario of each client, then why cells are not `ok`. */
  print(): void {
    let passed = 0
    let impossible = 0
    const reasons = new Map<string, Map<string, string[]>>()
    for (const [client, rows] of this.#rows) {
      console.log(`\n${client.padEnd(30)}${this.#upstreams.map((name) => name.padEnd(11)).join('')}`)
      for (const [scenario, row] of rows) {
        const cells = this.#upstreams.map((upstream) => {
          const cell = row.get(upstream)
          if (cell === undefined) return ''
          if (cell === 'pass') {
            passed++
            return 'ok'
          }
          const isImpossible = 'cannot' in cell
          if (isImpossible) impossible++
          const why = isImpossible
            ? `cannot: ${cell.cannot}`
            : `FAIL: ${cell.failed.replaceAll(/\s+/g, ' ').slice(0, 400)}`
          const reason = `${client}: ${why}`
          const places = reasons.get(reason) ?? new Map<string, string[]>()
          reasons.set(reason, places.set(scenario, [...(places.get(scenario) ?? []), upstream]))
          return isImpossible ? '-' : 'FAIL'
        })
        console.log(
          `  ${scenario.padEnd(28)}${cells
            .map((text) => text.padEnd(11))
            .join('')
            .trimEnd()}`,
        )
      }
    }
    console.log('')
    for (const [reason, places] of reasons) console.log(`${reason} (${placesOf(places)})`)
    console.log(`\n${passed} passed, ${impossible} cannot, ${this.failures} failed`)
  }
}

/** Scenarios with the same upstreams together. */
function placesOf(scenarios: ReadonlyMap<string, readonly string[]>): string {
  const together = new Map<string, string[]>()
  for (const [scenario, upstreams] of scenarios) {
    const key = upstreams.join(', ')
    together.set(key, [...(together.get(key) ?? []), scenario])
  }
  return [...together]
    .map(([upstreams, names]) => `${names.length > 9 ? 'all' : names.join(', ')}: ${upstreams}`)
    .join('; ')
}
