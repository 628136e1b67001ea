import type { GatewayObject, ListenerSpec } from '#api/gateway.ts'
import { GATEWAY_GROUP } from '#api/groups.ts'
import type { ListenerSetObject } from '#api/listener-set.ts'
import { mergeMesh } from '#api/mesh-settings.ts'
import { objectKey } from '#api/object.ts'
import { suggest } from '#base/suggest.ts'
import { listenerSetTarget, listenerTarget } from '#plan/target.ts'
import { type AllowedNamespaces, allowsNamespace, reportAllowedNamespaces } from '../context/allowed-namespaces.ts'
import type { ConditionFault } from '../context/condition.ts'
import type { ControllerNames } from '../context/controller.ts'
import { normaliseHostname } from '../context/hostname.ts'
import type { Inventory } from '../context/inventory.ts'
import type { Report } from '../context/reporting.ts'
import type { TranslationContext } from '../context/translation-context.ts'
import { notFound, refusedText } from '../references/not-found.ts'
import { wrongReference } from '../references/wrong-reference.ts'
import { ACME_PATH, type AcmeSetting, acmeFault, acmeSetting } from './acme.ts'
import { type BackendCertificate, resolveBackendCertificate } from './backend-certificate.ts'
import { type AddressFaults, checkAddresses, type GatewayAddresses } from './check-addresses.ts'
import { checkListener, resolveRouteKinds } from './check-listener.ts'
import { forwardedHeadersFault } from './forwarded-headers.ts'
import { type Listener, type ListenerFaults, tlsModeOf } from './listener.ts'
import { type Certificates, resolveCertificates } from './resolve-certificates.ts'
import { type ClientTrust, readClientTrust, resolveClientValidation } from './resolve-client-validation.ts'
import { type GatewayParameters, resolveParameters } from './resolve-parameters.ts'
import { isServiceOf, type StatusAddress, serviceAddresses } from './service-addresses.ts'

/** A Gateway of this controller with its own listeners. */
export interface ResolvedGateway {
  readonly object: GatewayObject
  /** Undefined: none is left, and no listener is served. */
  readonly address: string | undefined
  /** Where clients reach it. */
  readonly addresses: readonly StatusAddress[]
  readonly listeners: readonly Listener[]
  readonly addressFaults: AddressFaults
  /** Unusable parameters do not stop the Gateway from serving traffic. */
  readonly parameters: GatewayParameters
  /** Undefined: it has none. */
  readonly backendCertificate: BackendCertificate | undefined
}

/** A ListenerSet whose parent is a Gateway of this controller. */
export interface ResolvedListenerSet {
  readonly object: ListenerSetObject
  readonly gateway: GatewayObject
  readonly listeners: readonly Listener[]
  /** Why the Gateway does not accept it. */
  readonly fault?: ConditionFault
}

/**
 * Resolves a Gateway and its listeners. Conflicts between listeners are found later.
 * @returns undefined for a Gateway of another controller
 */
export function resolveGateway(
  context: TranslationContext,
  object: GatewayObject,
  addresses: GatewayAddresses,
): ResolvedGateway | undefined {
  const { inventory, names, reportOn } = context
  const report = reportOn(object)
  if (!isOwnClass(inventory, names, object.spec.gatewayClassName)) {
    reportUnknownClass(context, object, report)
    return undefined
  }
  reportUnsupported(object, addresses.serviceOf !== undefined, report)
  for (const invalid of [acmeFault(object), forwardedHeadersFault(object)]) {
    if (invalid === undefined) continue
    const { reason: _, ...finding } = invalid
    report(finding)
  }
  reportAllowedNamespaces(allowedListenerSets(object), 'spec.allowedListeners.namespaces', report)
  const parameters = resolveParameters(inventory, object, report)
  const address = addresses.assign(object)
  const has = clientAddresses(inventory, object, { address, addresses })
  const addressFaults =
    address === undefined ? noAddress(addresses.none, report) : checkAddresses(object.spec, has, report)
  const trust = readClientTrust(context, object, report)
  const acme = addresses.serviceOf === undefined ? acmeSetting(object) : undefined
  const isInMesh = hasMesh(parameters)
  const listeners = resolveListeners(context, { gateway: object, owner: object, address, trust, acme, isInMesh })
  const backendCertificate = resolveBackendCertificate(context, object, report)
  return { object, address, addresses: has.addresses, addressFaults, parameters, backendCertificate, listeners }
}

/** The addresses of a Gateway for clients, and why it has no others. */
function clientAddresses(
  inventory: Inventory,
  gateway: GatewayObject,
  { address, addresses }: { readonly address: string | undefined; readonly addresses: GatewayAddresses },
): Parameters<typeof checkAddresses>[1] {
  const at = addresses.serviceOf?.(gateway)
  if (at === undefined) {
    const why = `the listeners bind to ${address} (--bind, --address-pool)`
    return { addresses: address === undefined ? [] : [{ type: 'IPAddress', value: address }], why }
  }
  const service = inventory.find('Service', at.namespace, at.name)
  const found = service !== undefined && isServiceOf(service, gateway) ? serviceAddresses(service) : []
  const list = found.length === 0 ? 'no address yet' : found.map(({ value }) => value).join(', ')
  return { addresses: found, why: `Service ${at.namespace}/${at.name} has ${list}` }
}

function noAddress(message: string, report: Report): AddressFaults {
  report({ path: 'spec', code: 'address-not-usable', message, severity: 'error' })
  return { programmed: { reason: 'NoResources', message } }
}

/** @param parent its Gateway, which belongs to this controller */
export function resolveListenerSet(
  context: TranslationContext,
  object: ListenerSetObject,
  { object: gateway, address, parameters }: ResolvedGateway,
): ResolvedListenerSet {
  const fault = listenerSetFault(context.inventory, gateway, object, context.reportOn(object))
  if (fault !== undefined) return { object, gateway, listeners: [], fault }
  // Problems with the client validation of the Gateway are reported once, on the Gateway.
  const trust = readClientTrust(context, gateway, () => {})
  return {
    object,
    gateway,
    listeners: resolveListeners(context, {
      ...{ gateway, owner: object, address, trust },
      ...{ acme: undefined, isInMesh: hasMesh(parameters) },
    }),
  }
}

function hasMesh({ objects }: GatewayParameters): boolean {
  return mergeMesh(objects.map(({ spec }) => spec)) !== undefined
}

/** Reports a ListenerSet whose Gateway does not exist, or has no class. Those of another controller's Gateway are ignored. */
export function reportOrphan(context: TranslationContext, set: ListenerSetObject): void {
  const { inventory, reportOn } = context
  const { group, kind, name, namespace = set.metadata.namespace } = set.spec.parentRef
  const report = reportOn(set)
  const gateway = isGateway(set.spec.parentRef) ? inventory.find('Gateway', namespace, name) : undefined
  if (gateway !== undefined) return reportClasslessParent(context, gateway, { path: 'spec.parentRef', report })
  const { code, message } = isGateway(set.spec.parentRef)
    ? notFound(inventory, 'parent-not-found', { kind: 'Gateway', namespace, name })
    : {
        code: 'parent-not-found' as const,
        message: wrongReference({ group, kind }, { Gateway: GATEWAY_GROUP }).message,
      }
  const effect = 'the listeners of this ListenerSet are not served'
  report({ path: 'spec.parentRef', code, message: `${message}; ${effect}`, severity: 'error' })
}

/** Key of the parent Gateway of a ListenerSet; undefined if the parent is an object of another kind. */
export function parentOf({ metadata, spec }: ListenerSetObject): string | undefined {
  const { name, namespace = metadata.namespace } = spec.parentRef
  return isGateway(spec.parentRef) ? objectKey('Gateway', namespace, name) : undefined
}

function isGateway({ group, kind }: ListenerSetObject['spec']['parentRef']): boolean {
  return group === GATEWAY_GROUP && kind === 'Gateway'
}

type ClassContext = Pick<TranslationContext, 'inventory' | 'names'>

/** Reports a Gateway whose class does not exist. No controller owns it, so its status is not written. */
function reportUnknownClass({ inventory, names }: ClassContext, gateway: GatewayObject, report: Report): void {
  if (hasClass({ inventory, names }, gateway)) return
  const { gatewayClassName } = gateway.spec
  const path = 'spec.gatewayClassName'
  const effect = 'no controller serves this Gateway'
  if (inventory.isRefused('GatewayClass', '', gatewayClassName)) {
    const message = `${refusedText(`GatewayClass ${gatewayClassName}`)}; ${effect}`
    return report({ path, code: 'object-refused', message, severity: 'error' })
  }
  const known = [names.gatewayClass, ...inventory.all('GatewayClass').map(({ metadata }) => metadata.name)]
  const nearest = suggest(gatewayClassName, known)
  const hint =
    nearest === undefined ? `; the class of this gateway is "${names.gatewayClass}"` : `, did you mean "${nearest}"?`
  const message = `GatewayClass ${gatewayClassName} not found; ${effect}${hint}`
  report({ path, code: 'gateway-class-not-found', message, severity: 'error' })
}

/** Reports that an object is attached to a Gateway without a controller, because its class does not exist. */
export function reportClasslessParent(
  { inventory, names }: ClassContext,
  gateway: GatewayObject,
  { path, report }: { readonly path: string; readonly report: Report },
): void {
  if (hasClass({ inventory, names }, gateway)) return
  const { metadata, spec } = gateway
  const title = `GatewayClass ${spec.gatewayClassName}`
  const isRefused = inventory.isRefused('GatewayClass', '', spec.gatewayClassName)
  const why = isRefused ? refusedText(title) : `${title} not found`
  const message = `Gateway ${metadata.namespace}/${metadata.name} is not served: ${why}`
  report({ path, code: isRefused ? 'object-refused' : 'gateway-class-not-found', message, severity: 'warning' })
}

function hasClass({ inventory, names }: ClassContext, { spec: { gatewayClassName } }: GatewayObject): boolean {
  return gatewayClassName === names.gatewayClass || inventory.find('GatewayClass', '', gatewayClassName) !== undefined
}

/** Whether this controller owns the class: by its `controllerName`, or, without a GatewayClass object, by the default name. */
export function isOwnClass(inventory: Inventory, names: ControllerNames, className: string): boolean {
  const found = inventory.find('GatewayClass', '', className)
  return found === undefined ? className === names.gatewayClass : found.spec.controllerName === names.controller
}

const NO_ADDRESS: ConditionFault = { reason: 'NoResources', message: 'no address is left for the Gateway' }

interface Owner {
  readonly gateway: GatewayObject
  readonly owner: GatewayObject | ListenerSetObject
  readonly address: string | undefined
  /** Client validation of the Gateway, by port. */
  readonly trust: (port: number) => ClientTrust
  /** Where missing certificates of its listeners come from. */
  readonly acme: AcmeSetting | undefined
  /** The proxy of the Gateway is in a mesh. */
  readonly isInMesh: boolean
}

function resolveListeners(context: TranslationContext, owner: Owner): readonly Listener[] {
  const report = context.reportOn(owner.owner)
  return owner.owner.spec.listeners.map((spec, index) =>
    resolveListener(context, owner, spec, `spec.listeners[${index}]`, report),
  )
}

function resolveListener(
  context: TranslationContext,
  { gateway, owner, address, trust, acme, isInMesh }: Owner,
  spec: ListenerSpec,
  path: string,
  report: Report,
): Listener {
  const { namespace, name } = gateway.metadata
  const { kinds, fault: kindsFault } = resolveRouteKinds(spec, path, report)
  reportAllowedNamespaces(spec.allowedRoutes.namespaces, `${path}.allowedRoutes.namespaces`, report)
  for (const option of Object.keys(spec.tls?.options ?? {})) {
    const message = `has no effect: this gateway has no TLS options; use frontend.tls of a ProxyPolicy`
    report({ path: `${path}.tls.options[${option}]`, code: 'no-effect', message, severity: 'warning' })
  }
  const certificates = resolveCertificates(context, { owner, gateway, acme }, { spec, path }, report)
  const clients = clientTrustAt(context, { owner, trust }, { spec, path }, report)
  const resolvedRefs = certificates.fault ?? clients.resolvedRefs ?? kindsFault
  const faults: ListenerFaults = {
    ...(clients.accepted === undefined ? {} : { accepted: clients.accepted }),
    ...checkListener(spec, path, isInMesh, report),
    ...(resolvedRefs === undefined ? {} : { resolvedRefs }),
    ...programmedFault(certificates),
    ...(address === undefined ? { accepted: NO_ADDRESS } : {}),
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
    address: address ?? '',
    hostname: normaliseHostname(spec.hostname),
    certificates: certificates.secrets,
    clientValidation: clients.validation,
    supportedKinds: kinds,
    faults,
    notes: certificates.notes,
  }
}

/** Without a certificate that can be used, the listener is served, but every handshake fails. */
function programmedFault({ secrets, fault }: Certificates): Pick<ListenerFaults, 'programmed'> {
  if (fault === undefined || secrets.length > 0) return {}
  return { programmed: { reason: 'Invalid', message: `every TLS handshake fails: ${fault.message}` } }
}

/** Client validation of the listener takes precedence over that of its Gateway. */
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

/** By default a Gateway accepts no ListenerSets. */
function allowedListenerSets({ spec }: GatewayObject): AllowedNamespaces {
  return spec.allowedListeners?.namespaces ?? { from: 'None' }
}

/** Why the Gateway does not accept the ListenerSet; undefined if it does. */
function listenerSetFault(
  inventory: Inventory,
  gateway: GatewayObject,
  set: ListenerSetObject,
  report: Report,
): ConditionFault | undefined {
  const { namespace } = set.metadata
  const ends = { own: gateway.metadata.namespace, namespace }
  if (allowsNamespace(inventory, allowedListenerSets(gateway), ends)) return undefined
  const message = `Gateway ${gateway.metadata.namespace}/${gateway.metadata.name} allows no ListenerSets from namespace ${namespace} (spec.allowedListeners)`
  report({ path: 'spec.parentRef', code: 'listener-set-not-allowed', message, severity: 'error' })
  return { reason: 'NotAllowed', message }
}

/** Reports fields of a Gateway that are not implemented, or only on Kubernetes. */
function reportUnsupported(gateway: GatewayObject, isDeployed: boolean, report: Report): void {
  const { spec } = gateway
  if (spec.tls?.backend?.resolvedRefs !== undefined) {
    const message = 'resolvedRefs is not implemented yet; it has no effect'
    report({ path: 'spec.tls.backend.resolvedRefs', code: 'not-implemented', message, severity: 'error' })
  }
  for (const field of ['defaultScope', 'backendTLS'] as const) {
    if (spec[field] === undefined) continue
    const message = `${field} is not implemented yet; it has no effect`
    report({ path: `spec.${field}`, code: 'not-implemented', message, severity: 'error' })
  }
  if (isDeployed && acmeSetting(gateway) !== undefined) {
    const message = 'has no effect on Kubernetes: cert-manager writes the Secrets of certificates there'
    report({ path: ACME_PATH, code: 'acme-not-possible', message, severity: 'warning' })
  }
  for (const field of ['labels', 'annotations'] as const) {
    if (isDeployed || spec.infrastructure?.[field] === undefined) continue
    const message = `${field} of generated objects take effect only on Kubernetes`
    report({
      path: `spec.infrastructure.${field}`,
      code: 'parameters-only-on-kubernetes',
      message,
      severity: 'warning',
    })
  }
}
