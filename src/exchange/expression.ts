import type { Json } from '#base/json.ts'
import type { PossibleResults, Presence } from '#cel/index.ts'
import type { Exchange } from './exchange.ts'

/** The environment of an expression determines the available variables. */
export type ExpressionEnvironment =
  | 'request'
  | 'response'
  /** Whether a backend is healthy. */
  | 'health'
  | 'log'
  | 'metric'
  | 'trace'
  /** Describes the gateway itself, in traces. */
  | 'resource'
  | 'network'
  | 'mcp'
  | 'llm'
  | 'token-cost'
  | 'request-cost'

/**
 * The use of the result: a condition must be a bool, a value can have any type. In a key, variables have one text for each caller: of
 * `jwt.rawToken`, the signed part.
 */
export type ExpressionUse = 'value' | 'condition' | 'key'

/** A compiled CEL expression over an exchange. A failure is a value, never an exception. */
export interface Expression {
  readonly source: string
  /** Where it is written, for operators: `spec.traffic.authorization ... of ProxyPolicy default/a`. */
  readonly where: string
  /** Static dotted paths that the expression reads: `request.body`, `jwt.sub`. */
  readonly references: ReadonlySet<string>
  /** Names of request headers that it reads, as written; `all` if only the evaluation determines them. */
  readonly requestFields: ReadonlySet<string> | 'all'
  /** Of a condition: lower-case names of the request headers that it compares as one text, without list-based fields. */
  readonly comparedFields: readonly string[]
  /**
   * How a client that repeats a header, and so changes its text, could change the result to `wanted`, with its position. Undefined if no
   * way is known; only used for conditions.
   */
  evasion(wanted: boolean): string | undefined
  /**
   * The results that an evaluation may have if some variables are known to be present or absent; none for a broken expression. Compiles
   * again, because few ask for it.
   */
  possibleResults(presence: Presence): PossibleResults
  /** Whether an evaluation may read the value of a variable, or of one below it (`cel/reads-path.ts`). Compiles again. */
  readsPath(path: string): boolean
  /** The names in data, such as those below `mcp.tool.arguments`, that the expression contains (`cel/written-names.ts`). Compiles again. */
  writtenNames(): ReadonlySet<string>
  /** The constant texts with which it compares the variable `path`. Compiles again. */
  comparedTexts(path: string): readonly string[]
  /** The expression does not compile, so every evaluation fails. The problem has been reported. */
  readonly broken: boolean
  /** The result, if it is a text that does not depend on the exchange. */
  readonly constantText: string | undefined
  /** How an evaluation can fail, with its position; undefined if no way is known, and for a broken expression. */
  readonly canFail: string | undefined
  /**
   * The part that can fail, in a form that cannot: `default(jwt.team, "")`. With it the expression compiles. Undefined if no such form is
   * known. Compiles again, because few ask for it.
   */
  safePart(): string | undefined
  /** True only if the result is `true`, not for a failure or another type. `atLimit`: the result if a limit ends the evaluation. */
  isTrue(exchange: Exchange, atLimit?: boolean): boolean
  /** The result; undefined if it failed or is not a bool. */
  test(exchange: Exchange): boolean | undefined
  /** As `test`; `unknown` if the result depends on a value that is not known yet. */
  verdict(exchange: Exchange): boolean | 'unknown' | undefined
  /** A string result, or bytes as latin-1 text; undefined if it failed or has another type. */
  text(exchange: Exchange): string | undefined
  /**
   * The result as a text that tells results apart, for a key that is never shown: secrets are in clear text, and other values than strings as
   * JSON. Undefined if it failed or is null.
   */
  keyText(exchange: Exchange): string | undefined
  /**
   * The result as a text that tells values and types apart (1 and "1"), for the key of a cache: null, bool, int, uint, double, string or bytes.
   * Secrets are in clear text. Undefined if it failed or has another type.
   */
  scalarKey(exchange: Exchange): string | undefined
  /**
   * A time of expiry, in milliseconds since the epoch: a duration after `nowMs`, a timestamp, or a number of seconds since the epoch. Undefined
   * if it failed or has another type.
   */
  expiryMs(exchange: Exchange, nowMs: number): number | undefined
  /** The result as JSON (bytes as base64), in which every number keeps its text; undefined if it failed. */
  json(exchange: Exchange): Json | undefined
  /**
   * Writes the result as attributes of a log or trace: one with the given `name`, or for a flattened value one per member with the name
   * `name.member`. Writes nothing if it failed.
   */
  writeAttributes(exchange: Exchange, name: string, write: (name: string, value: Json) => void): void
  /** String and bytes results as bytes, anything else serialised as JSON. */
  body(exchange: Exchange): ExpressionBody | EvaluationFailure
  /**
   * Why it fails, in the format of `lint`: cause, position, expression and caret. For operators only. Evaluates again to find the cause;
   * undefined if it does not fail.
   */
  whyFailed(exchange: Exchange): string | undefined
}

export interface ExpressionBody {
  readonly bytes: Uint8Array
  readonly kind: 'text' | 'bytes' | 'json'
}

/** A failed evaluation that cannot be ignored. */
export class EvaluationFailure {
  /** Expression, position and cause; for log and decision record, never for clients. */
  readonly detail: string

  constructor(detail: string) {
    this.detail = detail
  }
}
