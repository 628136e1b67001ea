import type { Expression, ExpressionEnvironment } from './expression.ts'
import { A2A_METHOD } from './variables/a2a-variables.ts'
import { PATH_VARIABLES } from './variables/request-variables.ts'

/** Environments whose expressions only observe and do not decide about the request. */
const ONLY_OBSERVING: ReadonlySet<ExpressionEnvironment> = new Set(['log', 'metric', 'trace', 'resource', 'health'])

/** Whether the expressions of an environment decide about the request. */
export function decides(environment: ExpressionEnvironment): boolean {
  return !ONLY_OBSERVING.has(environment)
}

/** Whether an expression reads the path, including `request` as a whole, as in `variables()`. Determined from its text. */
export function readsPath({ references }: Expression): boolean {
  return references.has(A2A_METHOD) || PATH_VARIABLES.some((path) => references.has(path))
}
