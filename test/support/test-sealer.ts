import type { Sealer } from '#base/sealer.ts'
import { createSealer, readSessionKeys } from '#workers/sealer.ts'

/** The sealer of an instance with a random key. */
export function testSealer(): Sealer {
  return createSealer(readSessionKeys({}))
}
