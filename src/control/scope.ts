import type { ApiObject } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import { type TlsMaterialCheck, UNCHECKED_MATERIAL } from '#base/tls-material.ts'
import { type Grants, readGrants } from './grants.ts'
import { collect, type Inventory } from './inventory.ts'
import { collectFindings, type ReportOn } from './reporting.ts'

/** What every stage of a translation works with. */
export interface Scope {
  readonly inventory: Inventory
  readonly grants: Grants
  readonly reportOn: ReportOn
  readonly tlsMaterial: TlsMaterialCheck
}

/** @param findings takes what the stages report */
export function openScope(
  objects: readonly ApiObject[],
  findings: Finding[],
  tlsMaterial: TlsMaterialCheck = UNCHECKED_MATERIAL,
): Scope {
  const inventory = collect(objects)
  return { inventory, grants: readGrants(inventory), reportOn: collectFindings(findings), tlsMaterial }
}
