import { PriceFile, type PriceFileOptions } from '#store/price-file.ts'
import { type Environment, readVariable } from './environment.ts'

/** The price file of the operator; undefined: there is none. A file that is missing or wrong is a problem like those of objects. */
export function priceFile(environment: Environment, options?: PriceFileOptions): PriceFile | undefined {
  const path = readVariable(environment, 'GATEWRIGHT_PRICES')
  return path === undefined ? undefined : new PriceFile(path, options)
}
