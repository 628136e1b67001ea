import { type Expr, type Logic, partsOf } from './ast.ts'
import { print } from './printer.ts'
import type { ProblemList } from './source.ts'
import { Double, Uint, type Value } from './value.ts'

/** What a condition requires of its subject. Members that it does not restrict are undefined. */
interface Requirement {
  readonly condition: Expr
  /** The only possible values. */
  readonly among?: readonly Plain[]
  readonly not?: Plain
  readonly prefix?: string
  readonly suffix?: string
  readonly range?: Range
}

interface Range {
  readonly from: number
  readonly to: number
  /** The bounds themselves are excluded. */
  readonly open: boolean
}

type Plain = string | number | boolean

/** Warns of conditions joined by `&&` of which one excludes another, such as two different texts of one variable: they are never true together. */
export function reportExclusions(expr: Expr, problems: ProblemList): void {
  if (expr.kind === 'logic' && expr.operator === '&&') reportIn(expr, problems)
  for (const part of partsOf(expr)) reportExclusions(part, problems)
}

function reportIn({ operands }: Logic, problems: ProblemList): void {
  const bySubject = new Map<string, Requirement[]>()
  for (const operand of operands) {
    const found = requirementOf(operand)
    if (found === undefined || isChanging(found.subject)) continue
    const subject = print(found.subject)
    const earlier = bySubject.get(subject) ?? naturalRange(found.subject)
    const excluded = earlier.find((each) => excludes(each, found.requirement))
    if (excluded !== undefined) {
      const { condition } = excluded
      const message =
        condition.kind === 'call' && condition.name === 'size'
          ? `${print(operand)} is never true: a size is not negative`
          : `${print(condition)} and ${print(operand)} are never true together`
      problems.warn('never-true', operand, message)
      return
    }
    bySubject.set(subject, [...earlier, found.requirement])
  }
}

/** A subject and what is required of it. */
interface Condition {
  readonly subject: Expr
  readonly requirement: Requirement
}

function requirementOf(condition: Expr): Condition | undefined {
  if (condition.kind === 'call' && condition.target !== undefined) {
    const text = plainOf(condition.args[0])
    if (typeof text !== 'string' || condition.args.length !== 1) return undefined
    const { target: subject } = condition
    if (condition.name === 'startsWith') return { subject, requirement: { condition, prefix: text } }
    return condition.name === 'endsWith' ? { subject, requirement: { condition, suffix: text } } : undefined
  }
  if (condition.kind !== 'binary') return undefined
  const { left, right, operator } = condition
  if (operator === 'in') return membership(condition, left, right)
  const [ofLeft, ofRight] = [plainOf(left), plainOf(right)]
  if (ofRight !== undefined && ofLeft === undefined) return comparison(condition, operator, left, ofRight)
  const mirrored = MIRRORED[operator]
  if (ofLeft === undefined || ofRight !== undefined || mirrored === undefined) return undefined
  return comparison(condition, mirrored, right, ofLeft)
}

const MIRRORED: Readonly<Record<string, string>> = {
  '==': '==',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
}

function membership(condition: Expr, subject: Expr, list: Expr): Condition | undefined {
  if (list.kind !== 'list' || list.elements.some(({ optional }) => optional)) return undefined
  const among = list.elements.map(({ value }) => plainOf(value))
  if (!among.every((value) => value !== undefined)) return undefined
  return { subject, requirement: { condition, among } }
}

function comparison(condition: Expr, operator: string, subject: Expr, value: Plain): Condition | undefined {
  if (operator === '==') return { subject, requirement: { condition, among: [value] } }
  if (operator === '!=') return { subject, requirement: { condition, not: value } }
  if (typeof value !== 'number') return undefined
  const open = operator === '<' || operator === '>'
  const range = operator.startsWith('<')
    ? { from: Number.NEGATIVE_INFINITY, to: value, open }
    : { from: value, to: Number.POSITIVE_INFINITY, open }
  return operator.startsWith('<') || operator.startsWith('>')
    ? { subject, requirement: { condition, range } }
    : undefined
}

/** `size(x)` is never negative. */
function naturalRange(subject: Expr): Requirement[] {
  const isSize = subject.kind === 'call' && subject.name === 'size'
  return isSize ? [{ condition: subject, range: { from: 0, to: Number.POSITIVE_INFINITY, open: false } }] : []
}

function excludes(one: Requirement, other: Requirement): boolean {
  return (
    (one.among !== undefined && !one.among.some((value) => allows(other, value))) ||
    (other.among !== undefined && !other.among.some((value) => allows(one, value))) ||
    areApart(one.prefix, other.prefix, (text, part) => text.startsWith(part)) ||
    areApart(one.suffix, other.suffix, (text, part) => text.endsWith(part)) ||
    (one.range !== undefined && other.range !== undefined && !meet(one.range, other.range))
  )
}

function allows({ among, not, prefix, suffix, range }: Requirement, value: Plain): boolean {
  if (among !== undefined && !among.includes(value)) return false
  if (not !== undefined && not === value) return false
  if (typeof value === 'string') return value.startsWith(prefix ?? '') && value.endsWith(suffix ?? '')
  return range === undefined || typeof value !== 'number' || meet(range, { from: value, to: value, open: false })
}

function areApart(
  one: string | undefined,
  other: string | undefined,
  has: (text: string, part: string) => boolean,
): boolean {
  return one !== undefined && other !== undefined && !has(one, other) && !has(other, one)
}

function meet(one: Range, other: Range): boolean {
  const [from, to] = [Math.max(one.from, other.from), Math.min(one.to, other.to)]
  return from < to || (from === to && !one.open && !other.open)
}

/** Functions whose results differ from call to call. */
const CHANGING: ReadonlySet<string> = new Set(['random', 'uuid', 'now'])

function isChanging(expr: Expr): boolean {
  return (expr.kind === 'call' && CHANGING.has(expr.name)) || partsOf(expr).some(isChanging)
}

/** The value of a literal; undefined for everything else. */
function plainOf(expr: Expr | undefined): Plain | undefined {
  if (expr?.kind === 'unary' && expr.operator === '-') {
    const value = plainOf(expr.operand)
    return typeof value === 'number' ? -value : undefined
  }
  return expr?.kind === 'literal' ? plainValue(expr.value) : undefined
}

function plainValue(value: Value): Plain | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  const number = value instanceof Double || value instanceof Uint ? value.value : value
  if (typeof number !== 'number' && typeof number !== 'bigint') return undefined
  const near = Number(number)
  // Other whole numbers can have the same nearest number.
  return Math.abs(near) <= Number.MAX_SAFE_INTEGER ? near : undefined
}
