import type { UnavailableVariable, Variable } from '#cel/index.ts'
import type { Exchange } from '../exchange.ts'

/** A variable of expressions, or the name of one that nothing can give yet, with the reason. */
export type Declared = Variable<Exchange> | UnavailableVariable

/** Names that exist in the language of the gateway, but have no value in this version. */
export function notYet(paths: readonly string[], why: string): readonly UnavailableVariable[] {
  return paths.map((path) => ({ path, unavailable: `not implemented yet: ${why}` }))
}

/** An empty text says "unknown" in the records of the gateway; expressions find nothing there. */
export function known(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}
