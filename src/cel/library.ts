import { addOverloads } from './environment.ts'
import { COLLECTION_FUNCTIONS } from './functions/collections.ts'
import { CONVERSIONS } from './functions/conversions.ts'
import { ENCODERS } from './functions/encoders.ts'
import { gatewayFunctions, type RandomSource } from './functions/gateway.ts'
import { JSON_FUNCTIONS } from './functions/json-functions.ts'
import { MATH_FUNCTIONS } from './functions/math.ts'
import { NETWORK_FUNCTIONS } from './functions/network.ts'
import { OPTIONAL_FUNCTIONS } from './functions/optionals.ts'
import { REGEX_FUNCTIONS } from './functions/regex.ts'
import { TEXT_FUNCTIONS } from './functions/text-functions.ts'
import { TIME_FUNCTIONS } from './functions/time.ts'
import type { Overload } from './overload.ts'

/** Functions by name: those of the language, its extensions, and the gateway. */
export type Library = ReadonlyMap<string, readonly Overload[]>

const PURE: Library = addOverloads(new Map(), [
  ...CONVERSIONS,
  ...TEXT_FUNCTIONS,
  ...REGEX_FUNCTIONS,
  ...MATH_FUNCTIONS,
  ...TIME_FUNCTIONS,
  ...OPTIONAL_FUNCTIONS,
  ...COLLECTION_FUNCTIONS,
  ...ENCODERS,
  ...NETWORK_FUNCTIONS,
  ...JSON_FUNCTIONS,
])

/** The whole library, with a source of random values. */
export function createLibrary<C>(source: RandomSource<C>): Library {
  return addOverloads(PURE, gatewayFunctions(source))
}
