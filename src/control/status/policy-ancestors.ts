import { GATEWAY_GROUP, OWN_GROUP } from '#api/groups.ts'
import type { PolicyAncestorStatus } from '#api/policy-status.ts'
import { compareText } from '#base/compare-text.ts'
import { CONTROLLER_NAME } from '../controller.ts'
import { type ConditionDraft, conditionsOf } from './condition.ts'

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

/** The Gateways whose traffic reaches any of the targets, sorted. */
export function reachedGateways(
  attachments: readonly { readonly target: string }[],
  gatewaysOf: GatewaysOf,
): readonly string[] {
  return [...new Set(attachments.flatMap(({ target }) => gatewaysOf(target)))].sort(compareText)
}

/** @param gateway key of the Gateway */
export function gatewayRef(gateway: string): AncestorRef {
  const [, namespace = '', name = ''] = gateway.split('/')
  return { group: GATEWAY_GROUP, kind: 'Gateway', namespace, name }
}

/**
 * `status.ancestors` of a policy: the entries of this controller, and those of others as they are.
 * @param status the status before
 */
export function policyAncestors(
  object: Parameters<typeof conditionsOf>[0],
  status: unknown,
  entries: readonly AncestorEntry[],
): readonly Ancestor[] {
  const own = entries.map(({ ancestorRef, conditions }): Draft => {
    const named = { ancestorRef, controllerName: CONTROLLER_NAME }
    return { ...named, write: () => ({ ...named, conditions: conditions() }) }
  })
  const foreign = foreignAncestors(status).map((ancestor) => ({ ...ancestor, write: () => ancestor }))
  return limitAncestors([...foreign, ...own].sort(byReference), conditionsOf(object))
}

/** The entries of other controllers; a status with an invalid shape has none. */
function foreignAncestors(status: unknown): readonly Ancestor[] {
  const ancestors = (status as { readonly ancestors?: unknown } | null | undefined)?.ancestors
  return Array.isArray(ancestors) ? ancestors.filter(isForeign) : []
}

function isForeign(entry: Partial<Ancestor> | null): entry is Ancestor {
  return typeof entry?.ancestorRef?.name === 'string' && entry.controllerName !== CONTROLLER_NAME
}

function byReference(a: { readonly ancestorRef: AncestorRef }, b: { readonly ancestorRef: AncestorRef }): number {
  return compareText(sortKey(a.ancestorRef), sortKey(b.ancestorRef))
}

function sortKey({ group = '', kind = '', name, sectionName = '', port, namespace = '' }: AncestorRef): string {
  return `${group}/${kind}/${name}/${sectionName}/${port ?? ''}.${namespace}`
}

/** Limits the ancestors to 16. If there are more, the last entry of this controller says how many were omitted. */
function limitAncestors(ancestors: readonly Draft[], condition: ReturnType<typeof conditionsOf>): readonly Ancestor[] {
  const kept = ancestors.slice(0, MAX_ANCESTORS)
  const last =
    ancestors.length <= MAX_ANCESTORS
      ? -1
      : kept.findLastIndex(({ controllerName }) => controllerName === CONTROLLER_NAME)
  return kept.map((draft, index) => {
    if (index !== last) return draft.write()
    const message = `${ancestors.length - (MAX_ANCESTORS - 1)} AncestorRefs ignored due to max status size`
    const summarized = condition('StatusSummarized', 'True', 'StatusSummary', message)
    return { ancestorRef: SUMMARY, controllerName: CONTROLLER_NAME, conditions: [summarized] }
  })
}
