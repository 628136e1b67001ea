import { readSessionKeys, type SessionKeys } from '#workers/sealer.ts'
import type { Environment } from './environment.ts'
import { UsageError } from './usage-error.ts'

/** The keys that seal sessions, from the environment. @throws UsageError */
export function sessionKeys(environment: Environment): SessionKeys {
  try {
    return readSessionKeys(environment)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
