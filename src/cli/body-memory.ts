import { parseByteSize } from '#base/byte-size.ts'
import { UsageError } from './usage-error.ts'

const BODY_MEMORY = 'GATEWRIGHT_BODY_MEMORY'

/**
 * Memory for the bodies that a worker gathers, in bytes; undefined: a share of what there is.
 * @throws UsageError when the variable makes no sense
 */
export function bodyMemory(environment: Readonly<Record<string, string | undefined>>): number | undefined {
  const text = environment[BODY_MEMORY]
  if (text === undefined || text === '') return undefined
  const bytes = parseByteSize(text)
  if (bytes === undefined) throw new UsageError(`${BODY_MEMORY} is ${text}; it must be a size, such as 512Mi`)
  return bytes
}
