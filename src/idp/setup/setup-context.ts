import type { AdminAccess } from './admin-access.ts'
import type { IdpUser } from './idp-user.ts'
import type { Step } from './step-failure.ts'

export type Outcome = 'done' | 'unchanged' | 'failed'

/** Tells the user about a step that has ended. */
export type Report = (step: Step, outcome: Outcome, detail?: string) => void

/** What every step works with. */
export interface SetupContext {
  readonly access: AdminAccess
  readonly realm: string
  readonly report: Report
  /** Users that this run has created so far. */
  readonly created: IdpUser[]
}

/** The root of the admin API of a realm. */
export function adminPath(realm: string): string {
  return `/admin/realms/${encodeURIComponent(realm)}`
}
