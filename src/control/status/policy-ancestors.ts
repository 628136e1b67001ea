import { GATEWAY_GROUP, OWN_GROUP } from '#api/groups.ts'
import type { PolicyAncestorStatus } from '#api/policy-status.ts'
import { compareText } from '#base/compare-text.ts'
import { type ConditionDraft, conditionsOf } from '../context/condition.ts'

/** Maximum number of ancestors in a status (Gateway API). */
const MAX_ANCESTORS = 16

/** Reference of the entry for targets without a Gateway. */
export const SUMMARY = { group: OWN_GROUP, name: 'StatusSummary' }

export type AncestorRef = Partial<PolicyAncestorStatus['ancestorRef']> & { readonly name: string }

interface Ancestor {
  readonly ancestorRef: AncestorRef
  readonly controllerName: string
  readonly conditions?: readonly ConditionDraft[]
}

/** An entry of this controller. The conditions are built only if it fits into the status: a policy may affect thousands of Gateways. */
export interface AncestorEntry {
  readonly ancestorRef: AncestorRef
  readonly conditions: () => readonly ConditionDraft[]
}

interface Draft {
  readonly ancestorRef: AncestorRef
  readonly controllerName: string
  readonly write: () => Ancestor
}

/** The Gateways, by target and sorted, whose traffic reaches a policy target. */
export type GatewaysOf = (target: string) => readonly string[]

/** The Gateways whose traffic reaches any of the targets, sorted. With one target it is the list of that target itself. */
export function reachedGateways(
  attachments: readonly { readonly target: string }[],
  gatewaysOf: GatewaysOf,
): readonly string[] {
  const lists = [...new Set(attachments.map(({ target }) => gatewaysOf(target)))].filter(({ length }) => length > 0)
  return lists.length === 1 ? lists[0]! : [...new Set(lists.flat())].sort(compareText)
}

interface ReachedGateway {
  readonly key: string
  readonly ancestorRef: AncestorRef
}

/** By list of Gateways: thousands of policies may have the same target. */
const written = new WeakMap<readonly string[], readonly ReachedGateway[]>()

/** The first Gateways in the order of a status, which has room for no more. @param gateways keys */
export function writtenGateways(gateways: readonly string[]): readonly ReachedGateway[] {
  let first = written.get(gateways)
  if (first === undefined) {
    const ordered = gateways.map((key) => {
      const ancestorRef = gatewayRef(key)
      return { key, ancestorRef, order: sortKey(ancestorRef) }
    })
    ordered.sort((a, b) => compareText(a.order, b.order))
    first = ordered.slice(0, MAX_ANCESTORS).map(({ key, ancestorRef }) => ({ key, ancestorRef }))
    written.set(gateways, first)
  }
  return first
}

/** @param gateway key of the Gateway */
export function gatewayRef(gateway: string): AncestorRef {
  const [, namespace = '', name = ''] = gateway.split('/')
  return { group: GATEWAY_GROUP, kind: 'Gateway', namespace, name }
}

interface OwnAncestors {
  /** `controllerName` of the entries. */
  readonly controller: string
  readonly entries: readonly AncestorEntry[]
  /** How many Gateways `entries` does not have, because they come after all that a status has room for. */
  readonly omitted: number
}

/**
 * `status.ancestors` of a policy: the entries of this controller, and those of others as they are. If there are more than 16, the last entry of
 * this controller says how many were omitted.
 */
export function policyAncestors(
  object: Parameters<typeof conditionsOf>[0] & { readonly status?: unknown },
  { controller, entries, omitted }: OwnAncestors,
): readonly Ancestor[] {
  const own = entries.map(({ ancestorRef, conditions }): Draft => {
    const named = { ancestorRef, controllerName: controller }
    return { ...named, write: () => ({ ...named, conditions: conditions() }) }
  })
  const foreign = foreignAncestors(object.status, controller)
  const drafts = [...foreign.map((ancestor) => ({ ...ancestor, write: () => ancestor })), ...own].sort(byReference)
  const count = drafts.length + omitted
  const kept = drafts.slice(0, MAX_ANCESTORS)
  const last = count <= MAX_ANCESTORS ? -1 : kept.findLastIndex(({ controllerName }) => controllerName === controller)
  return kept.map((draft, index) => {
    if (index !== last) return draft.write()
    const message = `${count - (MAX_ANCESTORS - 1)} AncestorRefs ignored due to max status size`
    const summarized = conditionsOf(object)('StatusSummarized', 'True', 'StatusSummary', message)
    return { ancestorRef: SUMMARY, controllerName: controller, conditions: [summarized] }
  })
}

/** The entries of other controllers; a status with an invalid shape has none. */
function foreignAncestors(status: unknown, controller: string): readonly Ancestor[] {
  const ancestors = (status as { readonly ancestors?: unknown } | null | undefined)?.ancestors
  const isForeign = (entry: Partial<Ancestor> | null) =>
    typeof entry?.ancestorRef?.name === 'string' && entry.controllerName !== controller
  return Array.isArray(ancestors) ? ancestors.filter(isForeign) : []
}

function byReference(a: { readonly ancestorRef: AncestorRef }, b: { readonly ancestorRef: AncestorRef }): number {
  return compareText(sortKey(a.ancestorRef), sortKey(b.ancestorRef))
}

function sortKey({ group = '', kind = '', name, sectionName = '', port, namespace = '' }: AncestorRef): string {
  return `${group}/${kind}/${name}/${sectionName}/${port ?? ''}.${namespace}`
}
