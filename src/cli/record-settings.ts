import { accessSync, constants, mkdirSync } from 'node:fs'
import { parseByteSize } from '#base/byte-size.ts'
import type { InstanceOptions } from '#instance/options.ts'
import { type Environment, readVariable } from './environment.ts'
import { checkFolder } from './state-path.ts'
import { UsageError } from './usage-error.ts'

export interface RecordFlags {
  readonly records?: string
  readonly recordsLimit?: string
  readonly recordBodies?: string
}

const DEFAULT_LIMIT = '256Mi'
/** Ten files with a few batches each. */
const LEAST_LIMIT_BYTES = 1024 * 1024

/**
 * Where decision records are written; flags take precedence over the environment. Creates the folder.
 * @param files files and folders with objects
 * @returns undefined: nowhere
 * @throws UsageError if the folder cannot be written, or is read as objects
 */
export function recordSettings(
  flags: RecordFlags,
  environment: Environment,
  files: readonly string[],
): InstanceOptions['records'] {
  const folder = flags.records || readVariable(environment, 'GATEWRIGHT_RECORDS')
  if (folder === undefined) return undefined
  checkFolder('--records', folder, files)
  const limit = flags.recordsLimit ?? readVariable(environment, 'GATEWRIGHT_RECORDS_LIMIT') ?? DEFAULT_LIMIT
  const limitBytes = parseByteSize(limit)
  if (limitBytes === undefined || limitBytes < LEAST_LIMIT_BYTES) {
    throw new UsageError(`the limit of --records is ${limit}; it must be a size from 1Mi, such as 256Mi`)
  }
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusable(folder, error)
  }
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw unusable(folder, error)
  }
  return { folder, limitBytes }
}

/** More would take too much memory: each worker keeps 1,024 records. */
const MAX_BODY_BYTES = 16 * 1024

/**
 * Bytes of each body that decision records have; undefined: they have none.
 * @throws UsageError if it is no size up to 16Ki
 */
export function recordBodies(flags: RecordFlags, environment: Environment): number | undefined {
  const text = flags.recordBodies ?? readVariable(environment, 'GATEWRIGHT_RECORD_BODIES')
  if (text === undefined) return undefined
  const bytes = parseByteSize(text)
  if (bytes === undefined || bytes > MAX_BODY_BYTES) {
    throw new UsageError(`the size of recorded bodies is ${text}; it must be a size up to 16Ki, such as 4Ki`)
  }
  return bytes
}

function unusable(folder: string, error: unknown): UsageError {
  return new UsageError(`--records ${folder} cannot be written: ${(error as Error).message}`)
}
