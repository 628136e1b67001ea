import { parseByteSize } from '#base/byte-size.ts'
import { type Environment, readVariable } from './environment.ts'
import { UsageError } from './usage-error.ts'

const BODY_MEMORY = 'GATEWRIGHT_BODY_MEMORY'

/**
 * Memory for the bodies that a worker buffers, in bytes; undefined: a share of the available memory.
 * @throws UsageError if the variable is invalid
 */
export function bodyMemory(environment: Environment): number | undefined {
  const text = readVariable(environment, BODY_MEMORY)
  if (text === undefined) return undefined
  const bytes = parseByteSize(text)
  if (bytes === undefined) throw new UsageError(`${BODY_MEMORY} is ${text}; it must be a size, such as 512Mi`)
  return bytes
}
