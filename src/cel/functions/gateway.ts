import { CelError } from '../error.ts'
import { define, defineInContext, type Overload, type Prepare } from '../overload.ts'
import { Double } from '../value.ts'

/** Random values for the evaluations of a context. */
export interface RandomSource<C> {
  /** 0 (inclusive) to 1 (exclusive). */
  readonly random: (context: C) => number
  /** A version 4 UUID. */
  readonly uuid: (context: C) => string
}

export const systemRandom: RandomSource<unknown> = {
  random: () => Math.random(),
  uuid: () => globalThis.crypto.randomUUID(),
}

/** A computed message is never shown: it may contain values that the expression read. */
const FAILED = new CelError('failed', 'fail() was called')

const prepareFail: Prepare = ([message]) => {
  if (typeof message !== 'string') return undefined
  const failed = new CelError('failed', message)
  return () => failed
}

/** Impure functions: `fail`, `random`, `uuid`. */
export function gatewayFunctions<C>(source: RandomSource<C>): readonly Overload[] {
  return [
    define('fail(string) -> dyn', () => FAILED, { pure: false, prepare: prepareFail }),
    define('fail() -> dyn', () => FAILED, { pure: false }),
    defineInContext<C>('random() -> double', (context) => new Double(source.random(context))),
    defineInContext<C>('uuid() -> string', source.uuid),
  ]
}
