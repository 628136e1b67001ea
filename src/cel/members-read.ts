import { type Expr, partsOf } from './ast.ts'
import type { Checked } from './checker/check-state.ts'
import type { Environment } from './environment.ts'

/** Names of members; `all` if only an evaluation determines them. */
export type MembersRead = ReadonlySet<string> | 'all'

/** The members of the host object `path` that an evaluation may read, as written. */
export function membersRead<C>(
  expr: Expr,
  checked: Checked<C>,
  { hostTypes }: Environment<C>,
  path: string,
): MembersRead {
  if (!checked.references.has(path)) return new Set()
  const names = new Set<string>()

  /** Whether it is the object, or the result of a method on the whole object: `h.redacted()`. */
  const isObject = (part: Expr): boolean => {
    const resolution = checked.resolutions.get(part)
    if (resolution?.kind === 'variable' && part.kind !== 'has') return resolution.scope.path === path
    if (part.kind !== 'call' || part.target === undefined || !isObject(part.target)) return false
    const type = checked.types.get(part)
    return type?.kind === 'object' && hostTypes.has(type.name)
  }

  /** @returns whether all members that it reads are known */
  const visit = (part: Expr): boolean => {
    const resolution = checked.resolutions.get(part)
    if (isObject(part)) return false
    if (resolution?.kind === 'root') return !isBelow(path, resolution.scope.path)
    // A declared name is one unit: `request` in `request.method` reads nothing.
    if (resolution !== undefined && part.kind !== 'struct') return true
    if ((part.kind === 'select' || part.kind === 'has') && isObject(part.operand)) return add(part.field)
    if (part.kind === 'index' && isObject(part.operand)) return addKey(part.index)
    if (part.kind === 'binary' && part.operator === 'in' && isObject(part.right)) return addKey(part.left)
    if (part.kind === 'call' && part.target === undefined && part.name === 'variables') return false
    return partsOf(part).every(visit)
  }
  const add = (name: string): true => {
    names.add(name)
    return true
  }
  const addKey = (key: Expr): boolean => key.kind === 'literal' && typeof key.value === 'string' && add(key.value)

  return visit(expr) ? names : 'all'
}

function isBelow(path: string, root: string): boolean {
  return root === '' || path.startsWith(`${root}.`)
}
