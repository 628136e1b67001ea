import type { ConfigProblem } from '#base/config-problem.ts'
import {
  CelError,
  type CompileOptions,
  compile,
  Flattened,
  type MembersRead,
  type Problem,
  type Program,
  toExactJson,
  toJson,
  toJsonText,
  type Value,
} from '#cel/index.ts'
import type { Exchange, Json } from './exchange.ts'
import type { Expression, ExpressionPlace, ExpressionUse } from './expression.ts'
import { environmentOf, undeliveredAt } from './variables/environments.ts'

type Report = (problem: Omit<ConfigProblem, 'path'>) => void

const encoder = new TextEncoder()

/** Another result never counts as true, which is a doubt and no error: the expression still runs (specification 2, 2.2.2). */
const CONDITION: CompileOptions = { expect: 'bool', unexpected: 'warning' }

/** Compiles CEL for its place; what is wrong with it is reported, and a broken expression fails whenever it is evaluated. */
export function compileExpression(
  source: string,
  place: ExpressionPlace,
  report: Report,
  use: ExpressionUse = 'value',
): Expression {
  const { program, problems, membersRead, mismatch } = compile<Exchange>(
    source,
    environmentOf(place),
    use === 'condition' ? CONDITION : {},
  )
  for (const problem of problems) report(describe(problem))
  if (program === undefined) return brokenExpression(source)
  reportUndelivered(program.references, place, report)
  const evasions = [false, true].map((wanted) =>
    use === 'condition' ? mismatch(HEADERS, wanted, SENT_ONCE) : undefined,
  )
  return new CelExpression(program, { requestFields: membersRead(HEADERS), evasions })
}

/** Variables that are absent whatever happens; a root as a whole, as in `variables()`, shows what there is. */
function reportUndelivered(references: ReadonlySet<string>, place: ExpressionPlace, report: Report): void {
  const undelivered = undeliveredAt(place)
  for (const path of references) {
    const why = undelivered.get(path)
    if (why === undefined || references.has(path.slice(0, path.indexOf('.')))) continue
    report({ code: 'not-implemented', severity: 'error', message: `${path} is always absent here: ${why} yet` })
  }
}

function describe(problem: Problem): Omit<ConfigProblem, 'path'> {
  const line = problem.line > 1 ? `line ${problem.line}, ` : ''
  const hint = problem.suggestion === undefined ? '' : `; did you mean ${problem.suggestion}?`
  return {
    code: `cel-${problem.code}`,
    severity: problem.severity,
    message: `${problem.message}${hint} (${line}column ${problem.column})\n${problem.caret}`,
  }
}

const HEADERS = 'request.headers'

/** Fields that the wire takes once only. */
const SENT_ONCE: ReadonlySet<string> = new Set(['host', 'content-length'])

/** What an expression has to do with headers of the request. */
interface HeaderReads {
  readonly requestFields: MembersRead
  /** For the results false and true. */
  readonly evasions: readonly (Problem | undefined)[]
}

class CelExpression implements Expression {
  readonly source: string
  readonly references: ReadonlySet<string>
  readonly broken = false
  readonly requestFields: MembersRead
  readonly canFail: Expression['canFail']
  readonly #program: Program<Exchange>

  readonly #evasions: readonly (Omit<ConfigProblem, 'path'> | undefined)[]

  constructor(program: Program<Exchange>, { requestFields, evasions }: HeaderReads) {
    this.source = program.source
    this.references = program.references
    this.requestFields = requestFields
    this.#evasions = evasions.map((evasion) => (evasion === undefined ? undefined : describe(evasion)))
    this.canFail = program.canFail === undefined ? undefined : describe(program.canFail)
    this.#program = program
  }

  evasion(wanted: boolean): Omit<ConfigProblem, 'path'> | undefined {
    return this.#evasions[wanted ? 1 : 0]
  }

  isTrue(exchange: Exchange): boolean {
    return this.#program.evaluateBoolean(exchange) === true
  }

  text(exchange: Exchange): string | undefined {
    const result = this.#program.evaluate(exchange)
    if (typeof result === 'string') return result
    return result instanceof Uint8Array ? latin1(result) : undefined
  }

  json(exchange: Exchange): Json | undefined {
    const value = this.#value(exchange)
    return value === undefined ? undefined : orFailure(() => toExactJson(value) as Json)
  }

  writeAttributes(exchange: Exchange, name: string, write: (name: string, value: Json) => void): void {
    const value = this.#value(exchange)
    if (value === undefined) return
    const parts = value instanceof Flattened ? orFailure(() => value.parts()) : [['', value] as const]
    for (const [suffix, part] of parts ?? []) {
      const json = jsonOf(part)
      if (json !== undefined) write(`${name}${suffix}`, json)
    }
  }

  body(exchange: Exchange): { readonly bytes: Uint8Array; readonly kind: 'text' | 'bytes' | 'json' } | undefined {
    const value = this.#value(exchange)
    if (value === undefined) return undefined
    if (typeof value === 'string') return { bytes: encoder.encode(value), kind: 'text' }
    if (value instanceof Uint8Array) return { bytes: value, kind: 'bytes' }
    const text = orFailure(() => toJsonText(value))
    return text === undefined ? undefined : { bytes: encoder.encode(text), kind: 'json' }
  }

  #value(exchange: Exchange): Value | undefined {
    const result = this.#program.evaluate(exchange)
    return result instanceof CelError ? undefined : result
  }
}

function jsonOf(value: Value): Json | undefined {
  return orFailure(() => toJson(value) as Json)
}

/** A stranger's data can be nested so deep that nothing can write it: that is a failure like any other. */
function orFailure<T>(write: () => T): T | undefined {
  try {
    return write()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function brokenExpression(source: string): Expression {
  return {
    source,
    references: new Set(),
    requestFields: new Set(),
    broken: true,
    canFail: undefined,
    evasion: () => undefined,
    isTrue: () => false,
    text: () => undefined,
    json: () => undefined,
    writeAttributes: () => {},
    body: () => undefined,
  }
}

function latin1(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}
