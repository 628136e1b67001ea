import { CelError, COST_EXCEEDED, OUT_OF_BOUNDS } from './error.ts'

/**
 * Remaining steps of evaluations. Evaluations that run one after the other may share a budget; `weights.ts` has the
 * costs. Steps depend on the expression and its data alone, never on a clock.
 */
export interface Budget {
  left: number
}

/** A whole budget: about 20 ms of work where weights were measured. */
export const WHOLE_BUDGET = 20_000_000

/** For work outside of evaluations, such as JSON that the host converts. It has a separate object shape, so that other budgets hold integers. */
const UNBOUNDED: Budget & { readonly unbounded: true } = { unbounded: true, left: Number.POSITIVE_INFINITY }

/** Of the evaluation at work. There is one at a time: evaluating never waits. */
let current: Budget = UNBOUNDED

/** Takes steps before the work that they stand for. Ends the evaluation when too few are left. */
export function charge(steps: number, exceeded: CelError = COST_EXCEEDED): void {
  current.left -= steps
  if (current.left < 0) throw exceeded
}

/**
 * Runs work that is charged to a budget.
 * @returns what it returned, or the limit that ended it; only a bug of the host throws
 */
export function evaluateWithin<T>(budget: Budget, work: () => T): T | CelError {
  const before = chargeTo(budget)
  try {
    return work()
  } catch (error) {
    return limitOrThrow(error)
  } finally {
    chargeTo(before)
  }
}

/** The budget that work is charged to from now on. @returns the one so far, to be put back */
export function chargeTo(budget: Budget): Budget {
  const before = current
  current = budget
  return before
}

/** Deeply nested data or a huge text meet the runtime's own limits; anything else is a bug and goes on. */
export function limitOrThrow(error: unknown): CelError {
  if (error instanceof CelError) return error
  if (error instanceof RangeError) return OUT_OF_BOUNDS
  throw error
}
