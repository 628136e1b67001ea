import type { Binary, Call, Comprehension, Expr } from './ast.ts'
import type { Checked } from './checker/check-state.ts'
import { variablesBelow } from './checker/resolve-name.ts'
import type { VariableNode } from './environment.ts'

/** The results that an evaluation may have. A value that is not a bool counts as both true and false. */
export interface PossibleResults {
  readonly true: boolean
  readonly false: boolean
  /** It fails because a variable is absent. Other failures are not considered. */
  readonly absent: boolean
}

/** Whether a variable is present; undefined: not known. */
export type Presence = (path: string) => boolean | undefined

const TRUE: PossibleResults = { true: true, false: false, absent: false }
const FALSE: PossibleResults = { true: false, false: true, absent: false }
const ANY: PossibleResults = { true: true, false: true, absent: false }
/** A broken expression has no result. */
export const NO_RESULT: PossibleResults = { true: false, false: false, absent: false }
const ABSENT: PossibleResults = { true: false, false: false, absent: true }

/**
 * The possible results of an expression when some of its variables are known to be present or absent. An upper bound: a result that it
 * excludes is impossible, but one that it includes may not occur.
 */
export function possibleResults<C>(expr: Expr, checked: Checked<C>, presence: Presence): PossibleResults {
  const { resolutions, slots } = checked
  const locals = new Map<number, PossibleResults>()

  const visit = (part: Expr): PossibleResults => {
    const resolution = resolutions.get(part)
    if (part.kind === 'has') {
      return ofPresence(resolution?.kind === 'variable' || resolution?.kind === 'root' ? resolution.scope : undefined)
    }
    if (resolution?.kind === 'variable') return presence(resolution.scope.path) === false ? ABSENT : ANY
    if (resolution?.kind === 'local') return locals.get(resolution.slot) ?? ANY
    if (resolution !== undefined) return ANY
    switch (part.kind) {
      case 'literal':
        return part.value === true ? TRUE : part.value === false ? FALSE : ANY
      case 'unary':
        return part.operator === '!' ? negate(visit(part.operand)) : strict([visit(part.operand)])
      case 'logic':
        return part.operator === '&&' ? every(part.operands.map(visit)) : some(part.operands.map(visit))
      case 'conditional':
        return choose(visit(part.condition), visit(part.then), visit(part.otherwise))
      case 'binary':
        return part.operator === 'in' ? ofMembership(part) : strict([visit(part.left), visit(part.right)])
      case 'select':
        return part.optional ? ANY : strict([visit(part.operand)])
      case 'index':
        return part.optional ? ANY : strict([visit(part.operand), visit(part.index)])
      case 'call':
        return ofCall(part)
      case 'comprehension':
        return ofComprehension(part)
      case 'bind':
        if (part.macro !== 'bind' && part.macro !== 'with') return ANY
        locals.set(slots.get(part)![0]!, visit(part.value))
        return visit(part.body)
      default:
        return ANY
    }
  }

  /** `has(mcp.tool)` is false if all variables below are absent. */
  const ofPresence = (scope: VariableNode<C> | undefined): PossibleResults => {
    if (scope === undefined) return ANY
    const known = [...variablesBelow(scope)].map(presence)
    if (known.every((present) => present === false)) return FALSE
    return known.includes(true) ? TRUE : ANY
  }

  /** `"name" in mcp.tool` */
  const ofMembership = ({ left, right }: Binary): PossibleResults => {
    const root = resolutions.get(right)
    if (root?.kind !== 'root') return strict([visit(left), visit(right)])
    return ofPresence(left.kind === 'literal' ? root.scope.children.get(`${left.value}`) : undefined)
  }

  const ofCall = ({ target, name, args }: Call): PossibleResults => {
    if (target === undefined && name === 'variables') return ANY
    if (target === undefined && (name === 'default' || name === 'coalesce')) return firstPresent(args.map(visit))
    return strict([...(target === undefined ? [] : [visit(target)]), ...args.map(visit)])
  }

  const ofComprehension = ({ macro, range, filter, body }: Comprehension): PossibleResults => {
    const ofRange = visit(range)
    if (ofRange.absent && !ofRange.true) return ABSENT
    if (filter !== undefined || (macro !== 'all' && macro !== 'exists')) return ANY
    const ofBody = visit(body)
    const mayBeEmpty = range.kind !== 'list' || range.elements.every(({ optional }) => optional)
    if (!mayBeEmpty) return ofBody
    return macro === 'all' ? { ...ofBody, true: true } : { ...ofBody, false: true }
  }

  return visit(expr)
}

function negate(of: PossibleResults): PossibleResults {
  return { true: of.false, false: of.true, absent: of.absent }
}

/** A deciding operand hides failures of the others. */
function every(all: readonly PossibleResults[]): PossibleResults {
  return {
    true: all.every((one) => one.true),
    false: all.some((one) => one.false),
    absent: all.some((one) => one.absent) && all.every((one) => one.true || one.absent),
  }
}

function some(all: readonly PossibleResults[]): PossibleResults {
  return negate(every(all.map(negate)))
}

/** An operation that needs all of its arguments. */
function strict(all: readonly PossibleResults[]): PossibleResults {
  const has = all.every((one) => one.true || one.false)
  return { true: has, false: has, absent: all.some((one) => one.absent) }
}

function choose(condition: PossibleResults, then: PossibleResults, otherwise: PossibleResults): PossibleResults {
  const of = (key: keyof PossibleResults) => (condition.true && then[key]) || (condition.false && otherwise[key])
  return { true: of('true'), false: of('false'), absent: condition.absent || of('absent') }
}

/** The first argument that is present. */
function firstPresent([first = ABSENT, ...rest]: readonly PossibleResults[]): PossibleResults {
  return first.absent
    ? choose(ANY, { ...first, absent: false }, rest.length === 0 ? ABSENT : firstPresent(rest))
    : first
}
