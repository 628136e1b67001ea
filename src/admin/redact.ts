import { findKind } from '#api/kinds.ts'
import { isCredentialField, REDACTED } from '#base/credential-names.ts'
import { backendPath } from '#plan/backend-path.ts'
import type { PlanItem } from '#plan/item.ts'
import { withoutSecrets } from '#schema/index.ts'

/** The item without its secrets, for dumps (decision A-116). */
export function redactItem(item: PlanItem): unknown {
  if (item.kind === 'secret') return { ...item, data: redactEntries(item.data) }
  if (item.kind === 'policy') return { ...item, spec: redactSpec(item, item.path, item.spec) }
  if (item.kind === 'backend') return { ...item, spec: redactSpec(item, backendPath(item), item.spec) }
  return hideFields(item)
}

/** Hides fields that the schema marks as secret, and values whose names indicate a credential. */
function redactSpec({ origin }: PlanItem, path: string, spec: unknown): unknown {
  const info = findKind(origin.kind)
  return hideFields(info === undefined ? spec : withoutSecrets(info.schema, path, spec, REDACTED))
}

/** `{ name: authorization, value: ... }` of header modifiers and filters, and `{ authorization: ... }`. */
function hideFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hideFields)
  if (value === null || typeof value !== 'object') return value
  const { name } = value as { readonly name?: unknown }
  const isCredential = typeof name === 'string' && isCredentialField(name)
  const members = Object.entries(value).map(([key, member]: [string, unknown]) => {
    const isSecret = isCredentialField(key) || (isCredential && key === 'value')
    return [key, isSecret && typeof member === 'string' ? REDACTED : hideFields(member)] as const
  })
  return Object.fromEntries(members)
}

function redactEntries(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(data).map((name) => [name, REDACTED]))
}
