import type { ApiObject } from '#api/object.ts'
import { objectKey } from '#api/object.ts'
import { canTarget, type TargetSection } from '#api/policy-targets.ts'
import type { ProxyPolicyObject } from '#api/proxy-policy.ts'
import type { FindingCode } from '#base/findings.ts'
import type { LevelName } from '#plan/item.ts'
import { backendTarget, gatewayTarget, listenerSetTarget, listenerTarget, routeTarget } from '#plan/target.ts'
import type { Inventory } from '../context/inventory.ts'
import { hasLabels } from '../context/label-selector.ts'
import type { PolicyAttachment } from '../context/policy-item.ts'
import type { Listener } from '../gateways/listener.ts'
import { knownSections, notFound } from '../references/not-found.ts'

/** A target that a policy is attached to. */
export interface TargetAttachment extends PolicyAttachment {
  /** The target for messages: `HTTPRoute default/shop`. */
  readonly title: string
  readonly kind: TargetKind
  /** Key of the object. */
  readonly object: string
  readonly section: string | undefined
  /** Field path of the entry of `targetRefs` or `targetSelectors`. */
  readonly path: string
}

/** A target that a policy refers to but cannot be attached to. */
export interface UnattachedTarget {
  readonly path: string
  readonly code: FindingCode
  readonly message: string
  /** It is a Gateway or a ListenerSet that another controller serves. */
  readonly isForeign?: true
}

export interface AttachedPolicy<Policy = ProxyPolicyObject> {
  readonly object: Policy
  readonly attachments: readonly TargetAttachment[]
  readonly unattached: readonly UnattachedTarget[]
}

/** The attachment to a whole object. */
export function attachWhole(kind: TargetKind, metadata: TargetObject['metadata']): PolicyAttachment {
  return { target: targetOf(kind, { metadata }, undefined), level: levelOf(kind, undefined) }
}

type Targets = Pick<ProxyPolicyObject['spec'], 'targetRefs' | 'targetSelectors'> &
  Partial<Record<TargetSection, unknown>>

export interface AttachmentContext {
  readonly inventory: Inventory
  /** By key of the Gateway or ListenerSet; undefined if it belongs to another controller. */
  readonly listenersOf: (owner: string) => readonly Listener[] | undefined
  /** Sections of a backend, by its key. */
  readonly sectionsOf: (backend: string) => readonly string[]
}

const TARGET_KINDS = ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute', 'Service', 'ProxyBackend'] as const
type TargetKind = (typeof TARGET_KINDS)[number]
type TargetObject = Pick<ApiObject, 'kind' | 'metadata'>

/** An entry of `targetRefs` or `targetSelectors`. */
interface Entry {
  readonly path: string
  readonly kind: string
  readonly sectionName?: string
  readonly find: (kind: TargetKind) => readonly TargetObject[]
  /** The finding if `find` returns nothing. */
  readonly notFound: (kind: TargetKind) => Omit<UnattachedTarget, 'path'>
}

/** Attaches a policy to its targets, which are in its own namespace (decisions ). */
export function attachPolicy(context: AttachmentContext, object: ProxyPolicyObject): AttachedPolicy {
  return { object, ...attachTargets(context, object.metadata.namespace, object.spec) }
}

/** The message of a target that a policy is not attached to, if the policy should protect its targets and is attached to none. */
export function protectsNothing(message: string): string {
  return `nothing is protected by this policy. ${message}`
}

/** The targets of a policy in a namespace. */
export function attachTargets(
  context: AttachmentContext,
  namespace: string,
  targets: Targets,
): Pick<AttachedPolicy, 'attachments' | 'unattached'> {
  const attachments = new Map<string, TargetAttachment>()
  const unattached: UnattachedTarget[] = []
  for (const entry of entriesOf(context.inventory, namespace, targets)) {
    for (const found of attachEntry(context, entry)) {
      if ('target' in found) attachments.set(found.target, attachments.get(found.target) ?? found)
      else unattached.push(found)
    }
  }
  return { attachments: [...attachments.values()], unattached }
}

function entriesOf(inventory: Inventory, namespace: string, targets: Targets): readonly Entry[] {
  const { targetRefs = [], targetSelectors = [] } = targets
  const accepted = TARGET_KINDS.filter((kind) => canTarget(targets, kind))
  const refs = targetRefs.map((ref, index) =>
    referenceEntry(inventory, namespace, { ref, path: `spec.targetRefs[${index}]`, accepted }),
  )
  const selectors = targetSelectors.map((selector, index): Entry => {
    const message = `Policy is not attached: no ${selector.kind} matching selector found in namespace ${namespace}`
    const isSelected = ({ metadata }: TargetObject) => hasLabels(metadata.labels ?? {}, selector.matchLabels)
    return {
      ...selector,
      path: `spec.targetSelectors[${index}]`,
      find: (kind) => (inventory.inNamespace(kind, namespace) as readonly TargetObject[]).filter(isSelected),
      notFound: () => ({ code: 'target-selects-nothing', message }),
    }
  })
  return [...refs, ...selectors]
}

type TargetReference = NonNullable<Targets['targetRefs']>[number]

interface ReferenceUse {
  readonly ref: TargetReference
  readonly path: string
  /** The kinds that the policy can target. */
  readonly accepted: readonly TargetKind[]
}

function referenceEntry(inventory: Inventory, namespace: string, { ref, path, accepted }: ReferenceUse): Entry {
  return {
    ...ref,
    path,
    find: (kind) => [inventory.find(kind, namespace, ref.name) ?? []].flat(),
    notFound: (kind) => {
      const { code, message } = notFound(inventory, 'target-not-found', { kind, namespace, name: ref.name, accepted })
      return { code, message: `Policy is not attached: ${message}` }
    },
  }
}

/** Attaches a policy to the target that one reference names. */
export function attachReference(
  context: AttachmentContext,
  namespace: string,
  use: ReferenceUse,
): TargetAttachment | UnattachedTarget {
  return attachEntry(context, referenceEntry(context.inventory, namespace, use))[0]!
}

function attachEntry(context: AttachmentContext, entry: Entry): readonly (TargetAttachment | UnattachedTarget)[] {
  const { kind, path } = entry
  if (!isTargetKind(kind)) {
    return [{ path, code: 'not-implemented', message: `targets of kind ${kind} are not implemented yet` }]
  }
  const objects = entry.find(kind)
  if (objects.length === 0) return [{ path, ...entry.notFound(kind) }]
  return objects.map((object) => attachTo(context, { kind, path, sectionName: entry.sectionName }, object))
}

export function isTargetKind(kind: string): kind is TargetKind {
  return (TARGET_KINDS as readonly string[]).includes(kind)
}

interface TargetRef {
  readonly kind: TargetKind
  readonly path: string
  readonly sectionName: string | undefined
}

function attachTo(
  context: AttachmentContext,
  { kind, path, sectionName }: TargetRef,
  object: TargetObject,
): TargetAttachment | UnattachedTarget {
  const title = `${kind} ${object.metadata.namespace}/${object.metadata.name}`
  if (isForeign(context, kind, object)) {
    const message = `Policy is not attached: ${title} is not served by this controller`
    return { path, code: 'target-not-attached', message, isForeign: true }
  }
  if (sectionName !== undefined) {
    const known = sectionsOf(context, kind, object)
    if (!known.includes(sectionName)) {
      const message = `Policy is not attached: sectionName "${sectionName}" not found in ${title}${knownSections(sectionName, known)}`
      return { path: `${path}.sectionName`, code: 'target-section-unknown', message }
    }
  }
  const attachment = { target: targetOf(kind, object, sectionName), level: levelOf(kind, sectionName) }
  const part = sectionName === undefined ? '' : ` section ${sectionName}`
  const key = objectKey(kind, object.metadata.namespace, object.metadata.name)
  return { ...attachment, title: `${title}${part}`, kind, object: key, section: sectionName, path }
}

function isForeign({ listenersOf }: AttachmentContext, kind: TargetKind, { metadata }: TargetObject): boolean {
  if (kind !== 'Gateway' && kind !== 'ListenerSet') return false
  return listenersOf(objectKey(kind, metadata.namespace, metadata.name)) === undefined
}

/** Valid values of `sectionName` for an object (docs/behaviour/control.md, "Sections"). */
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

function targetOf(kind: TargetKind, { metadata }: Pick<TargetObject, 'metadata'>, section: string | undefined): string {
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

/** Precedence levels (decision A-22). */
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
