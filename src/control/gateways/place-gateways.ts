import type { GatewayObject, ListenerSpec } from '#api/gateway.ts'
import type { ListenerSetObject } from '#api/listener-set.ts'
import { objectKey } from '#api/object.ts'
import { listenerSetTarget, listenerTarget } from '#plan/target.ts'
import { type AllowedNamespaces, allowsNamespace, reportAllowedNamespaces } from '../allowed-namespaces.ts'
import { CONTROLLER_NAME, GATEWAY_CLASS } from '../controller.ts'
import { normaliseHostname } from '../hostname.ts'
import type { Inventory } from '../inventory.ts'
import type { Report } from '../reporting.ts'
import type { Complaint } from '../status/condition.ts'
import type { TranslationContext } from '../translation-context.ts'
import { judgeListener, resolveRouteKinds } from './judge-listener.ts'
import { type Listener, type ListenerFaults, tlsModeOf } from './listener.ts'
import { resolveCertificates } from './resolve-certificates.ts'
import { type ClientTrust, readClientTrust, resolveClientValidation } from './resolve-client-validation.ts'
import { type GatewayParameters, resolveParameters } from './resolve-parameters.ts'

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

export type AddressOf = (gateway: GatewayObject) => string

/**
 * Finds the listeners of a Gateway; conflicts between listeners are judged later.
 * @returns undefined for the Gateway of another controller
 */
export function placeGateway(
  context: TranslationContext,
  object: GatewayObject,
  addressOf: AddressOf,
): PlacedGateway | undefined {
  const { inventory, reportOn } = context
  if (!isOwnClass(inventory, object.spec.gatewayClassName)) return undefined
  const report = reportOn(object)
  reportUnsupported(object, report)
  reportAllowedNamespaces(allowedListenerSets(object), 'spec.allowedListeners.namespaces', report)
  const parameters = resolveParameters(inventory, object, report)
  const address = addressOf(object)
  const trust = readClientTrust(context, object, report)
  const listeners = placeListeners(context, { gateway: object, owner: object, address, trust })
  return { object, address, parameters, listeners }
}

/** @param parent its Gateway, one of ours */
export function placeListenerSet(
  context: TranslationContext,
  object: ListenerSetObject,
  { object: gateway, address }: PlacedGateway,
): PlacedListenerSet {
  const fault = listenerSetFault(context.inventory, gateway, object, context.reportOn(object))
  if (fault !== undefined) return { object, gateway, listeners: [], fault }
  // What is wrong with the trust of the Gateway is reported once, on the Gateway.
  const trust = readClientTrust(context, gateway, () => {})
  return { object, gateway, listeners: placeListeners(context, { gateway, owner: object, address, trust }) }
}

/** A ListenerSet that belongs to no Gateway at all; one of another controller's Gateway is not ours to judge. */
export function reportOrphan({ inventory, reportOn }: TranslationContext, set: ListenerSetObject): void {
  const { kind, name, namespace = set.metadata.namespace } = set.spec.parentRef
  if (kind === 'Gateway' && inventory.find('Gateway', namespace, name) !== undefined) return
  const message = `${kind} ${namespace}/${name} not found; the listeners of this ListenerSet are not served`
  reportOn(set)({ path: 'spec.parentRef', code: 'parent-not-found', message, severity: 'error' })
}

/** Key of the Gateway that a ListenerSet belongs to; undefined when its parent is of another kind. */
export function parentOf({ metadata, spec }: ListenerSetObject): string | undefined {
  const { kind, name, namespace = metadata.namespace } = spec.parentRef
  return kind === 'Gateway' ? objectKey('Gateway', namespace, name) : undefined
}

/** Ours are the class that needs no object, unless another controller has made one of that name, and all classes with our controller. */
function isOwnClass(inventory: Inventory, name: string): boolean {
  const found = inventory.find('GatewayClass', '', name)
  return found === undefined ? name === GATEWAY_CLASS : found.spec.controllerName === CONTROLLER_NAME
}

interface Owner {
  readonly gateway: GatewayObject
  readonly owner: GatewayObject | ListenerSetObject
  readonly address: string
  /** What the Gateway says about client certificates, by port. */
  readonly trust: (port: number) => ClientTrust
}

function placeListeners(context: TranslationContext, owner: Owner): readonly Listener[] {
  const report = context.reportOn(owner.owner)
  return owner.owner.spec.listeners.map((spec, index) =>
    placeListener(context, owner, spec, `spec.listeners[${index}]`, report),
  )
}

function placeListener(
  context: TranslationContext,
  { gateway, owner, address, trust }: Owner,
  spec: ListenerSpec,
  path: string,
  report: Report,
): Listener {
  const { namespace, name } = gateway.metadata
  const { kinds, complaint: kindsComplaint } = resolveRouteKinds(spec, path, report)
  reportAllowedNamespaces(spec.allowedRoutes.namespaces, `${path}.allowedRoutes.namespaces`, report)
  const certificates = resolveCertificates(context, owner, { spec, path }, report)
  const clients = clientTrustAt(context, { owner, trust }, { spec, path }, report)
  const resolvedRefs = certificates.complaint ?? clients.resolvedRefs ?? kindsComplaint
  const bad = certificates.complaint !== undefined && certificates.secrets.length === 0
  const faults: ListenerFaults = {
    ...(clients.accepted === undefined ? {} : { accepted: clients.accepted }),
    ...judgeListener(spec, path, report),
    ...(resolvedRefs === undefined ? {} : { resolvedRefs }),
    ...(bad ? { programmed: { reason: 'Invalid', message: 'invalid TLS configuration: every handshake fails' } } : {}),
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
  context: TranslationContext,
  { owner, trust }: Pick<Owner, 'owner' | 'trust'>,
  { spec, path }: { readonly spec: ListenerSpec; readonly path: string },
  report: Report,
): ClientTrust {
  if (tlsModeOf(spec) !== 'Terminate') return {}
  const validation = spec.tls?.frontendValidation
  if (validation === undefined) return trust(spec.port)
  return resolveClientValidation(context, owner, { validation, path: `${path}.tls.frontendValidation` }, report)
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
  const message = 'client certificates for backends are not implemented yet; use backend.tls of a ProxyPolicy instead'
  report({ path: 'spec.tls.backend', code: 'not-implemented', message, severity: 'error' })
}
