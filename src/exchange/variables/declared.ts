import type { UnavailableVariable, Variable } from '#cel/index.ts'
import type { Exchange } from '../exchange.ts'

/** A variable of expressions, or the name of one that is not implemented yet, with the reason. */
export type Declared = Variable<Exchange> | UnavailableVariable

/** Names that are declared, but have no value in this version. */
export function notYet(paths: readonly string[], why: string): readonly UnavailableVariable[] {
  return paths.map((path) => ({ path, unavailable: `not implemented yet: ${why}` }))
}

/** Empty text means unknown in the records of the gateway; in expressions such values are absent. */
export function known(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}
