import { type Budget, WHOLE_BUDGET } from '#cel/index.ts'

/**
 * Steps that the expressions of one exchange may use together. A request occupies its worker in three phases: the request, the response,
 * and the recording of its end. Each phase has a full budget, shared by all its expressions (decision A-137).
 */
export class ExpressionBudgets {
  readonly request: Budget = { left: WHOLE_BUDGET }
  readonly response: Budget = { left: WHOLE_BUDGET }
  readonly record: Budget = { left: WHOLE_BUDGET }
}
