import { type Budget, WHOLE_BUDGET } from '#cel/index.ts'

/**
 * Steps that the expressions of one exchange may take together. A request holds its worker three times: on its way, on the way
 * back, and when its end is recorded. Each time has a whole budget, however many expressions share it (decision A-137).
 */
export class ExpressionBudgets {
  // Made by the first expression that asks: most requests meet none.
  #request: Budget | undefined
  #response: Budget | undefined
  #record: Budget | undefined

  get request(): Budget {
    this.#request ??= { left: WHOLE_BUDGET }
    return this.#request
  }

  get response(): Budget {
    this.#response ??= { left: WHOLE_BUDGET }
    return this.#response
  }

  get record(): Budget {
    this.#record ??= { left: WHOLE_BUDGET }
    return this.#record
  }
}
