import type { GatewayObject } from '#api/gateway.ts'
import { GATEWAY_GROUP } from '#api/groups.ts'
import type { Finding } from '#base/finding.ts'
import type { FindingCode } from '#base/findings.ts'
import { describeOrigin } from '#base/origin.ts'
import type { Binding } from '#plan/binding.ts'
import { type ConditionDraft, type ConditionFault, conditionsOf } from '../context/condition.ts'
import { acmeFault } from '../gateways/acme.ts'
import { forwardedHeadersFault } from '../gateways/forwarded-headers.ts'
import { type Listener, whyNotServed, whyUnusable } from '../gateways/listener.ts'
import type { ResolvedGateway, ResolvedListenerSet } from '../gateways/resolve-gateways.ts'

/** The state of the listeners of a Gateway or ListenerSet. */
export interface Traffic {
  readonly listeners: readonly Listener[]
  /** The number of accepted routes that are attached to a listener, by its key. */
  readonly attachedRoutes: (listener: string) => number
  /** State of the socket of a listener in the data plane; undefined: not known yet. */
  readonly bindingOf: (listener: Listener) => Binding | undefined
  /** What proxies cannot use of the object itself. */
  readonly refusals: readonly Finding[]
}

const LISTENERS_NOT_VALID = 'ListenersNotValid'

/** `status` of a Gateway (Gateway API, GatewayStatus). @param sets the number of its accepted ListenerSets */
export function gatewayStatus(
  { object, addresses, addressFaults, parameters, backendCertificate }: ResolvedGateway,
  traffic: Traffic,
  { sets: attachedListenerSets, errors }: { readonly sets: number; readonly errors: readonly Finding[] },
) {
  const { listeners } = traffic
  const refused = deploymentFault(errors, 'parameters-invalid', 'InvalidParameters')
  const fault = parameters.fault ?? addressFaults.accepted ?? refused
  const unassigned = addressFaults.programmed ?? deploymentFault(errors, 'deployment-blocked', 'Invalid')
  const condition = conditionsOf(object)
  return {
    addresses,
    conditions: [
      fault === undefined
        ? acceptedCondition(object, listeners)
        : condition('Accepted', 'False', fault.reason, fault.message),
      unassigned === undefined
        ? programmedCondition(object, traffic, 'Invalid')
        : condition('Programmed', 'False', unassigned.reason, unassigned.message),
      ...resolvedRefsCondition(object, backendCertificate),
      ...insecureValidationCondition(object),
      ...annotationCondition(object),
      ...imageCondition(object, errors),
    ],
    listeners: listeners.map((listener) => listenerStatus(listener, traffic)),
    attachedListenerSets,
  }
}

/** Why the proxy of the Gateway is not deployed as it should be. Its objects are left as they were. */
function deploymentFault(errors: readonly Finding[], code: FindingCode, reason: string): ConditionFault | undefined {
  const found = errors.filter((error) => error.code === code)
  if (found.length === 0) return undefined
  const message = found
    .map(({ origin, path, message }) => {
      const { kind, namespace, name } = origin
      return kind === 'Gateway' ? message : `${describeOrigin({ kind, namespace, name })}: ${path}: ${message}`
    })
    .join('; ')
  return { reason, message }
}

/** Present while other Gateways wait for this one (decision 0322). */
function imageCondition(gateway: GatewayObject, errors: readonly Finding[]): ConditionDraft[] {
  const fault = deploymentFault(errors, 'image-not-ready', 'ImageNotReady')
  return fault === undefined ? [] : [conditionsOf(gateway)('ImageReady', 'False', fault.reason, fault.message)]
}

/** Present if the Gateway has a client certificate for backends (Gateway API, GatewayBackendTLS). */
function resolvedRefsCondition(
  gateway: GatewayObject,
  certificate: ResolvedGateway['backendCertificate'],
): ConditionDraft[] {
  if (certificate === undefined) return []
  const condition = conditionsOf(gateway)
  const { fault } = certificate
  if (fault === undefined) return [condition('ResolvedRefs', 'True', 'ResolvedRefs', 'All references resolved')]
  return [condition('ResolvedRefs', 'False', fault.reason, fault.message)]
}

/** Present while clients without a valid certificate are accepted (Gateway API, FrontendTLSConfig). */
function insecureValidationCondition(gateway: GatewayObject): ConditionDraft[] {
  const { default: defaults, perPort = [] } = gateway.spec.tls?.frontend ?? {}
  const modes = [defaults, ...perPort.map(({ tls }) => tls)].map((tls) => tls?.validation?.mode)
  if (!modes.includes('AllowInsecureFallback')) return []
  const message = 'AllowInsecureFallback: clients without a valid certificate are accepted'
  return [conditionsOf(gateway)('InsecureFrontendValidationMode', 'True', 'ConfigurationChanged', message)]
}

/** Present while an annotation of this gateway cannot be used. */
function annotationCondition(gateway: GatewayObject): ConditionDraft[] {
  const [fault, ...others] = [acmeFault(gateway), forwardedHeadersFault(gateway)].filter((found) => found !== undefined)
  if (fault === undefined) return []
  const message = [fault, ...others].map((found) => `${found.path}: ${found.message}`).join('; ')
  return [conditionsOf(gateway)('PartiallyInvalid', 'True', fault.reason, message)]
}

/** `status` of a ListenerSet. */
export function listenerSetStatus({ object, fault }: ResolvedListenerSet, traffic: Traffic) {
  const { listeners } = traffic
  const condition = conditionsOf(object)
  if (fault !== undefined) {
    return {
      conditions: [
        condition('Accepted', 'False', fault.reason, fault.message),
        condition('Programmed', 'False', fault.reason, fault.message),
      ],
    }
  }
  return {
    conditions: [acceptedCondition(object, listeners), programmedCondition(object, traffic, LISTENERS_NOT_VALID)],
    listeners: listeners.map((listener) => listenerStatus(listener, traffic)),
  }
}

type Owner = Parameters<typeof conditionsOf>[0]

/** True while clients can use at least one listener; the message names the others (Gateway API, ListenersNotValid). */
function acceptedCondition(owner: Owner, listeners: readonly Listener[]): ConditionDraft {
  const condition = conditionsOf(owner)
  const unusable = listeners.flatMap((listener) => {
    const fault = whyUnusable(listener)
    return fault === undefined ? [] : [`${listener.spec.name}: ${fault.message}`]
  })
  if (unusable.length === 0) return condition('Accepted', 'True', 'Accepted', 'All listeners are accepted')
  const list = unusable.join('; ')
  return unusable.length < listeners.length
    ? condition('Accepted', 'True', LISTENERS_NOT_VALID, `Some listeners cannot be used: ${list}`)
    : condition('Accepted', 'False', LISTENERS_NOT_VALID, `No listener can be used: ${list}`)
}

/**
 * True when the data plane serves every listener that clients can use (decision A-34).
 * @param none the reason if there is no such listener
 */
function programmedCondition(owner: Owner, { listeners, bindingOf, refusals }: Traffic, none: string): ConditionDraft {
  const condition = conditionsOf(owner)
  const usable = listeners.filter((listener) => whyUnusable(listener) === undefined)
  if (usable.length === 0) return condition('Programmed', 'False', none, 'No listener can be used; Accepted says why')
  const states = usable.map((listener) => ({ name: listener.spec.name, binding: bindingOf(listener) }))
  const failed = states.flatMap(({ name, binding }) => (binding?.state === 'failed' ? [{ name, ...binding }] : []))
  if (failed.length > 0) {
    const list = failed.map(({ name, message }) => `${name}: ${message}`).join('; ')
    const reason = failed.length < usable.length ? LISTENERS_NOT_VALID : failed[0]!.reason
    return condition('Programmed', 'False', reason, list)
  }
  if (refusals.length > 0) {
    const list = refusals.map(({ message }) => message).join('; ')
    return condition('Programmed', 'False', 'Invalid', list)
  }
  const waiting = states.filter(({ binding }) => binding === undefined).map(({ name }) => name)
  if (waiting.length > 0) {
    return condition('Programmed', 'Unknown', 'Pending', `Waiting for the data plane: ${waiting.join(', ')}`)
  }
  const message =
    usable.length === listeners.length
      ? 'All listeners accept connections'
      : `These listeners accept connections: ${states.map(({ name }) => name).join(', ')}`
  return condition('Programmed', 'True', 'Programmed', message)
}

function listenerStatus(listener: Listener, { attachedRoutes, bindingOf }: Traffic) {
  const { key, owner, spec, faults } = listener
  const condition = conditionsOf(owner)
  const { conflicted, resolvedRefs } = faults
  const refused = whyNotServed(listener)
  return {
    name: spec.name,
    supportedKinds: listener.supportedKinds.map((kind) => ({ group: GATEWAY_GROUP, kind })),
    attachedRoutes: attachedRoutes(key),
    conditions: [
      refused === undefined
        ? condition('Accepted', 'True', 'Accepted', 'Listener accepted')
        : condition('Accepted', 'False', refused.reason, refused.message),
      conflicted === undefined
        ? condition('Conflicted', 'False', 'NoConflicts', 'No conflicts')
        : condition('Conflicted', 'True', conflicted.reason, conflicted.message),
      resolvedRefs === undefined
        ? condition('ResolvedRefs', 'True', 'ResolvedRefs', ['All references resolved', ...listener.notes].join('; '))
        : condition('ResolvedRefs', 'False', resolvedRefs.reason, resolvedRefs.message),
      listenerProgrammed(listener, bindingOf(listener)),
    ],
  }
}

/** Reasons that the Gateway API gives to `Programmed` as well; a listener with another fault is `Invalid`. */
const SHARED_REASONS: ReadonlySet<string> = new Set(['HostnameConflict', 'ProtocolConflict', 'PortUnavailable'])

function listenerProgrammed(listener: Listener, binding: Binding | undefined): ConditionDraft {
  const condition = conditionsOf(listener.owner)
  const fault = whyUnusable(listener)
  if (fault !== undefined) {
    const reason = SHARED_REASONS.has(fault.reason) ? fault.reason : 'Invalid'
    return condition('Programmed', 'False', reason, fault.message)
  }
  if (binding === undefined) return condition('Programmed', 'Unknown', 'Pending', 'Waiting for the data plane')
  return binding.state === 'bound'
    ? condition('Programmed', 'True', 'Programmed', 'Listener accepts connections')
    : condition('Programmed', 'False', binding.reason, binding.message)
}
