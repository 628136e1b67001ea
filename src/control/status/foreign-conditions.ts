import type { ObjectStatus } from '../translation.ts'

type Status = ObjectStatus['status']

/** The types of conditions that this controller writes. Every other type belongs to another controller. */
const OWN_TYPES: ReadonlySet<unknown> = new Set([
  'Accepted',
  'Attached',
  'Conflicted',
  'Current',
  'ImageReady',
  'InsecureFrontendValidationMode',
  'Overlapped',
  'PartiallyInvalid',
  'Programmed',
  'Reachable',
  'ResolvedRefs',
  'SupportedVersion',
])

/** Whether this controller writes conditions of a type. */
export function isOwnCondition(type: unknown): boolean {
  return OWN_TYPES.has(type)
}

/** Maximum number of conditions of an object (Gateway API; specification 1, 2.3). */
export const MAX_CONDITIONS = 8

/** Something with conditions: an object or one of its listeners. */
interface Conditioned {
  readonly [member: string]: unknown
}

/** Keeps the conditions that other controllers wrote in the stored status of an object and of its listeners, as far as there is room. */
export function withForeignConditions(status: Status, stored: unknown): Status {
  const kept = withConditionsOf(stored, status)
  const { listeners } = status
  const before = (stored as Conditioned | null | undefined)?.listeners
  if (!Array.isArray(listeners) || !Array.isArray(before)) return kept
  const earlier = new Map(before.map((listener: Conditioned | null) => [listener?.name, listener]))
  return { ...kept, listeners: listeners.map((own: Conditioned) => withConditionsOf(earlier.get(own.name), own)) }
}

function withConditionsOf(stored: unknown, own: Conditioned): Conditioned {
  const { conditions } = own
  if (!Array.isArray(conditions)) return own
  const kept = foreignConditions(stored).slice(0, Math.max(0, MAX_CONDITIONS - conditions.length))
  return kept.length === 0 ? own : { ...own, conditions: [...conditions, ...kept] }
}

/** A status with an invalid shape has none. */
function foreignConditions(stored: unknown): readonly unknown[] {
  const conditions = (stored as Conditioned | null | undefined)?.conditions
  return Array.isArray(conditions) ? conditions.filter(isForeign) : []
}

function isForeign(condition: { readonly type?: unknown; readonly status?: unknown } | null): boolean {
  const { type, status } = condition ?? {}
  return typeof type === 'string' && typeof status === 'string' && !isOwnCondition(type)
}
