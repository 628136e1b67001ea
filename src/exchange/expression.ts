import type { Exchange, Json } from './exchange.ts'

/** Where an expression stands decides which variables it may use. */
export type ExpressionEnvironment =
  | 'request'
  | 'response'
  /** Whether a backend is well. */
  | 'health'
  | 'log'
  | 'metric'
  | 'trace'
  /** What describes the gateway itself, in traces. */
  | 'resource'
  | 'network'
  | 'mcp'
  | 'llm'
  | 'token-cost'
  | 'request-cost'

/** What is done with the result: a condition must be a bool, a value may be anything. */
export type ExpressionUse = 'value' | 'condition'

/** A compiled CEL expression over an exchange. Failing is a value, never an exception. */
export interface Expression {
  readonly source: string
  /** Where it is written, for operators: `spec.traffic.authorization ... of ProxyPolicy default/a`. */
  readonly where: string
  /** Static dotted paths that it reads: `request.body`, `jwt.sub`. */
  readonly references: ReadonlySet<string>
  /** Names of request fields that it reads, as they are written; `all` when only an evaluation knows. */
  readonly requestFields: ReadonlySet<string> | 'all'
  /**
   * How a caller who sends a header once more, and so changes its text, may turn the result into `wanted`, with its place. Undefined
   * when the text shows no way; asked of conditions only.
   */
  evasion(wanted: boolean): string | undefined
  /** It does not compile: every evaluation fails. The problem has been reported. */
  readonly broken: boolean
  /** How an evaluation may fail, with its place; undefined when the text shows no way, and for a broken one. */
  readonly canFail: string | undefined
  /** True only when the result is `true`; a failure or another type is not. `atLimit`: what it is when a limit ends the evaluation. */
  isTrue(exchange: Exchange, atLimit?: boolean): boolean
  /** The result; undefined when it failed or is no bool. */
  test(exchange: Exchange): boolean | undefined
  /** A string result, or bytes as latin-1 text; undefined when it failed or has another type. */
  text(exchange: Exchange): string | undefined
  /** The result as JSON (bytes as base64), in which every number is written as it came; undefined when it failed. */
  json(exchange: Exchange): Json | undefined
  /**
   * The result as attributes of a log or trace: one called `name`, or one for each member of a flattened value, called
   * `name.member`. Nothing is written when it failed.
   */
  writeAttributes(exchange: Exchange, name: string, write: (name: string, value: Json) => void): void
  /** String and bytes results as bytes, anything else serialised as JSON. */
  body(exchange: Exchange): ExpressionBody | EvaluationFailure
  /**
   * Why it fails, as `lint` would say it: cause, place, expression and caret. For operators only. Evaluates once more to find out;
   * undefined when it does not fail.
   */
  whyFailed(exchange: Exchange): string | undefined
}

export interface ExpressionBody {
  readonly bytes: Uint8Array
  readonly kind: 'text' | 'bytes' | 'json'
}

/** An evaluation failed where there is no way to go on. */
export class EvaluationFailure {
  /** Expression, place and cause; for log and decision record, never for clients. */
  readonly detail: string

  constructor(detail: string) {
    this.detail = detail
  }
}
