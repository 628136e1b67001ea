import type { ObjectStatus } from '../translation.ts'

type Status = ObjectStatus['status']

/** The types of conditions that this controller writes. Every other type belongs to another controller. */
const OWN_TYPES: ReadonlySet<unknown> = new Set([
  'Accepted',
  'Attached',
  'Conflicted',
  'Current',
  'InsecureFrontendValidationMode',
  'Overlapped',
  'PartiallyInvalid',
  'Programmed',
  'Reachable',
  'ResolvedRefs',
])

/** Maximum number of conditions of an object (Gateway API; specification 1, 2.3). */
const MAX_CONDITIONS = 8

/** Keeps the conditions that other controllers wrote in the stored status of an object, as far as there is room. */
export function withForeignConditions(status: Status, stored: unknown): Status {
  const { conditions } = status
  if (!Array.isArray(conditions)) return status
  const kept = foreignConditions(stored).slice(0, Math.max(0, MAX_CONDITIONS - conditions.length))
  return kept.length === 0 ? status : { ...status, conditions: [...conditions, ...kept] }
}

/** A status with an invalid shape has none. */
function foreignConditions(stored: unknown): readonly unknown[] {
  const conditions = (stored as { readonly conditions?: unknown } | null | undefined)?.conditions
  return Array.isArray(conditions) ? conditions.filter(isForeign) : []
}

function isForeign(condition: { readonly type?: unknown; readonly status?: unknown } | null): boolean {
  const { type, status } = condition ?? {}
  return typeof type === 'string' && typeof status === 'string' && !OWN_TYPES.has(type)
}
