import { type Expr, partsOf } from './ast.ts'
import type { Checked } from './checker/check-state.ts'

/**
 * Whether an evaluation may read the value of the variable `path`, or of one below it. To ask for the presence of something above, as in
 * `has(mcp.tool)`, reads no value; `references` includes all variables below it.
 */
export function readsPath<C>(expr: Expr, { resolutions }: Checked<C>, path: string): boolean {
  const isAt = (name: string) => name === path || name.startsWith(`${path}.`)
  const includes = (name: string) => isAt(name) || name === '' || path.startsWith(`${name}.`)

  /** The name that a part has below a declared root: `mcp.?tool.?name`. */
  const nameOf = (part: Expr): string | undefined => {
    const resolution = resolutions.get(part)
    if (resolution !== undefined) return resolution.kind === 'root' ? resolution.scope.path : undefined
    if (part.kind === 'select') return below(nameOf(part.operand), part.field)
    return part.kind === 'index' ? below(nameOf(part.operand), textOf(part.index)) : undefined
  }

  const visit = (part: Expr): boolean => {
    const resolution = resolutions.get(part)
    if (resolution?.kind === 'variable') return isAt(resolution.scope.path)
    if (part.kind === 'has') {
      if (resolution?.kind === 'root') return isAt(resolution.scope.path)
      if (resolution !== undefined) return false
      const name = below(nameOf(part.operand), part.field)
      return name === undefined ? visit(part.operand) : isAt(name)
    }
    if (part.kind === 'binary' && part.operator === 'in') {
      const name = below(nameOf(part.right), textOf(part.left))
      if (name !== undefined) return isAt(name)
    }
    const name = nameOf(part)
    if (name !== undefined) return includes(name)
    if (part.kind === 'call' && part.target === undefined && part.name === 'variables') return true
    return partsOf(part).some(visit)
  }
  return visit(expr)
}

function below(root: string | undefined, member: string | undefined): string | undefined {
  if (root === undefined || member === undefined) return undefined
  return root === '' ? member : `${root}.${member}`
}

function textOf(part: Expr): string | undefined {
  return part.kind === 'literal' && typeof part.value === 'string' ? part.value : undefined
}
