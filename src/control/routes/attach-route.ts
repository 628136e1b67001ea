import type { GRPCRouteObject } from '#api/grpc-route.ts'
import type { HTTPRouteObject } from '#api/http-route.ts'
import { objectKey } from '#api/object.ts'
import type { ParentReference } from '#api/parent-reference.ts'
import type { TCPRouteObject } from '#api/tcp-route.ts'
import type { TLSRouteObject } from '#api/tls-route.ts'
import type { FindingCode } from '#base/findings.ts'
import type { Attachment } from '#plan/item.ts'
import { allowsNamespace } from '../allowed-namespaces.ts'
import { GATEWAY_GROUP } from '../controller.ts'
import { isServed, type Listener, whyNotServed } from '../gateways/listener.ts'
import { agreedHostnames } from '../hostname.ts'
import { compareText, type Inventory } from '../inventory.ts'
import { knownSections, notFound } from '../references/not-found.ts'
import type { Report } from '../reporting.ts'
import type { ConditionFault } from '../status/condition.ts'

export type RequestRouteObject = HTTPRouteObject | GRPCRouteObject
/** Routes for connections, whose bytes are relayed unchanged. */
export type RelayRouteObject = TCPRouteObject | TLSRouteObject
export type RouteObject = RequestRouteObject | RelayRouteObject

export function isRelayRoute(route: RouteObject): route is RelayRouteObject {
  return route.kind === 'TCPRoute' || route.kind === 'TLSRoute'
}

/** A route with at least one parent that belongs to this controller or does not exist. */
export interface AttachedRoute {
  readonly object: RouteObject
  readonly parents: readonly AttachedParent[]
  /** At the listeners that are served. */
  readonly attachments: readonly Attachment[]
  /** All listeners that the route is attached to, for status and reach. */
  readonly listeners: readonly Listener[]
}

export interface AttachedParent {
  /** With the defaults of the schema. */
  readonly ref: ParentReference
  /** Why the route is attached to no listener of this parent. */
  readonly fault?: ConditionFault
  /** Set if none of the listeners that the route is attached to is served. */
  readonly unserved?: string
}

interface RouteContext {
  readonly inventory: Inventory
  /** By key of the Gateway or ListenerSet; undefined if it belongs to another controller. */
  readonly listenersOf: (parent: string) => readonly Listener[] | undefined
}

interface Match {
  readonly listener: Listener
  readonly hostnames: readonly string[]
}

/**
 * Attaches a route to listeners (docs/behaviour/control.md, "Attachment of routes").
 * @returns undefined if all parents belong to other controllers
 */
export function attachRoute(context: RouteContext, object: RouteObject, report: Report): AttachedRoute | undefined {
  const parents: AttachedParent[] = []
  const matches = new Map<string, Match>()
  for (const [index, ref] of (object.spec.parentRefs ?? []).entries()) {
    const found = matchParent(context, object, ref)
    if (found === undefined) continue
    for (const match of found.matches) matches.set(match.listener.key, match)
    const path = `spec.parentRefs[${index}]`
    if (found.refusal === undefined) {
      const unserved = describeUnserved(found.matches)
      if (unserved !== undefined) {
        report({ path, code: 'parent-not-matching', message: unserved, severity: 'error' })
      }
      parents.push({ ref, ...(unserved === undefined ? {} : { unserved }) })
      continue
    }
    const { code, reason, message } = found.refusal
    report({ path, code, message, severity: 'error' })
    parents.push({ ref, fault: { reason, message } })
  }
  if (parents.length === 0) return undefined
  const sorted = [...matches.values()].sort((a, b) => compareText(a.listener.key, b.listener.key))
  return {
    object,
    parents: parents.slice(),
    attachments: sorted
      .filter(({ listener }) => isServed(listener))
      .map(({ listener, hostnames }) => ({ listener: listener.key, hostnames })),
    listeners: sorted.map(({ listener }) => listener),
  }
}

/** A route is attached whether its listeners are served or not (Gateway API, AttachedRoutes), but it must be said. */
function describeUnserved(matches: readonly Match[]): string | undefined {
  const unserved = matches.flatMap(({ listener }) => {
    const fault = whyNotServed(listener)
    return fault === undefined ? [] : [`listener ${listener.spec.name} is not served: ${fault.message}`]
  })
  return unserved.length < matches.length ? undefined : unserved.join('; ')
}

interface ParentMatch {
  readonly matches: readonly Match[]
  readonly refusal?: ConditionFault & { readonly code: FindingCode }
}

/** @returns undefined for a parent of another controller */
function matchParent(context: RouteContext, route: RouteObject, ref: ParentReference): ParentMatch | undefined {
  if (ref.group !== GATEWAY_GROUP || (ref.kind !== 'Gateway' && ref.kind !== 'ListenerSet')) return undefined
  const namespace = ref.namespace ?? route.metadata.namespace
  const parent = `${ref.kind} ${namespace}/${ref.name}`
  const listeners = context.listenersOf(objectKey(ref.kind, namespace, ref.name))
  if (listeners === undefined) {
    if (context.inventory.find(ref.kind, namespace, ref.name) !== undefined) return undefined
    return refuse('parent-not-found', 'NoMatchingParent', notFound(context.inventory, ref.kind, namespace, ref.name))
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
    const message = `no listener of ${parent} allows ${route.kind}s from namespace ${route.metadata.namespace}`
    return refuse('parent-not-allowed', 'NotAllowedByListeners', message)
  }
  const wanted = hostnamesOf(route)
  const matches = allowing.flatMap((listener) => {
    const hostnames = agreedHostnames(listener.hostname, wanted)
    return hostnames === undefined ? [] : [{ listener, hostnames }]
  })
  if (matches.length > 0) return { matches }
  const message = `no listener of ${parent} serves ${wanted.join(', ')}`
  return refuse('parent-hostname', 'NoMatchingListenerHostname', message)
}

/** A TCPRoute has no hostnames. */
function hostnamesOf(route: RouteObject): readonly string[] {
  return route.kind === 'TCPRoute' ? [] : (route.spec.hostnames ?? [])
}

function refuse(code: FindingCode, reason: string, message: string): ParentMatch {
  return { matches: [], refusal: { code, reason, message } }
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
