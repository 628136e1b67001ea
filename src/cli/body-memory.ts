import { parseByteSize } from '#base/byte-size.ts'
import { type Environment, readVariable } from './environment.ts'

const BODY_MEMORY = 'GATEWRIGHT_BODY_MEMORY'

/**
 * Memory for the bodies that a worker buffers, in bytes; undefined: a share of the available memory.
 * @throws UsageError if the variable is invalid
 */
export function bodyMemory(environment: Environment): number | undefined {
  const text = readVariable(environment, BODY_MEMORY)
  return text === undefined ? undefined : parseByteSize(text)
}
