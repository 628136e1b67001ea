import { findKind } from '#api/kinds.ts'
import { REDACTED } from '#base/credential-names.ts'
import { hideCredentialMembers } from '#base/hide-credential-members.ts'
import { backendPath } from '#plan/backend-path.ts'
import type { PlanItem } from '#plan/item.ts'
import { withoutSecrets } from '#schema/index.ts'

/** The item without its secrets, for dumps (decision A-116). */
export function redactItem(item: PlanItem): unknown {
  if (item.kind === 'secret') return { ...item, data: redactEntries(item.data) }
  if (item.kind === 'policy') return { ...item, spec: redactSpec(item, item.path, item.spec) }
  if (item.kind === 'backend') return { ...item, spec: redactSpec(item, backendPath(item), item.spec) }
  return hideCredentialMembers(item)
}

/** Hides fields that the schema marks as secret, and values whose names indicate a credential. */
function redactSpec({ origin }: PlanItem, path: string, spec: unknown): unknown {
  const info = findKind(origin.kind)
  return hideCredentialMembers(info === undefined ? spec : withoutSecrets(info.schema, path, spec, REDACTED))
}

function redactEntries(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(data).map((name) => [name, REDACTED]))
}
