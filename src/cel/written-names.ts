import { type Expr, partsOf } from './ast.ts'
import type { Checked } from './checker/check-state.ts'

/**
 * The names of members in data without a declared type, such as JSON, that an expression contains: fields, and all constant texts, because any
 * of them may be a key. Keys that only an evaluation determines are missing.
 */
export function writtenNames<C>(expr: Expr, { resolutions }: Checked<C>): ReadonlySet<string> {
  const names = new Set<string>()
  const visit = (part: Expr): void => {
    // A declared name is one unit: `request` and `method` in `request.method` are not names in data.
    if (resolutions.has(part) && part.kind !== 'struct') return
    if (part.kind === 'literal' && typeof part.value === 'string') names.add(part.value)
    if (part.kind === 'select' || part.kind === 'has') names.add(part.field)
    for (const below of partsOf(part)) visit(below)
  }
  visit(expr)
  return names
}
