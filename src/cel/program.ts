import type { Expr } from './ast.ts'
import { type Budget, chargeTo, evaluateWithin, limitOrThrow, WHOLE_BUDGET } from './budget.ts'
import { assignAll, Substitution } from './checker/assignability.ts'
import { check } from './checker/check.ts'
import type { Checked } from './checker/check-state.ts'
import { comparedTexts } from './compared-texts.ts'
import { type CompiledExpression, compileChecked } from './compiler/compile.ts'
import { FailureTrail } from './compiler/failure-trail.ts'
import type { Frame } from './compiler/node.ts'
import type { Environment } from './environment.ts'
import { CelError } from './error.ts'
import { reportExclusions } from './exclusions.ts'
import { findFailures } from './failure/find-failures.ts'
import { reportImpossibleTexts } from './impossible-texts.ts'
import { type MembersRead, membersRead } from './members-read.ts'
import { findMismatches, type Mismatch } from './mismatches.ts'
import { parseType } from './parse-type.ts'
import { parseInto } from './parser.ts'
import { NO_RESULT, type PossibleResults, type Presence, possibleResults } from './possible-results.ts'
import { print } from './printer.ts'
import { readsPath } from './reads-path.ts'
import { type Note, noteAt, type Problem, ProblemList, type Range } from './source.ts'
import { formatType, type Type } from './type.ts'
import type { Result, Value } from './value.ts'
import { writtenNames } from './written-names.ts'

/** A compiled expression, ready for any number of evaluations. */
export interface Program<C> {
  readonly source: string
  /** The static type; `dyn` if only the evaluation determines it. */
  readonly type: Type
  /**
   * Declared paths that an evaluation may read: `request.body`, `request.headers`. A root used as a whole, and `variables()`, include
   * everything below them.
   */
  readonly references: ReadonlySet<string>
  /** The result, if it does not depend on the context. */
  readonly constant: Value | undefined
  /** The first position where an evaluation may fail; undefined if static analysis finds none. See `failure/find-failures.ts`. */
  readonly canFail: Note | undefined
  /** A failure is a `CelError`; throws only for a bug of the host. */
  readonly evaluate: (context: C) => Result
  /** As `evaluate`; a result that is not a bool is a `CelError`. A rule matches if this is `=== true`. */
  readonly evaluateBoolean: (context: C) => boolean | CelError
  /** As `evaluate`, then converts the value; the conversion is charged as well. */
  readonly evaluateTo: <T>(context: C, convert: (value: Value) => T) => T | CelError
  /** The position where an evaluation failed with the error. Evaluates again to find it, unless a limit ended the evaluation. */
  readonly locate: (context: C, error: CelError) => Note
}

export interface CompileOptions {
  /** Paths of variables that are known to be present, so that reading them cannot fail. */
  readonly present?: readonly string[] | undefined
  /** The required result type, as text or object. Another type is an error; `dyn` is accepted. */
  readonly expect?: string | Type
  /** Severity of a result of another type; default `error`. */
  readonly unexpected?: 'error' | 'warning'
  /** Compiles every expression that can be parsed; parts that the checker refuses fail in the evaluation. */
  readonly lenient?: boolean
}

export interface Compiled<C> {
  /** Absent when a problem is an error. */
  readonly program?: Program<C>
  readonly problems: readonly Problem[]
  /** The members of the host object `path` that an evaluation may read, as written. */
  readonly membersRead: (path: string) => MembersRead
  /**
   * The first test of a member of the host object `path` that can change the result to `wanted` if the member has another value. Members in
   * `except` (lower case) are ignored.
   */
  readonly mismatch: (path: string, wanted: boolean, except: ReadonlySet<string>) => Note | undefined
  /** The members of the host object `path` whose values it compares as one text, as written. */
  readonly membersCompared: (path: string) => ReadonlySet<string>
  /** See `reads-path.ts`. */
  readonly readsPath: (path: string) => boolean
  /** See `written-names.ts`. */
  readonly writtenNames: () => ReadonlySet<string>
  /** The constant texts with which it compares the whole variable `path`. */
  readonly comparedTexts: (path: string) => readonly string[]
  /** The results that an evaluation may have if some variables are known to be present or absent. */
  readonly possibleResults: (presence: Presence) => PossibleResults
}

/** Parses, checks and compiles an expression. Never throws; all problems are reported at once. */
export function compile<C>(source: string, environment: Environment<C>, options: CompileOptions = {}): Compiled<C> {
  const problems = new ProblemList(source)
  const expr = parseInto(source, problems)
  if (problems.hasErrors) return { problems: problems.problems, ...NOTHING_READ }
  const checked = check(expr, environment, problems)
  const whole = { start: expr.start, end: expr.end }
  if (options.expect !== undefined) requireResult(checked.type, options.expect, options.unexpected, whole, problems)
  reportImpossibleTexts(expr, checked, problems)
  reportExclusions(expr, problems)
  const compiled = compileChecked(expr, checked, environment, problems)
  const { node } = compiled
  if (node.constant !== undefined && expr.kind !== 'literal' && !problems.hasErrors) {
    const result = typeof node.constant === 'boolean' ? `is always ${node.constant}` : 'always has the same result'
    problems.warn('constant', whole, `expression ${result}`)
  }
  const reads: Omit<Compiled<C>, 'program' | 'problems'> = {
    membersRead: (path) => membersRead(expr, checked, environment, path),
    mismatch: (path, wanted, except) => firstMismatch(findMismatches(expr, checked, path, wanted), except, source),
    membersCompared: (path) =>
      new Set(
        [true, false].flatMap((wanted) => findMismatches(expr, checked, path, wanted).map(({ member }) => member)),
      ),
    readsPath: (path) => readsPath(expr, checked, path),
    writtenNames: () => writtenNames(expr, checked),
    comparedTexts: (path) =>
      comparedTexts(expr, checked).flatMap(({ variable, constant, part }) =>
        variable.path === path && part === 'whole' ? [constant.value] : [],
      ),
    possibleResults: (presence) => possibleResults(expr, checked, presence),
  }
  if (problems.hasErrors && options.lenient !== true) return { problems: problems.problems, ...reads }
  const budgetOf = environment.budgetOf ?? ownBudget()
  const run = runner(compiled, checked.slotCount)
  const evaluate = evaluator(compiled, checked.slotCount, budgetOf)
  const program: Program<C> = {
    source,
    type: checked.type,
    references: checked.references,
    constant: node.constant,
    canFail:
      node.constant === undefined ? firstFailure(expr, checked, environment, source, options.present) : undefined,
    evaluate,
    evaluateBoolean: (context) => {
      const value = evaluate(context)
      return value === true || value === false ? value : notBoolean(value)
    },
    evaluateTo: (context, convert) =>
      evaluateWithin(budgetOf(context), () => {
        const result = run(context)
        return result instanceof CelError ? result : convert(result)
      }),
    locate: locator(source, environment, compiled.limits),
  }
  return { program, problems: problems.problems, ...reads }
}

const NOTHING_READ: Omit<Compiled<never>, 'program' | 'problems'> = {
  membersRead: () => new Set<string>(),
  readsPath: () => false,
  writtenNames: () => new Set<string>(),
  comparedTexts: () => [],
  mismatch: () => undefined,
  membersCompared: () => new Set<string>(),
  possibleResults: () => NO_RESULT,
}

function firstMismatch(mismatches: readonly Mismatch[], except: ReadonlySet<string>, source: string): Note | undefined {
  const first = mismatches.find(({ member }) => !except.has(member.toLowerCase()))
  if (first === undefined) return undefined
  const { test, member, result } = first
  return noteAt(source, test, `with another ${member}, ${print(test)} is ${result}`)
}

function firstFailure<C>(
  expr: Expr,
  checked: Checked<C>,
  environment: Environment<C>,
  source: string,
  present: readonly string[] = [],
): Note | undefined {
  const [failure] = findFailures(expr, checked, environment, present)
  return failure === undefined ? undefined : noteAt(source, failure, failure.message)
}

function requireResult(
  type: Type,
  expect: string | Type,
  severity: 'error' | 'warning' = 'error',
  whole: { start: number; end: number },
  problems: ProblemList,
): void {
  const expected = typeof expect === 'string' ? parseType(expect) : expect
  if (type.kind === 'error' || assignAll(new Substitution(), [type], [expected])) return
  const message = `expected ${formatType(expected)}, found ${formatType(type)}`
  if (severity === 'error') problems.error('unexpected-type', whole, message)
  else problems.warn('unexpected-type', whole, message)
}

const NOT_A_BOOL = new CelError('no-such-overload', 'result is not a bool')

function notBoolean(value: Result): CelError {
  return value instanceof CelError ? value : NOT_A_BOOL
}

/** By default every evaluation has a whole budget. */
function ownBudget(): () => Budget {
  const budget: Budget = { left: WHOLE_BUDGET }
  return () => {
    budget.left = WHOLE_BUDGET
    return budget
  }
}

const NO_SLOTS: Frame = []

/** Runs the code once; limits are thrown. */
function runner<C>({ node: { code } }: CompiledExpression<C>, slotCount: number): (context: C) => Result {
  if (slotCount === 0) return (context) => code(context, NO_SLOTS)
  return (context) => code(context, new Array<Result>(slotCount))
}

function evaluator<C>(
  { node: { code, constant }, metered }: CompiledExpression<C>,
  slotCount: number,
  budgetOf: (context: C) => Budget,
): (context: C) => Result {
  if (constant !== undefined) return () => constant
  if (!metered && slotCount === 0) {
    return (context) => {
      try {
        return code(context, NO_SLOTS)
      } catch (error) {
        return limitOrThrow(error)
      }
    }
  }
  return (context) => {
    const before = chargeTo(budgetOf(context))
    try {
      return code(context, slotCount === 0 ? NO_SLOTS : new Array<Result>(slotCount))
    } catch (error) {
      return limitOrThrow(error)
    } finally {
      chargeTo(before)
    }
  }
}

/** Compiles the expression again in a form that records failures. Done on demand, because the cause of a failure is rarely needed. */
function locator<C>(
  source: string,
  environment: Environment<C>,
  limits: ReadonlyMap<CelError, Range>,
): Program<C>['locate'] {
  let find: ((context: C, error: CelError) => Range | undefined) | undefined
  return (context, error) => {
    if (error.code !== 'limit') find ??= follower(source, environment)
    const range = limits.get(error) ?? find?.(context, error) ?? { start: 0, end: source.length }
    return noteAt(source, range, error.message)
  }
}

/** Finds the subexpression that fails in an evaluation; undefined if another one fails, because of random values or the clock. */
function follower<C>(source: string, environment: Environment<C>): (context: C, error: CelError) => Range | undefined {
  const trail = new FailureTrail()
  const problems = new ProblemList(source)
  const expr = parseInto(source, problems)
  const checked = check(expr, environment, problems)
  const run = runner(compileChecked(expr, checked, environment, problems, trail), checked.slotCount)
  const budgetOf = environment.budgetOf ?? ownBudget()
  return (context, { code, message }) => {
    trail.clear()
    const result = evaluateWithin(budgetOf(context), () => run(context))
    const isSame = result instanceof CelError && result.code === code && result.message === message
    return isSame ? trail.find(result) : undefined
  }
}
