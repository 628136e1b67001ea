import type { TlsMaterialCheck } from '#base/tls-material.ts'
import type { ControllerNames } from './controller.ts'
import type { Grants } from './grants.ts'
import type { Inventory } from './inventory.ts'
import type { ReportOn } from './reporting.ts'

/** What the translation functions may read and report, for one node. */
export interface TranslationContext {
  readonly inventory: Inventory
  readonly grants: Grants
  readonly names: ControllerNames
  readonly reportOn: ReportOn
  readonly tlsMaterial: TlsMaterialCheck
  readonly isPast: IsPast
}

/** Whether a time (ms since the epoch) has passed. If not, the node runs again when it passes. */
export type IsPast = (ms: number) => boolean
