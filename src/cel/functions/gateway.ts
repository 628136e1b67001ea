import { CelError } from '../error.ts'
import { define, type Overload, type Prepare } from '../overload.ts'
import { Double } from '../value.ts'

/** Where chance comes from; tests and simulations put their own in. */
export interface RandomSource {
  /** 0 (included) to 1 (excluded). */
  readonly random: () => number
  /** A version 4 UUID. */
  readonly uuid: () => string
}

export const systemRandom: RandomSource = {
  random: () => Math.random(),
  uuid: () => globalThis.crypto.randomUUID(),
}

/** A computed message is never shown: it may contain values that the expression has read. */
const FAILED = new CelError('failed', 'fail() was called')

const prepareFail: Prepare = ([message]) => {
  if (typeof message !== 'string') return undefined
  const failed = new CelError('failed', message)
  return () => failed
}

/** Functions with a will of their own: `fail`, `random`, `uuid`. */
export function gatewayFunctions(source: RandomSource): readonly Overload[] {
  return [
    define('fail(string) -> dyn', () => FAILED, { pure: false, prepare: prepareFail }),
    define('fail() -> dyn', () => FAILED, { pure: false }),
    define('random() -> double', () => new Double(source.random()), { pure: false }),
    define('uuid() -> string', () => source.uuid(), { pure: false }),
  ]
}
