import type { UnavailableVariable, Variable } from '#cel/index.ts'
import type { Exchange } from '../exchange.ts'

/** A variable of expressions, or a name that is not implemented yet, with the reason. */
export type Declared = Variable<Exchange> | UnavailableVariable

/** Names that are declared but not implemented yet. */
export function notYet(paths: readonly string[], why: string): readonly UnavailableVariable[] {
  return paths.map((path) => ({ path, unavailable: `not implemented yet: ${why}` }))
}

/** In exchanges, empty text means unknown; in expressions such values are absent. */
export function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}
