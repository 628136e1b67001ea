import type { Expression, ExpressionEnvironment } from './expression.ts'
import { PATH_VARIABLES } from './variables/request-variables.ts'

/** Where an expression decides nothing about the request: what it makes of it is only written down. */
const ONLY_OBSERVING: ReadonlySet<ExpressionEnvironment> = new Set(['log', 'metric', 'trace', 'resource', 'health'])

/** Whether something about the request is decided by the expressions of a environment. */
export function decides(environment: ExpressionEnvironment): boolean {
  return !ONLY_OBSERVING.has(environment)
}

/** Whether an expression reads the path, also in `request` as a whole, as `variables()` does; known from its text alone. */
export function readsPath({ references }: Expression): boolean {
  return PATH_VARIABLES.some((path) => references.has(path))
}
