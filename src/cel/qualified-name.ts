import type { Expr } from './ast.ts'

/** `a.b.c` as text, if the expression consists of names and dots. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.optional) return undefined
  const prefix = qualifiedName(expr.operand)
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`
}

/** Whether a qualified name starts with a dot. */
export function isAbsolute(expr: Expr): boolean {
  if (expr.kind === 'ident') return expr.absolute
  return expr.kind === 'select' && isAbsolute(expr.operand)
}
