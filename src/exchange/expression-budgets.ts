import { type Budget, WHOLE_BUDGET } from '#cel/index.ts'

/**
 * Steps that the expressions of one exchange may take together. A request holds its worker three times: on its way, on the way
 * back, and when its end is recorded. Each time has a whole budget, however many expressions share it (decision A-137).
 */
export class ExpressionBudgets {
  readonly request: Budget = { left: WHOLE_BUDGET }
  readonly response: Budget = { left: WHOLE_BUDGET }
  readonly record: Budget = { left: WHOLE_BUDGET }
}
