import { CelError, COST_EXCEEDED, OUT_OF_BOUNDS } from './error.ts'

/**
 * The remaining steps of evaluations. Evaluations that run one after the other may share a budget; `weights.ts` has the costs. Steps depend
 * only on the expression and its data, never on a clock.
 */
export interface Budget {
  left: number
}

/** A whole budget: about 20 ms of work on the machine where the weights were measured. */
export const WHOLE_BUDGET = 20_000_000

/**
 * For work outside of evaluations, such as JSON conversion by the host. It is a separate object shape, so that `left` of other budgets
 * stays an integer.
 */
const UNBOUNDED: Budget & { readonly unbounded: true } = { unbounded: true, left: Number.POSITIVE_INFINITY }

/** The budget of the current evaluation. There is only one at a time, because evaluation is synchronous. */
let current: Budget = UNBOUNDED

/** Charges steps before the work. Ends the evaluation if too few are left. */
export function charge(steps: number, exceeded: CelError = COST_EXCEEDED): void {
  current.left -= steps
  if (current.left < 0) throw exceeded
}

/** Runs work that is charged to a budget. @returns its result, or the limit that ended it; throws only for a bug of the host */
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

/** Sets the budget that work is charged to. @returns the previous budget, to be restored */
export function chargeTo(budget: Budget): Budget {
  const before = current
  current = budget
  return before
}

/** Converts a stack or string length overflow of the runtime to a limit; anything else is a bug and is thrown again. */
export function limitOrThrow(error: unknown): CelError {
  if (error instanceof CelError) return error
  if (error instanceof RangeError) return OUT_OF_BOUNDS
  throw error
}
