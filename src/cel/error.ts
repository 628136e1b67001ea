/**
 * Why an evaluation failed. `default()` recovers from `no-such-key` and `undeclared` only. `unknown`: a variable will have a value, but not yet;
 * only `&&`, `||` and their macros, which may not need it, recover from it.
 */
export type CelErrorCode =
  | 'no-such-key'
  | 'no-such-overload'
  | 'undeclared'
  | 'divide-by-zero'
  | 'range'
  | 'invalid'
  | 'failed'
  | 'unknown'
  | 'limit'

/** A failed evaluation as a value: the evaluator returns it in place of a CEL value and never throws. */
export class CelError {
  readonly code: CelErrorCode
  /** For operators and logs; may contain keys written in the expression, never a value that it read. */
  readonly message: string

  constructor(code: CelErrorCode, message: string) {
    this.code = code
    this.message = message
  }
}

/** For a computed key, which may be a secret value. */
export const NO_SUCH_KEY = new CelError('no-such-key', 'no such key')

/** For a key written in the expression. */
export function noSuchKey(key: string): CelError {
  return new CelError('no-such-key', `no such key: ${key}`)
}

export function noSuchOverload(what: string): CelError {
  return new CelError('no-such-overload', `no such overload: ${what}`)
}

export const DIVISION_BY_ZERO = new CelError('divide-by-zero', 'division by zero')
export const MODULUS_BY_ZERO = new CelError('divide-by-zero', 'modulus by zero')
export const OVERFLOW = new CelError('range', 'number out of range')
export const TIME_RANGE = new CelError('range', 'timestamp or duration out of range')
export const COST_EXCEEDED = new CelError('limit', 'evaluation takes too many steps')
export const OUT_OF_BOUNDS = new CelError('limit', 'evaluation exceeds what the runtime can hold')
const TOO_LARGE = new CelError('limit', 'result too large')

/**
 * Ends the evaluation. Limits are thrown instead of returned: `||`, `coalesce()` and similar functions handle returned errors, and no
 * expression may handle a limit.
 */
export function tooLarge(): never {
  throw TOO_LARGE
}
