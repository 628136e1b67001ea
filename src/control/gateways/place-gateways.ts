import type { GatewayObject, ListenerSpec } from '#api/gateway.ts'
import type { GatewayClassObject } from '#api/gateway-class.ts'
import type { ListenerSetObject } from '#api/listener-set.ts'
import { keyOf, objectKey } from '#api/object.ts'
import { listenerSetTarget, listenerTarget } from '#plan/target.ts'
import { type AllowedNamespaces, allowsNamespace, reportAllowedNamespaces } from '../allowed-namespaces.ts'
import { append } from '../append.ts'
import { CONTROLLER_NAME, GATEWAY_CLASS } from '../controller.ts'
import type { Report } from '../finding-code.ts'
import { normaliseHostname } from '../hostname.ts'
import type { Inventory } from '../inventory.ts'
import type { Scope } from '../scope.ts'
import type { Complaint } from '../status/condition.ts'
import { judgeListener, resolveRouteKinds } from './judge-listener.ts'
import { type Listener, type ListenerFaults, tlsModeOf } from './listener.ts'
import { resolveCertificates } from './resolve-certificates.ts'
import { type ClientTrust, readClientTrust, resolveClientValidation } from './resolve-client-validation.ts'
import { type GatewayParameters, resolveParameters } from './resolve-parameters.ts'
import { createSockets, type Sockets } from './sockets.ts'

/** A Gateway of ours with its own listeners. */
export interface PlacedGateway {
  readonly object: GatewayObject
  readonly address: string
  readonly listeners: readonly Listener[]
  /** Where some cannot be used, traffic is served all the same. */
  readonly parameters: GatewayParameters
}

/** A ListenerSet with a Gateway of ours as parent. */
export interface PlacedListenerSet {
  readonly object: ListenerSetObject
  readonly gateway: GatewayObject
  readonly listeners: readonly Listener[]
  /** The Gateway does not take it. */
  readonly fault?: Complaint
}

export interface PlacedGateways {
  /** Classes with our controller. */
  readonly classes: readonly GatewayClassObject[]
  readonly gateways: readonly PlacedGateway[]
  readonly listenerSets: readonly PlacedListenerSet[]
  /**
   * By key of the Gateway or ListenerSet that declares them, in order of precedence: older Gateways first, the Gateway before its
   * ListenerSets. The keys are all parents that are ours.
   */
  readonly listeners: ReadonlyMap<string, readonly Listener[]>
}

interface GatewayScope extends Scope {
  readonly addressOf: (gateway: GatewayObject) => string
}

/** Finds our Gateways, and which of their listeners and of their ListenerSets' listeners can be served where. */
export function placeGateways(scope: GatewayScope): PlacedGateways {
  const { inventory, reportOn } = scope
  const classes = inventory.all('GatewayClass').filter(({ spec }) => spec.controllerName === CONTROLLER_NAME)
  const classNames = ownClassNames(inventory, classes)
  const sockets = createSockets()
  const setsByGateway = groupListenerSets(inventory)

  const gateways: PlacedGateway[] = []
  const listenerSets: PlacedListenerSet[] = []
  const listeners = new Map<string, readonly Listener[]>()
  for (const object of inventory.all('Gateway')) {
    if (!classNames.has(object.spec.gatewayClassName)) continue
    const report = reportOn(object)
    reportUnsupported(object, report)
    reportAllowedNamespaces(allowedListenerSets(object), 'spec.allowedListeners.namespaces', report)
    const parameters = resolveParameters(inventory, object, report)
    const address = scope.addressOf(object)
    const trust = readClientTrust(scope, object, report)
    const own = placeListeners(scope, sockets, { gateway: object, owner: object, address, trust })
    gateways.push({ object, address, listeners: own, parameters })
    listeners.set(keyOf(object), own)
    for (const set of setsByGateway.get(keyOf(object)) ?? []) {
      const placed = placeListenerSet(scope, sockets, { gateway: object, owner: set, address, trust })
      listenerSets.push(placed)
      listeners.set(keyOf(set), placed.listeners)
    }
  }
  for (const set of inventory.all('ListenerSet'))
    if (!listeners.has(keyOf(set))) reportOrphan(inventory, set, reportOn(set))
  return { classes, gateways, listenerSets, listeners }
}

/** A ListenerSet that belongs to no Gateway at all; one of another controller's Gateway is not ours to judge. */
function reportOrphan(inventory: Inventory, set: ListenerSetObject, report: Report): void {
  const { kind, name, namespace = set.metadata.namespace } = set.spec.parentRef
  if (kind === 'Gateway' && inventory.find('Gateway', namespace, name) !== undefined) return
  const message = `${kind} ${namespace}/${name} not found; the listeners of this ListenerSet are not served`
  report({ path: 'spec.parentRef', code: 'parent-not-found', message, severity: 'error' })
}

/** Ours are the class that needs no object, unless somebody else has made one of that name, and all classes with our controller. */
function ownClassNames(inventory: Inventory, classes: readonly GatewayClassObject[]): ReadonlySet<string> {
  const names = classes.map(({ metadata }) => metadata.name)
  const taken = inventory.find('GatewayClass', '', GATEWAY_CLASS) !== undefined
  return new Set(taken ? names : [GATEWAY_CLASS, ...names])
}

/** By key of the parent Gateway, in order of precedence. */
function groupListenerSets(inventory: Inventory): ReadonlyMap<string, readonly ListenerSetObject[]> {
  const groups = new Map<string, ListenerSetObject[]>()
  for (const set of inventory.all('ListenerSet')) {
    const { kind, name, namespace = set.metadata.namespace } = set.spec.parentRef
    if (kind === 'Gateway') append(groups, objectKey('Gateway', namespace, name), set)
  }
  return groups
}

interface Owner {
  readonly gateway: GatewayObject
  readonly owner: GatewayObject | ListenerSetObject
  readonly address: string
  /** What the Gateway says about client certificates, by port. */
  readonly trust: (port: number) => ClientTrust
}

function placeListeners(scope: Scope, sockets: Sockets, owner: Owner): readonly Listener[] {
  const report = scope.reportOn(owner.owner)
  return owner.owner.spec.listeners.map((spec, index) => {
    const listener = placeListener(scope, owner, spec, `spec.listeners[${index}]`, report)
    if (listener.faults.accepted !== undefined) return listener
    const conflicted = sockets.claim(listener, report)
    return conflicted === undefined ? listener : { ...listener, faults: { ...listener.faults, conflicted } }
  })
}

function placeListener(
  scope: Scope,
  { gateway, owner, address, trust }: Owner,
  spec: ListenerSpec,
  path: string,
  report: Report,
): Listener {
  const { namespace, name } = gateway.metadata
  const { kinds, complaint: kindsComplaint } = resolveRouteKinds(spec, path, report)
  reportAllowedNamespaces(spec.allowedRoutes.namespaces, `${path}.allowedRoutes.namespaces`, report)
  const certificates = resolveCertificates(scope, owner, { spec, path }, report)
  const clients = clientTrustAt(scope, { owner, trust }, { spec, path }, report)
  const resolvedRefs = certificates.complaint ?? clients.resolvedRefs ?? kindsComplaint
  const bad = certificates.complaint !== undefined && certificates.secrets.length === 0
  const faults: ListenerFaults = {
    ...(clients.accepted === undefined ? {} : { accepted: clients.accepted }),
    ...judgeListener(spec, path, report),
    ...(resolvedRefs === undefined ? {} : { resolvedRefs }),
    ...(bad ? { programmed: { reason: 'Invalid', message: 'bad TLS configuration: every handshake fails' } } : {}),
  }
  const inSet = owner.kind === 'ListenerSet'
  return {
    key: inSet
      ? `Listener/${namespace}/${name}/${owner.metadata.namespace}/${owner.metadata.name}/${spec.name}`
      : `Listener/${namespace}/${name}/${spec.name}`,
    target: inSet ? listenerSetTarget(owner.metadata, spec.name) : listenerTarget(gateway.metadata, spec.name),
    gateway,
    owner,
    spec,
    path,
    address,
    hostname: normaliseHostname(spec.hostname),
    certificates: certificates.secrets,
    clientValidation: clients.validation,
    supportedKinds: kinds,
    faults,
  }
}

/** What the listener itself says counts before what its Gateway says. */
function clientTrustAt(
  scope: Scope,
  { owner, trust }: Pick<Owner, 'owner' | 'trust'>,
  { spec, path }: { readonly spec: ListenerSpec; readonly path: string },
  report: Report,
): ClientTrust {
  if (tlsModeOf(spec) !== 'Terminate') return {}
  const validation = spec.tls?.frontendValidation
  if (validation === undefined) return trust(spec.port)
  return resolveClientValidation(scope, owner, { validation, path: `${path}.tls.frontendValidation` }, report)
}

function placeListenerSet(
  scope: Scope,
  sockets: Sockets,
  owner: Owner & { readonly owner: ListenerSetObject },
): PlacedListenerSet {
  const { gateway, owner: object } = owner
  const fault = listenerSetFault(scope.inventory, gateway, object, scope.reportOn(object))
  if (fault !== undefined) return { object, gateway, listeners: [], fault }
  return { object, gateway, listeners: placeListeners(scope, sockets, owner) }
}

/** Without a word about it, a Gateway takes no ListenerSets. */
function allowedListenerSets({ spec }: GatewayObject): AllowedNamespaces {
  return spec.allowedListeners?.namespaces ?? { from: 'None' }
}

/** Whether the Gateway takes the ListenerSet. */
function listenerSetFault(
  inventory: Inventory,
  gateway: GatewayObject,
  set: ListenerSetObject,
  report: Report,
): Complaint | undefined {
  const { namespace } = set.metadata
  const ends = { own: gateway.metadata.namespace, namespace }
  if (allowsNamespace(inventory, allowedListenerSets(gateway), ends)) return undefined
  const message = `Gateway ${gateway.metadata.namespace}/${gateway.metadata.name} allows no ListenerSets from namespace ${namespace} (spec.allowedListeners)`
  report({ path: 'spec.parentRef', code: 'listener-set-not-allowed', message, severity: 'error' })
  return { reason: 'NotAllowed', message }
}

/** What a Gateway asks for and does not get. */
function reportUnsupported({ spec }: GatewayObject, report: Report): void {
  if (spec.tls?.backend === undefined) return
  const message = 'client certificates towards backends are not implemented yet; use backend.tls of a ProxyPolicy'
  report({ path: 'spec.tls.backend', code: 'not-implemented', message, severity: 'error' })
}
