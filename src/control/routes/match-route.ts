import { objectKey } from '#api/object.ts'
import type { ParentReference } from '#api/parent-reference.ts'
import type { FindingCode } from '#base/findings.ts'
import { allowsNamespace } from '../context/allowed-namespaces.ts'
import type { ConditionFault } from '../context/condition.ts'
import { servedHostnames } from '../context/hostname.ts'
import type { Inventory } from '../context/inventory.ts'
import type { Report } from '../context/reporting.ts'
import type { Listener } from '../gateways/listener.ts'
import { knownSections, notFound } from '../references/not-found.ts'
import { firstEqual, isParentKind } from './check-parents.ts'
import type { RouteObject } from './route-object.ts'

/** A route with the listeners that it asks for and that allow it, before routes of other kinds are considered. */
export interface MatchedRoute {
  readonly object: RouteObject
  /** Those that belong to this controller; outside of a cluster, also those that do not exist. At least one. */
  readonly parents: readonly MatchedParent[]
}

export interface MatchedParent {
  /** With the defaults of the schema. */
  readonly ref: ParentReference
  /** Field path of the reference. */
  readonly path: string
  readonly matches: readonly ListenerMatch[]
  /** Why there are no matches. */
  readonly refusal?: Refusal
}

export interface ListenerMatch {
  readonly listener: Listener
  /** Empty: any host. */
  readonly hostnames: readonly string[]
}

type Refusal = ConditionFault & { readonly code: FindingCode }

interface RouteContext {
  readonly inventory: Inventory
  readonly report: Report
  /** There is no other controller, to whom a Gateway that does not exist could belong. */
  readonly isAlone: boolean
  /** By key of the Gateway or ListenerSet; undefined if it belongs to another controller. */
  readonly listenersOf: (parent: string) => readonly Listener[] | undefined
}

/** @returns undefined if all parents belong to other controllers */
export function matchRoute(context: RouteContext, object: RouteObject): MatchedRoute | undefined {
  const refs = object.spec.parentRefs ?? []
  const parents = refs.flatMap((ref, index) => {
    if (firstEqual(refs, index, object.metadata.namespace) !== index) return []
    const path = `spec.parentRefs[${index}]`
    const found = matchParent(context, object, { ref, path })
    return found === undefined ? [] : [{ ref, path, ...found }]
  })
  return parents.length === 0 ? undefined : { object, parents }
}

type ParentMatch = Pick<MatchedParent, 'matches' | 'refusal'>

/** @returns undefined for a parent that does not belong to this controller */
function matchParent(
  context: RouteContext,
  route: RouteObject,
  { ref, path }: Pick<MatchedParent, 'ref' | 'path'>,
): ParentMatch | undefined {
  if (!isParentKind(ref)) return undefined
  const namespace = ref.namespace ?? route.metadata.namespace
  const parent = `${ref.kind} ${namespace}/${ref.name}`
  const listeners = context.listenersOf(objectKey(ref.kind, namespace, ref.name))
  if (listeners === undefined) {
    if (context.inventory.find(ref.kind, namespace, ref.name) !== undefined) return undefined
    const object = { kind: ref.kind, namespace, name: ref.name, accepted: ['Gateway', 'ListenerSet'] } as const
    const { code, message } = notFound(context.inventory, 'parent-not-found', object)
    if (context.isAlone) return refuse(code, 'NoMatchingParent', message)
    context.report({ path, code, message, severity: 'warning' })
    return undefined
  }
  return selectListeners(context, route, ref, { parent, listeners })
}

/** Selects the listeners of a parent that accept the route. The reason of a refusal is the first condition that no listener meets. */
function selectListeners(
  { inventory }: RouteContext,
  route: RouteObject,
  ref: ParentReference,
  { parent, listeners }: { readonly parent: string; readonly listeners: readonly Listener[] },
): ParentMatch {
  if (listeners.length === 0) {
    const message = `${parent} has no listeners, because its Gateway does not accept it`
    return refuse('parent-not-matching', 'NoMatchingParent', message)
  }
  const named = listeners.filter(({ spec }) => namedBy(ref, spec))
  if (named.length === 0) {
    return refuse(
      'parent-not-matching',
      'NoMatchingParent',
      `${parent} has no listener ${wantedListener(ref, listeners)}`,
    )
  }
  const allowing = named.filter((listener) => allowsRoute(inventory, listener, route))
  if (allowing.length === 0) {
    return refuse('parent-not-allowed', 'NotAllowedByListeners', `${parent}: ${describeNotAllowed(named, route)}`)
  }
  const wanted = hostnamesOf(route)
  const matches = allowing.flatMap((listener) => {
    const hostnames = servedHostnames(listener.hostname, wanted)
    return hostnames === undefined ? [] : [{ listener, hostnames }]
  })
  if (matches.length > 0) return { matches }
  const served = [...new Set(allowing.map(({ hostname }) => hostname))].join(', ')
  const message = `no listener of ${parent} serves ${wanted.join(', ')}; they serve ${served}`
  return refuse('parent-hostname', 'NoMatchingListenerHostname', message)
}

/** A TCPRoute has no hostnames. */
function hostnamesOf(route: RouteObject): readonly string[] {
  return route.kind === 'TCPRoute' ? [] : (route.spec.hostnames ?? [])
}

function refuse(code: FindingCode, reason: string, message: string): ParentMatch {
  return { matches: [], refusal: { code, reason, message } }
}

function describeNotAllowed(listeners: readonly Listener[], { kind, metadata }: RouteObject): string {
  const names = `listener ${listeners.map(({ spec }) => spec.name).join(', ')}`
  const kinds = [...new Set(listeners.flatMap(({ supportedKinds }) => supportedKinds))]
  if (kinds.length === 0) return `${names} takes no routes`
  if (kinds.includes(kind))
    return `${names} takes no ${kind}s from namespace ${metadata.namespace}; see its allowedRoutes`
  return `${names} takes only ${kinds.map((each) => `${each}s`).join(' and ')}, no ${kind}s`
}

function namedBy(ref: ParentReference, { name, port }: Listener['spec']): boolean {
  return (ref.sectionName ?? name) === name && (ref.port ?? port) === port
}

function wantedListener({ sectionName, port }: ParentReference, listeners: readonly Listener[]): string {
  const name = sectionName === undefined ? '' : `named ${sectionName}`
  const number = port === undefined ? '' : `on port ${port}`
  const names = listeners.map(({ spec }) => spec.name)
  const isUnknown = sectionName !== undefined && !names.includes(sectionName)
  const wanted = [name, number].filter((text) => text !== '').join(' ')
  return `${wanted}${isUnknown ? knownSections(sectionName, names) : ''}`
}

function allowsRoute(inventory: Inventory, listener: Listener, route: RouteObject): boolean {
  const { spec, owner, supportedKinds } = listener
  const ends = { own: owner.metadata.namespace, namespace: route.metadata.namespace }
  return supportedKinds.includes(route.kind) && allowsNamespace(inventory, spec.allowedRoutes.namespaces, ends)
}
