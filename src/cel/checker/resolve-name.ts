import type { Expr } from '../ast.ts'
import type { Environment, VariableNode } from '../environment.ts'
import { qualifiedName } from '../qualified-name.ts'
import { type Type, typeOf } from '../type.ts'
import { BUILT_IN_TYPES, typeValueOf } from '../type-name.ts'
import type { Value } from '../value.ts'

/** The declaration that a name refers to. */
export type Resolution<C> =
  | { readonly kind: 'variable'; readonly scope: VariableNode<C>; readonly type: Type }
  | { readonly kind: 'root'; readonly scope: VariableNode<C>; readonly type: Type }
  | { readonly kind: 'unavailable'; readonly scope: VariableNode<C> }
  | { readonly kind: 'constant'; readonly value: Value; readonly type: Type }
  | { readonly kind: 'local'; readonly slot: number; readonly type: Type }

/**
 * Resolves a whole qualified name, innermost namespace first. Variables take precedence over types and constants. A name that continues
 * after a declared variable (`request.headers.host`) is not found; only its prefix is.
 */
export function resolveQualified<C>(
  name: string,
  absolute: boolean,
  environment: Environment<C>,
): Resolution<C> | undefined {
  for (const candidate of candidateNames(name, absolute ? '' : environment.container)) {
    const found = resolveExactly(candidate, environment)
    if (found !== undefined) return found
  }
  return undefined
}

function resolveExactly<C>(name: string, environment: Environment<C>): Resolution<C> | undefined {
  const scope = findScope(environment.root, name)
  if (scope?.variable !== undefined) return { kind: 'variable', scope, type: scope.variable.type }
  if (scope?.unavailable !== undefined) return { kind: 'unavailable', scope }
  if (scope !== undefined) return { kind: 'root', scope, type: scope.rootType }
  const constant = environment.provider?.findConstant(name)
  if (constant !== undefined) return { kind: 'constant', ...constant }
  const type = BUILT_IN_TYPES.get(name) ?? environment.provider?.findType(name)
  return type === undefined ? undefined : { kind: 'constant', value: typeValueOf(type), type: typeOf(type) }
}

/** Full names to try, innermost namespace first: container `a.b`, name `x` gives `a.b.x`, `a.x`, `x`. */
export function candidateNames(name: string, container: string): string[] {
  const parts = container === '' ? [] : container.split('.')
  return [...parts.map((_, i) => [...parts.slice(0, parts.length - i), name].join('.')), name]
}

function findScope<C>(root: VariableNode<C>, name: string): VariableNode<C> | undefined {
  let scope = root
  for (const part of name.split('.')) {
    const child = scope.children.get(part)
    if (child === undefined) return undefined
    scope = child
  }
  return scope
}

/** Every variable at or below a node. */
export function* variablesBelow<C>(scope: VariableNode<C>): Iterable<string> {
  if (scope.variable !== undefined) yield scope.path
  for (const child of scope.children.values()) yield* variablesBelow(child)
}

/** The first name of a chain `a.b.c`. */
export function headOf(expr: Expr): string | undefined {
  return qualifiedName(expr)?.split('.')[0]
}
