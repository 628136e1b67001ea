import type { GatewayObject } from '#api/gateway.ts'
import { GATEWAY_GROUP } from '../controller.ts'
import { isServed, type Listener } from '../gateways/listener.ts'
import type { ResolvedGateway, ResolvedListenerSet } from '../gateways/resolve-gateways.ts'
import type { Binding } from '../translation.ts'
import { type ConditionDraft, conditionsOf } from './condition.ts'

/** The state of the listeners of a Gateway or ListenerSet. */
export interface Traffic {
  readonly listeners: readonly Listener[]
  /** The number of routes that are attached to a listener, by its key. */
  readonly attachedRoutes: (listener: string) => number
  /** State of the socket of a listener in the data plane; undefined: not known yet. */
  readonly bindingOf: (listener: Listener) => Binding | undefined
}

/** `status` of a Gateway (Gateway API, GatewayStatus). */
export function gatewayStatus({ object, address, parameters }: ResolvedGateway, traffic: Traffic) {
  const { listeners } = traffic
  const { fault } = parameters
  const condition = conditionsOf(object)
  return {
    addresses: [{ type: 'IPAddress', value: address }],
    conditions: [
      fault === undefined
        ? acceptedCondition(object, listeners)
        : condition('Accepted', 'False', fault.reason, fault.message),
      programmedCondition(object, traffic),
      ...insecureValidationCondition(object),
    ],
    listeners: listeners.map((listener) => listenerStatus(listener, traffic)),
  }
}

/** Present while clients without a valid certificate are accepted (Gateway API, FrontendTLSConfig). */
function insecureValidationCondition(gateway: GatewayObject): ConditionDraft[] {
  const { default: defaults, perPort = [] } = gateway.spec.tls?.frontend ?? {}
  const modes = [defaults, ...perPort.map(({ tls }) => tls)].map((tls) => tls?.validation?.mode)
  if (!modes.includes('AllowInsecureFallback')) return []
  const message = 'AllowInsecureFallback: clients without a valid certificate are accepted'
  return [conditionsOf(gateway)('InsecureFrontendValidationMode', 'True', 'ConfigurationChanged', message)]
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
    conditions: [acceptedCondition(object, listeners), programmedCondition(object, traffic)],
    listeners: listeners.map((listener) => listenerStatus(listener, traffic)),
  }
}

type Owner = Parameters<typeof conditionsOf>[0]

/** True while at least one listener is accepted; the message names the others. */
function acceptedCondition(owner: Owner, listeners: readonly Listener[]): ConditionDraft {
  const condition = conditionsOf(owner)
  const refused = listeners.filter((listener) => !isServed(listener))
  if (refused.length === 0) return condition('Accepted', 'True', 'Accepted', 'All listeners are accepted')
  const list = refused.map(({ spec, faults }) => `${spec.name}: ${(faults.accepted ?? faults.conflicted)?.message}`)
  const status = refused.length < listeners.length ? 'True' : 'False'
  return condition('Accepted', status, 'ListenersNotValid', `Some listeners are not accepted: ${list.join('; ')}`)
}

/** True when the data plane serves every listener of the plan (decision A-34). */
function programmedCondition(owner: Owner, { listeners, bindingOf }: Traffic): ConditionDraft {
  const condition = conditionsOf(owner)
  const served = listeners.filter(isServed)
  if (served.length === 0) return condition('Programmed', 'False', 'Invalid', 'No listener can be served')
  const states = served.map((listener) => ({ name: listener.spec.name, binding: bindingOf(listener) }))
  const failed = states.flatMap(({ name, binding }) => (binding?.state === 'failed' ? [{ name, ...binding }] : []))
  if (failed.length > 0) {
    const list = failed.map(({ name, message }) => `${name}: ${message}`).join('; ')
    return condition(
      'Programmed',
      'False',
      failed.length < served.length ? 'ListenersNotValid' : failed[0]!.reason,
      list,
    )
  }
  const waiting = states.filter(({ binding }) => binding === undefined).map(({ name }) => name)
  if (waiting.length === 0) return condition('Programmed', 'True', 'Programmed', 'All listeners accept connections')
  return condition('Programmed', 'Unknown', 'Pending', `Waiting for the data plane: ${waiting.join(', ')}`)
}

function listenerStatus(listener: Listener, { attachedRoutes, bindingOf }: Traffic) {
  const { key, owner, spec, faults } = listener
  const condition = conditionsOf(owner)
  const { accepted, conflicted, resolvedRefs } = faults
  const refused = accepted ?? conflicted
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
        ? condition('ResolvedRefs', 'True', 'ResolvedRefs', 'All references resolved')
        : condition('ResolvedRefs', 'False', resolvedRefs.reason, resolvedRefs.message),
      listenerProgrammed(listener, bindingOf(listener)),
    ],
  }
}

function listenerProgrammed({ owner, faults }: Listener, binding: Binding | undefined): ConditionDraft {
  const condition = conditionsOf(owner)
  const refused = faults.accepted ?? faults.conflicted
  if (refused !== undefined) return condition('Programmed', 'False', 'Invalid', refused.message)
  if (faults.programmed !== undefined) {
    return condition('Programmed', 'False', faults.programmed.reason, faults.programmed.message)
  }
  if (binding === undefined) return condition('Programmed', 'Unknown', 'Pending', 'Waiting for the data plane')
  return binding.state === 'bound'
    ? condition('Programmed', 'True', 'Programmed', 'Listener accepts connections')
    : condition('Programmed', 'False', binding.reason, binding.message)
}
