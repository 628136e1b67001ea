import { CelError } from '../error.ts'
import { define, type Overload } from '../overload.ts'
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

/** Functions with a will of their own: `fail`, `random`, `uuid`. */
export function gatewayFunctions(source: RandomSource): readonly Overload[] {
  return [
    define('fail(string) -> dyn', (message: string) => new CelError('failed', message), { pure: false }),
    define('fail() -> dyn', () => new CelError('failed', 'fail() was called'), { pure: false }),
    define('random() -> double', () => new Double(source.random()), { pure: false }),
    define('uuid() -> string', () => source.uuid(), { pure: false }),
  ]
}
