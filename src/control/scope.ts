import type { ApiObject } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import { type Grants, readGrants } from './grants.ts'
import { collect, type Inventory } from './inventory.ts'
import { collectFindings, type ReportOn } from './reporting.ts'

/** What every stage of a translation works with. */
export interface Scope {
  readonly inventory: Inventory
  readonly grants: Grants
  readonly reportOn: ReportOn
}

/** @param findings takes what the stages report */
export function openScope(objects: readonly ApiObject[], findings: Finding[]): Scope {
  const inventory = collect(objects)
  return { inventory, grants: readGrants(inventory), reportOn: collectFindings(findings) }
}
