import { ApiError } from '../http/api-error.ts'
import type { AdmitOptions } from '../kinds/served-kind.ts'

/** Parameters of requests that write (Kubernetes, `CreateOptions`, `UpdateOptions`, `PatchOptions`). */
export interface WriteOptions {
  /** Nothing is stored. */
  readonly dryRun: boolean
  /** Who sets the fields. */
  readonly manager: string
  readonly unknownFields: AdmitOptions['unknownFields']
  /** `Apply`: the object that is written says already who manages its fields. */
  readonly operation: 'Update' | 'Apply'
}

const FIELD_VALIDATION: Readonly<Record<string, AdmitOptions['unknownFields']>> = {
  Strict: 'refuse',
  Warn: 'warn',
  Ignore: 'ignore',
}
const MAX_MANAGER = 128

/** @throws ApiError BadRequest */
export function writeOptions(query: URLSearchParams, userAgent: string): WriteOptions {
  const validation = query.get('fieldValidation') || 'Strict'
  const unknownFields = Object.hasOwn(FIELD_VALIDATION, validation) ? FIELD_VALIDATION[validation] : undefined
  if (unknownFields === undefined) {
    throw new ApiError('BadRequest', `fieldValidation: must be Strict, Warn or Ignore, not "${validation}"`)
  }
  const manager = query.get('fieldManager') || managerOf(userAgent)
  if ([...manager].length > MAX_MANAGER || !/^[\P{C}]*$/u.test(manager)) {
    throw new ApiError('BadRequest', `fieldManager: must be at most ${MAX_MANAGER} printable characters`)
  }
  return { dryRun: isDryRun(query.getAll('dryRun')), manager, unknownFields, operation: 'Update' }
}

/** @throws ApiError BadRequest */
export function isDryRun(values: readonly string[]): boolean {
  const wrong = values.find((value) => value !== 'All')
  if (wrong !== undefined) throw new ApiError('BadRequest', `dryRun: must be All, not "${wrong}"`)
  return values.length > 0
}

/** The name of the program, as Kubernetes reads it: the part before the slash. */
function managerOf(userAgent: string): string {
  const name = userAgent.split('/')[0]!.trim()
  return name === '' ? 'unknown' : name.slice(0, MAX_MANAGER)
}
