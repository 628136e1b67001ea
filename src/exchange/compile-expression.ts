import type { ConfigProblem } from '#base/config-problem.ts'
import type { Json } from '#base/json.ts'
import {
  CelError,
  type CompileOptions,
  compile,
  Double,
  Duration,
  Flattened,
  type MembersRead,
  type Note,
  type PossibleResults,
  type Presence,
  type Program,
  Timestamp,
  toExactJson,
  toJson,
  toJsonText,
  Uint,
  type Value,
} from '#cel/index.ts'
import type { Exchange } from './exchange.ts'
import {
  EvaluationFailure,
  type Expression,
  type ExpressionBody,
  type ExpressionEnvironment,
  type ExpressionUse,
} from './expression.ts'
import { isListField } from './list-fields.ts'
import { decides } from './path-reads.ts'
import { environmentOf, undeliveredAt } from './variables/environments.ts'
import { SecretText } from './variables/secret-text.ts'

export interface ExpressionOptions {
  readonly use?: ExpressionUse | undefined
  /** Variables that are known to be present. */
  readonly present?: readonly string[] | undefined
  /** Where the expression is written, for operators. */
  readonly where?: string
}

type Report = (problem: Omit<ConfigProblem, 'path'>) => void

const encoder = new TextEncoder()

/** Codes of the first problem of a text that is no expression. */
const LITERAL_CODES: ReadonlySet<string> = new Set(['undeclared', 'syntax'])

/** A word, path or URL: a common mistake where a field takes an expression. */
const PLAIN_TEXT = /^(?:https?:\/)?\/?[\w.~%-]+(?:\/[\w.~%-]*)*$/

/** A result of another type never counts as true. This is a warning, not an error: the expression still runs (specification 2, 2.2.2). */
const CONDITION: CompileOptions = { expect: 'bool', unexpected: 'warning' }

/** Compiles CEL for its environment. Problems are reported; a broken expression fails in every evaluation. */
export function compileExpression(
  source: string,
  environment: ExpressionEnvironment,
  report: Report,
  { use, present, where = environment }: ExpressionOptions = {},
): Expression {
  const { program, problems, membersRead, mismatch, membersCompared } = compile<Exchange>(
    source,
    environmentOf(environment, use === 'key'),
    use === 'condition' ? { ...CONDITION, present } : { present },
  )
  for (const [index, problem] of problems.entries()) {
    const { severity, code, suggestion } = problem
    const isText = index === 0 && suggestion === undefined && use !== 'condition' && LITERAL_CODES.has(code)
    const hint = isText && PLAIN_TEXT.test(source) ? `; if a text is meant, write '${JSON.stringify(source)}'` : ''
    report({
      severity,
      code: `cel-${code}`,
      message: describe({ ...problem, message: problem.message + hint }, suggestion),
    })
  }
  if (program === undefined) return brokenExpression(source, where)
  reportUndelivered(program.references, environment, report)
  const evasions = [false, true].map((wanted) =>
    use === 'condition' ? mismatch(HEADERS, wanted, SENT_ONCE) : undefined,
  )
  const comparedFields = use === 'condition' ? [...membersCompared(HEADERS)].map((name) => name.toLowerCase()) : []
  return new CelExpression(program, {
    requestFields: membersRead(HEADERS),
    comparedFields: comparedFields.filter((name) => !SENT_ONCE.has(name) && !isListField(name)),
    evasions,
    environment,
    where,
  })
}

/** Variables that are always absent. A root as a whole, as in `variables()`, has the available values. */
function reportUndelivered(references: ReadonlySet<string>, environment: ExpressionEnvironment, report: Report): void {
  const undelivered = undeliveredAt(environment)
  for (const path of references) {
    const why = undelivered.get(path)
    if (why === undefined || references.has(path.slice(0, path.indexOf('.')))) continue
    report({ code: 'not-implemented', severity: 'error', message: `${path} is always absent here: ${why} yet` })
  }
}

function describe(note: Note, suggestion?: string): string {
  const line = note.line > 1 ? `line ${note.line}, ` : ''
  const hint = suggestion === undefined ? '' : `; did you mean ${suggestion}?`
  return `${note.message}${hint} (${line}column ${note.column})\n${note.caret}`
}

const HEADERS = 'request.headers'

/** Fields that a message may have only once. */
const SENT_ONCE: ReadonlySet<string> = new Set(['host', 'content-length'])

/** Fallbacks of an absent value, by type; most values are strings. */
const FALLBACKS = ['""', '0', 'false', '[]', '{}'] as const

/** Static properties of an expression. */
interface ExpressionFacts {
  readonly environment: ExpressionEnvironment
  readonly where: string
  readonly requestFields: MembersRead
  readonly comparedFields: readonly string[]
  /** For the results false and true. */
  readonly evasions: readonly (Note | undefined)[]
}

class CelExpression implements Expression {
  readonly source: string
  readonly where: string
  readonly references: ReadonlySet<string>
  readonly broken = false
  readonly requestFields: MembersRead
  readonly comparedFields: readonly string[]
  readonly constantText: string | undefined
  readonly canFail: Expression['canFail']
  readonly #environment: ExpressionEnvironment
  readonly #program: Program<Exchange>
  /** Limits are reported to the caller of the step. */
  readonly #reportsLimits: boolean

  readonly #evasions: readonly (string | undefined)[]

  constructor(
    program: Program<Exchange>,
    { requestFields, comparedFields, evasions, environment, where }: ExpressionFacts,
  ) {
    this.source = program.source
    this.where = where
    this.references = program.references
    this.constantText = typeof program.constant === 'string' ? program.constant : undefined
    this.requestFields = requestFields
    this.comparedFields = comparedFields
    this.#evasions = evasions.map((evasion) => (evasion === undefined ? undefined : describe(evasion)))
    this.canFail = program.canFail === undefined ? undefined : describe(program.canFail)
    this.#environment = environment
    this.#program = program
    this.#reportsLimits = decides(environment)
  }

  evasion(wanted: boolean): string | undefined {
    return this.#evasions[wanted ? 1 : 0]
  }

  possibleResults(presence: Presence): PossibleResults {
    return compile(this.source, environmentOf(this.#environment)).possibleResults(presence)
  }

  readsPath(path: string): boolean {
    return compile(this.source, environmentOf(this.#environment)).readsPath(path)
  }

  writtenNames(): ReadonlySet<string> {
    return compile(this.source, environmentOf(this.#environment)).writtenNames()
  }

  comparedTexts(path: string): readonly string[] {
    return compile(this.source, environmentOf(this.#environment)).comparedTexts(path)
  }

  safePart(): string | undefined {
    const { canFail, source } = this.#program
    if (canFail === undefined) return undefined
    const { start, end } = canFail
    const programWith = (part: string) =>
      compile(source.slice(0, start) + part + source.slice(end), environmentOf(this.#environment), CONDITION).program
    // A value of unknown type is combined with values of the fallback's type only if the fallback itself may be in its place.
    const fallback = FALLBACKS.find((fallback) => programWith(fallback) !== undefined)
    const safe = `default(${source.slice(start, end)}, ${fallback})`
    const program = fallback === undefined ? undefined : programWith(safe)
    if (program === undefined) return undefined
    const next = program.canFail
    return next === undefined || next.start >= start + safe.length ? safe : undefined
  }

  isTrue(exchange: Exchange, atLimit = false): boolean {
    const result = this.#program.evaluateBoolean(exchange)
    if (typeof result === 'boolean') return result
    this.#note(exchange, result)
    return result.code === 'limit' && atLimit
  }

  test(exchange: Exchange): boolean | undefined {
    const result = this.#program.evaluateBoolean(exchange)
    if (typeof result === 'boolean') return result
    this.#note(exchange, result)
    return undefined
  }

  verdict(exchange: Exchange): boolean | 'unknown' | undefined {
    const result = this.#program.evaluateBoolean(exchange)
    if (typeof result === 'boolean') return result
    this.#note(exchange, result)
    return result.code === 'unknown' ? 'unknown' : undefined
  }

  text(exchange: Exchange): string | undefined {
    const result = this.#program.evaluate(exchange)
    if (typeof result === 'string') return result
    if (result instanceof CelError) this.#note(exchange, result)
    return result instanceof Uint8Array ? latin1(result) : undefined
  }

  keyText(exchange: Exchange): string | undefined {
    const result = this.#program.evaluate(exchange)
    if (typeof result === 'string') return result
    if (result === null) return undefined
    if (result instanceof CelError) {
      this.#note(exchange, result)
      return undefined
    }
    const text = this.#convert(exchange, keyTextOf)
    // An optional without a value.
    return text === 'null' ? undefined : text
  }

  scalarKey(exchange: Exchange): string | undefined {
    return this.#convert(exchange, scalarKeyOf)
  }

  expiryMs(exchange: Exchange, nowMs: number): number | undefined {
    return this.#convert(exchange, (value) => expiryOf(value, nowMs))
  }

  json(exchange: Exchange): Json | undefined {
    return this.#convert(exchange, exactJsonOf)
  }

  writeAttributes(exchange: Exchange, name: string, write: (name: string, value: Json) => void): void {
    const attributes = this.#convert(exchange, (value) => attributesOf(name, value))
    for (const [attribute, value] of attributes ?? []) write(attribute, value)
  }

  body(exchange: Exchange): ExpressionBody | EvaluationFailure {
    const body = this.#program.evaluateTo(exchange, bodyOf)
    if (!(body instanceof CelError)) return body
    this.#note(exchange, body)
    return new EvaluationFailure(this.#explain(exchange, body))
  }

  whyFailed(exchange: Exchange): string | undefined {
    const result = this.#program.evaluate(exchange)
    return result instanceof CelError ? this.#cause(exchange, result) : undefined
  }

  #convert<T>(exchange: Exchange, convert: (value: Value) => T): T | undefined {
    const result = this.#program.evaluateTo(exchange, convert)
    if (!(result instanceof CelError)) return result
    this.#note(exchange, result)
    return undefined
  }

  #note(exchange: Exchange, error: CelError): void {
    if (error.code === 'limit' && this.#reportsLimits) exchange.exceeded ??= this.#explain(exchange, error)
  }

  #explain(exchange: Exchange, error: CelError): string {
    return `${this.where}: ${this.#cause(exchange, error)}`
  }

  #cause(exchange: Exchange, error: CelError): string {
    return describe(this.#program.locate(exchange, error))
  }
}

/** Also credentials in lists have their own text. */
function keyTextOf(value: Value): string {
  if (typeof value === 'string') return value
  if (value instanceof SecretText) return value.clearText
  return Array.isArray(value) ? JSON.stringify(value.map(keyTextOf)) : toJsonText(value)
}

function scalarKeyOf(value: Value): string | undefined {
  switch (typeof value) {
    case 'string':
      return `string ${value}`
    case 'number':
    case 'bigint':
      return `int ${value}`
    case 'boolean':
      return `bool ${value}`
    default:
      if (value === null) return 'null'
      if (value instanceof SecretText) return `string ${value.clearText}`
      if (value instanceof Uint8Array) return `bytes ${latin1(value)}`
      if (value instanceof Uint) return `uint ${value.value}`
      return value instanceof Double ? `double ${Object.is(value.value, -0) ? '-0' : value.value}` : undefined
  }
}

function expiryOf(value: Value, nowMs: number): number | undefined {
  if (value instanceof Duration) return nowMs + msOf(value)
  if (value instanceof Timestamp) return msOf(value)
  if (typeof value === 'number' || typeof value === 'bigint') return 1000 * Number(value)
  return value instanceof Uint || value instanceof Double ? 1000 * Number(value.value) : undefined
}

function msOf({ seconds, nanos }: Duration | Timestamp): number {
  return 1000 * seconds + nanos / 1e6
}

function jsonOf(value: Value): Json {
  return toJson(value) as Json
}

function exactJsonOf(value: Value): Json {
  return toExactJson(value) as Json
}

function attributesOf(name: string, value: Value): readonly (readonly [name: string, value: Json])[] {
  if (!(value instanceof Flattened)) return [[name, jsonOf(value)]]
  return value.parts().map(([suffix, part]) => [`${name}${suffix}`, jsonOf(part)] as const)
}

function bodyOf(value: Value): ExpressionBody {
  if (typeof value === 'string') return { bytes: encoder.encode(value), kind: 'text' }
  if (value instanceof Uint8Array) return { bytes: value, kind: 'bytes' }
  return { bytes: encoder.encode(toJsonText(value)), kind: 'json' }
}

const DOES_NOT_COMPILE = 'the expression does not compile'

function brokenExpression(source: string, where: string): Expression {
  return {
    source,
    where,
    references: new Set(),
    requestFields: new Set(),
    comparedFields: [],
    broken: true,
    constantText: undefined,
    canFail: undefined,
    safePart: () => undefined,
    evasion: () => undefined,
    possibleResults: () => ({ true: false, false: false, absent: false }),
    isTrue: () => false,
    test: () => undefined,
    verdict: () => undefined,
    readsPath: () => false,
    writtenNames: () => new Set(),
    comparedTexts: () => [],
    text: () => undefined,
    keyText: () => undefined,
    scalarKey: () => undefined,
    expiryMs: () => undefined,
    json: () => undefined,
    writeAttributes: () => {},
    body: () => new EvaluationFailure(`${where}: ${DOES_NOT_COMPILE}`),
    whyFailed: () => DOES_NOT_COMPILE,
  }
}

/** Maximum number of units that one call combines. */
const CHUNK = 8192

function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return text
}
