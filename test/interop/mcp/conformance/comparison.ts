/** How a check ended, from best to worst. `ABSENT`: the scenario did not come to it, which is no better than a failure. */
const RANKS = { SUCCESS: 0, INFO: 1, SKIPPED: 1, WARNING: 2, ABSENT: 3, FAILURE: 3 } as const

export type Status = keyof typeof RANKS

/** The result of one check of a scenario. */
export interface Check {
  readonly id: string
  readonly status: Status
  readonly why?: string
}

/** The checks of a run, by scenario. */
export type Results = ReadonlyMap<string, readonly Check[]>

/** A check that ended differently through the gateway. */
export interface Difference {
  readonly scenario: string
  readonly id: string
  readonly direct: Status
  readonly through: Status
  readonly why: string
}

/** The checks of both runs that count, and those that differ. */
export interface Comparison {
  readonly same: number
  readonly better: readonly Difference[]
  readonly worse: readonly Difference[]
}

/**
 * Compares a run through the gateway with a direct run, check by check. Several checks with one id (the suite repeats some) count as
 * their worst. What the suite only notes, and what it says about itself, is no check.
 */
export function compareResults(direct: Results, through: Results): Comparison {
  const better: Difference[] = []
  const worse: Difference[] = []
  let same = 0
  for (const scenario of new Set([...direct.keys(), ...through.keys()])) {
    const expected = worstById(direct.get(scenario) ?? [])
    const seen = worstById(through.get(scenario) ?? [])
    for (const id of new Set([...expected.keys(), ...seen.keys()])) {
      const before = expected.get(id) ?? absent(id)
      const after = seen.get(id) ?? absent(id)
      const isNote = [before, after].every(({ status }) => status === 'INFO' || status === 'ABSENT')
      if (isNote || id === 'wire-schema-harness-error') continue
      const difference = { scenario, id, direct: before.status, through: after.status, why: after.why ?? '' }
      if (isWorse(before.status, after.status)) worse.push(difference)
      else if (RANKS[after.status] < RANKS[before.status]) better.push(difference)
      else same++
    }
  }
  return { same, better, worse }
}

/** A check that only the run through the gateway came to is worse when it failed there. */
function isWorse(before: Status, after: Status): boolean {
  if (before === 'ABSENT') return after === 'FAILURE'
  return RANKS[after] > RANKS[before]
}

function worstById(checks: readonly Check[]): ReadonlyMap<string, Check> {
  const worst = new Map<string, Check>()
  for (const check of checks) {
    const known = worst.get(check.id)
    if (known === undefined || RANKS[check.status] > RANKS[known.status]) worst.set(check.id, check)
  }
  return worst
}

const absent = (id: string): Check => ({ id, status: 'ABSENT', why: 'the scenario did not come to this check' })
