import type { Binary, Call, Expr } from './ast.ts'
import type { Checked } from './checker/check-state.ts'

/** A test of a member whose result another value of the member changes. */
export interface Mismatch {
  readonly test: Expr
  readonly member: string
  /** The result of the test for the other value. */
  readonly result: boolean
}

/** Methods that return a form of the same text. */
const FORMS: ReadonlySet<string> = new Set(['lowerAscii', 'upperAscii', 'trim', 'orValue', 'value'])
const FORMING_FUNCTIONS: ReadonlySet<string> = new Set(['default', 'coalesce'])
const TESTS: ReadonlySet<string> = new Set(['startsWith', 'endsWith', 'matches'])

/** The tests of members of the host object `path` that can make the expression `wanted` if a member has another value. */
export function findMismatches<C>(
  expr: Expr,
  { resolutions, types }: Checked<C>,
  path: string,
  wanted: boolean,
): readonly Mismatch[] {
  const found: Mismatch[] = []

  /** The object itself, or a view of it with the same type. */
  const isObject = (part: Expr): boolean => {
    const resolution = resolutions.get(part)
    if (resolution?.kind === 'variable') return resolution.scope.path === path
    if (part.kind !== 'call' || part.target === undefined || !isObject(part.target)) return false
    const [type, ofTarget] = [types.get(part), types.get(part.target)]
    return type?.kind === 'object' && ofTarget?.kind === 'object' && type.name === ofTarget.name
  }

  /** The member whose value an expression is, in any form. */
  const memberOf = (part: Expr): string | undefined => {
    if (part.kind === 'select' && isObject(part.operand)) return part.field
    if (part.kind === 'index' && isObject(part.operand)) return textOf(part.index)
    if (part.kind !== 'call') return undefined
    if (part.target === undefined) return FORMING_FUNCTIONS.has(part.name) ? memberOf(part.args[0]!) : undefined
    return FORMS.has(part.name) ? memberOf(part.target) : undefined
  }

  const note = (test: Expr, member: string | undefined, result: boolean, needed: boolean): void => {
    if (member !== undefined && result === needed) found.push({ test, member, result })
  }

  const visitBinary = (part: Binary, needed: boolean): void => {
    const { operator, left, right } = part
    if (operator === 'in') return note(part, memberOf(left), false, needed)
    if (operator !== '==' && operator !== '!=') return
    // Comparison with an empty text tests for presence.
    if (textOf(left) === '' || textOf(right) === '') return
    note(part, memberOf(left) ?? memberOf(right), operator === '!=', needed)
  }

  const visitCall = (part: Call, needed: boolean): void => {
    const { target, name, args } = part
    if (target === undefined && FORMING_FUNCTIONS.has(name)) return visitAll(args, needed)
    if (!TESTS.has(name)) return
    const [subject, pattern] = target === undefined ? args : [target, args[0]]
    if (subject === undefined || (name === 'matches' && !isAnchored(pattern))) return
    note(part, memberOf(subject), false, needed)
  }

  const visitAll = (parts: readonly Expr[], needed: boolean): void => {
    for (const part of parts) visit(part, needed)
  }

  /** `needed`: the value of the subexpression that makes the whole expression `wanted`. */
  const visit = (part: Expr, needed: boolean): void => {
    switch (part.kind) {
      case 'binary':
        return visitBinary(part, needed)
      case 'call':
        return visitCall(part, needed)
      case 'logic':
        return visitAll(part.operands, needed)
      case 'unary':
        return visit(part.operand, !needed)
      case 'conditional':
        visit(part.condition, true)
        visit(part.condition, false)
        visit(part.then, needed)
        return visit(part.otherwise, needed)
      case 'comprehension':
      case 'bind':
      case 'block':
        return visit(part.body, needed)
      default:
    }
  }

  visit(expr, wanted)
  return found
}

function textOf(expr: Expr): string | undefined {
  return expr.kind === 'literal' && typeof expr.value === 'string' ? expr.value : undefined
}

/** A pattern that is anchored at the beginning or end of the text. */
function isAnchored(pattern: Expr | undefined): boolean {
  const text = pattern === undefined ? undefined : textOf(pattern)
  return text === undefined || text.includes('^') || text.includes('$') || text.includes('\\A') || text.includes('\\z')
}
