import type { ApiObject } from '#api/object.ts'
import { objectKey } from '#api/object.ts'
import type { ProxyPolicyObject } from '#api/proxy-policy.ts'
import type { FindingCode } from '#base/findings.ts'
import type { LevelName } from '#plan/item.ts'
import { backendTarget, gatewayTarget, listenerSetTarget, listenerTarget, routeTarget } from '#plan/target.ts'
import type { Listener } from '../gateways/listener.ts'
import type { Inventory } from '../inventory.ts'
import { hasLabels } from '../label-selector.ts'
import type { Attachment } from './policy-item.ts'

/** A place that a policy names and reaches. */
export interface TargetAttachment extends Attachment {
  /** The target in words: `HTTPRoute default/shop`. */
  readonly title: string
  readonly kind: string
  /** Path of the entry in the policy. */
  readonly path: string
}

/** A target that a policy names and cannot be attached to. */
export interface PolicyMiss {
  readonly path: string
  readonly code: FindingCode
  readonly message: string
}

export interface AttachedPolicy {
  readonly object: ProxyPolicyObject
  readonly places: readonly TargetAttachment[]
  readonly misses: readonly PolicyMiss[]
}

interface AttachmentContext {
  readonly inventory: Inventory
  /** By key of the Gateway or ListenerSet; undefined for what is not ours. */
  readonly listenersOf: (owner: string) => readonly Listener[] | undefined
  /** Sections of a backend, by its key. */
  readonly sectionsOf: (backend: string) => readonly string[]
}

const TARGET_KINDS = ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute', 'Service', 'ProxyBackend'] as const
type TargetKind = (typeof TARGET_KINDS)[number]
type TargetObject = Pick<ApiObject, 'kind' | 'metadata'>

/** An entry of `targetRefs` or `targetSelectors`, and how to find what it names. */
interface Entry {
  readonly path: string
  readonly kind: string
  readonly sectionName?: string
  readonly find: (kind: TargetKind) => readonly TargetObject[]
  /** What to say when nothing is found. */
  readonly nothing: Omit<PolicyMiss, 'path'>
}

/** Finds the places that a policy is attached to; targets are in its own namespace (decisions ). */
export function placePolicy(context: AttachmentContext, policy: ProxyPolicyObject): AttachedPolicy {
  const places = new Map<string, TargetAttachment>()
  const misses: PolicyMiss[] = []
  for (const entry of entriesOf(context.inventory, policy)) {
    for (const found of placeEntry(context, entry)) {
      if ('target' in found) places.set(found.target, places.get(found.target) ?? found)
      else misses.push(found)
    }
  }
  return { object: policy, places: [...places.values()], misses }
}

function entriesOf(inventory: Inventory, policy: ProxyPolicyObject): readonly Entry[] {
  const { namespace } = policy.metadata
  const refs = (policy.spec.targetRefs ?? []).map((ref, index): Entry => {
    const message = `Policy is not attached: ${ref.kind} ${namespace}/${ref.name} not found`
    return {
      ...ref,
      path: `spec.targetRefs[${index}]`,
      find: (kind) => [inventory.find(kind, namespace, ref.name) ?? []].flat(),
      nothing: { code: 'target-not-found', message },
    }
  })
  const selectors = (policy.spec.targetSelectors ?? []).map((selector, index): Entry => {
    const message = `Policy is not attached: no ${selector.kind} matching selector found in namespace ${namespace}`
    const isSelected = ({ metadata }: TargetObject) => hasLabels(metadata.labels ?? {}, selector.matchLabels)
    return {
      ...selector,
      path: `spec.targetSelectors[${index}]`,
      find: (kind) => (inventory.inNamespace(kind, namespace) as readonly TargetObject[]).filter(isSelected),
      nothing: { code: 'target-selects-nothing', message },
    }
  })
  return [...refs, ...selectors]
}

function placeEntry(context: AttachmentContext, entry: Entry): readonly (TargetAttachment | PolicyMiss)[] {
  const { kind, path } = entry
  if (!isTargetKind(kind)) {
    return [{ path, code: 'not-implemented', message: `targets of kind ${kind} are not implemented yet` }]
  }
  const objects = entry.find(kind)
  if (objects.length === 0) return [{ path, ...entry.nothing }]
  return objects.map((object) => placeAt(context, { kind, path, sectionName: entry.sectionName }, object))
}

function isTargetKind(kind: string): kind is TargetKind {
  return (TARGET_KINDS as readonly string[]).includes(kind)
}

interface Part {
  readonly kind: TargetKind
  readonly path: string
  readonly sectionName: string | undefined
}

function placeAt(
  context: AttachmentContext,
  { kind, path, sectionName }: Part,
  object: TargetObject,
): TargetAttachment | PolicyMiss {
  const title = `${kind} ${object.metadata.namespace}/${object.metadata.name}`
  if (isForeign(context, kind, object)) {
    const message = `Policy is not attached: ${title} is not served by this controller`
    return { path, code: 'target-not-attached', message }
  }
  if (sectionName !== undefined) {
    const known = sectionsOf(context, kind, object)
    if (!known.includes(sectionName)) {
      const names = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`
      const message = `Policy is not attached: sectionName "${sectionName}" not found in ${title}; ${names}`
      return { path: `${path}.sectionName`, code: 'target-section-unknown', message }
    }
  }
  const place = { target: targetOf(kind, object, sectionName), level: levelOf(kind, sectionName) }
  const part = sectionName === undefined ? '' : ` section ${sectionName}`
  return { ...place, title: `${title}${part}`, kind, path }
}

function isForeign({ listenersOf }: AttachmentContext, kind: TargetKind, { metadata }: TargetObject): boolean {
  if (kind !== 'Gateway' && kind !== 'ListenerSet') return false
  return listenersOf(objectKey(kind, metadata.namespace, metadata.name)) === undefined
}

/** The names that a `sectionName` can have at an object (docs/behaviour/control.md, "Sections"). */
function sectionsOf(context: AttachmentContext, kind: TargetKind, { metadata }: TargetObject): readonly string[] {
  const { namespace, name } = metadata
  const key = objectKey(kind, namespace, name)
  switch (kind) {
    case 'Gateway':
    case 'ListenerSet':
      return (context.listenersOf(key) ?? []).map(({ spec }) => spec.name)
    case 'HTTPRoute':
    case 'GRPCRoute':
      return ruleNames(context.inventory.find(kind, namespace, name)?.spec.rules ?? [])
    case 'Service':
      return (context.inventory.find('Service', namespace, name)?.spec.ports ?? []).map(({ port }) => `${port}`)
    case 'ProxyBackend':
      return context.sectionsOf(key)
  }
}

function ruleNames(rules: readonly { readonly name?: string }[]): readonly string[] {
  return rules.flatMap(({ name }) => (name === undefined ? [] : [name]))
}

function targetOf(kind: TargetKind, { metadata }: TargetObject, section: string | undefined): string {
  switch (kind) {
    case 'Gateway':
      return section === undefined ? gatewayTarget(metadata) : listenerTarget(metadata, section)
    case 'ListenerSet':
      return listenerSetTarget(metadata, section)
    case 'HTTPRoute':
    case 'GRPCRoute':
      return routeTarget(kind, metadata, section)
    case 'Service':
    case 'ProxyBackend':
      return backendTarget(kind, metadata, section)
  }
}

/** Decision A-22. */
function levelOf(kind: TargetKind, section: string | undefined): LevelName {
  switch (kind) {
    case 'Gateway':
      return section === undefined ? 'Gateway' : 'Listener'
    case 'ListenerSet':
      return section === undefined ? 'ListenerSet' : 'Listener'
    case 'HTTPRoute':
    case 'GRPCRoute':
      return section === undefined ? 'Route' : 'RouteRule'
    case 'Service':
    case 'ProxyBackend':
      return section === undefined ? 'Backend' : 'BackendSection'
  }
}
