import { objectKey } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import type { Origin } from '#base/origin.ts'
import type { Translation } from '#control/translation.ts'
import type { PlanItem } from '#plan/item.ts'
import type { GoldenParts } from './golden-case.ts'

/** A translation as golden cases show it: everything that it says, as short as can be. */
export function showTranslation({ items, statuses, findings }: Translation): GoldenParts {
  return {
    plan: Object.fromEntries([...items].map(([key, item]) => [key, showItem(item)])),
    status: Object.fromEntries(
      statuses.map(({ kind, namespace, name, status }) => [objectKey(kind, namespace, name), showStatus(status)]),
    ),
    findings: findings.map(showFinding),
  }
}

/** Members that can be seen from the key of the item. */
const IN_KEY: { readonly [K in PlanItem['kind']]: readonly string[] } = {
  gateway: ['namespace', 'name'],
  listener: ['gateway', 'listenerSet', 'name'],
  route: ['route', 'rule'],
  'relay-route': ['route', 'rule'],
  policy: ['section', 'phase', 'field', 'target'],
  backend: ['namespace', 'name'],
  endpoints: [],
  secret: ['namespace', 'name'],
  configmap: ['namespace', 'name'],
  workload: ['namespace', 'name'],
}

/** Without what is in its key, and without what is empty. */
function showItem({ kind, key: _, origin: __, ...item }: PlanItem): unknown {
  return plain(Object.fromEntries(Object.entries(item).filter(([name]) => !IN_KEY[kind].includes(name))))
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, member) => (isEmpty(member) ? undefined : member)))
}

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0)
}

export function showFinding({ origin, path, code, severity, message }: Finding): string {
  return `${severity} ${code} in ${showOrigin(origin)} ${path}: ${message}`
}

function showOrigin({ kind, namespace, name }: Origin): string {
  return objectKey(kind, namespace, name)
}

/** Conditions that only say that all is as wanted are shown by their type alone. */
const AS_WANTED = new Set([
  'Accepted=True Accepted: Class accepted',
  'Accepted=True Accepted: All listeners are accepted',
  'Accepted=True Accepted: Listener accepted',
  'Accepted=True Accepted: Route accepted',
  'Accepted=True Accepted: Backend successfully accepted',
  'Accepted=True Valid: Policy accepted',
  'Attached=True Attached: Attached to all targets',
  'Conflicted=False NoConflicts: No conflicts',
  'ResolvedRefs=True ResolvedRefs: All references resolved',
])

/** The same for all classes; a test of its own has them. */
const LEFT_OUT = 'supportedFeatures'

/** Each condition in one line: `Accepted=False NotAllowedByListeners: no listener ...`. */
function showStatus(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(showStatus)
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Readonly<Record<string, unknown>>
  if ('type' in fields && 'status' in fields && 'reason' in fields) return showCondition(fields)
  const shown = Object.entries(fields).filter(([name]) => name !== LEFT_OUT)
  return Object.fromEntries(shown.map(([name, member]) => [name, showStatus(member)]))
}

function showCondition({ type, status, reason, message, observedGeneration }: Readonly<Record<string, unknown>>) {
  const generation = observedGeneration === undefined ? '' : ` @${observedGeneration}`
  const line = `${type}=${status} ${reason}: ${message}`
  return AS_WANTED.has(line) ? `${type}${generation}` : `${line}${generation}`
}
