import type { Exchange, PlanNames } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { ListenerItem, RelayRouteItem, RouteItem, WeightedBackend } from '#plan/item.ts'
import { gatewayTarget, listenerSetTarget, listenerTarget, routeTarget, ruleTarget } from '#plan/target.ts'
import type { LiveBackend } from '../backend/live-backend.ts'
import type { Memo } from '../lookups/memo.ts'
import type { Attached, PlanIndex } from '../lookups/plan-index.ts'
import type { Chain } from '../merge/chain.ts'
import type { FrontendSettings } from '../merge/frontend-settings.ts'
import type { AttachedRule } from './attached.ts'
import type { ForwardedHeaders } from './forwarded-headers.ts'
import type { HostTable } from './host-table.ts'
import type { RouteTable } from './route-table.ts'

/** One address and port, with the listeners that share it by hostname. */
export interface LiveSocket {
  readonly address: string
  readonly port: number
  /** The request listeners, by host. */
  readonly hosts: HostTable<LiveRequestListener>
  /** All listeners, by the server name of a TLS connection; connections without TLS have no name. */
  readonly serverNames: HostTable<LiveListener>
  readonly listeners: readonly LiveListener[]
}

export type LiveListener = LiveRequestListener | LiveRelayListener

/** A listener of the plan in force. It is replaced when its item changes; its memos follow the plan. */
interface AnyLiveListener {
  readonly item: ListenerItem
  readonly names: PlanNames
  /** Targets of its policies. */
  readonly targets: readonly string[]
  readonly frontend: Memo<FrontendSettings>
}

/** A listener whose connections carry requests. */
export interface LiveRequestListener extends AnyLiveListener {
  readonly carries: 'requests'
  readonly forwardedHeaders: ForwardedHeaders | undefined
  readonly preRouting: Memo<Chain>
  readonly routes: RouteTable<LiveRule>
  /** The rules in `routes`. */
  readonly attached: readonly Attached<RouteItem>[]
}

/** A listener whose connections are relayed. */
export interface LiveRelayListener extends AnyLiveListener {
  readonly carries: 'bytes'
  /** One rule for each server name. */
  readonly routes: HostTable<LiveRelayRule>
  /** The rules in `routes`. */
  readonly attached: readonly AttachedRule<RelayRouteItem, LiveRelayRule>[]
  /** The attachments that the rules were built from. */
  readonly source: readonly Attached<RelayRouteItem>[]
}

/** A route rule at one listener. */
export interface LiveRule extends LiveReferences {
  readonly item: RouteItem
  readonly names: PlanNames
  /** The same for requests that are refused before a backend is chosen: with the protocol of the first one. */
  readonly undecidedNames: Memo<PlanNames>
  readonly targets: readonly string[]
  readonly postRouting: Memo<Chain>
}

/** A rule for relayed connections at one listener. */
export interface LiveRelayRule extends LiveReferences {
  readonly item: RelayRouteItem
  readonly names: PlanNames
}

export interface LiveReferences {
  readonly backends: readonly LiveReference[]
  readonly totalWeight: number
}

export interface LiveReference {
  readonly reference: WeightedBackend
  /** The value is undefined if the backend does not exist. */
  readonly backend: Memo<LiveBackend | undefined>
}

/** Whether connections of a listener are relayed instead of carrying requests. */
export function isRelayListener({ protocol }: ListenerItem): boolean {
  return protocol === 'TCP' || protocol === 'TLS'
}

/** The refusal of everything at a listener that cannot be served as it is meant. */
export function refusalOf({ item: { broken } }: LiveListener): Refusal | undefined {
  return broken === undefined ? undefined : reject('policy-invalid', { detail: broken })
}

/** Targets of the policies of a listener, weakest first. */
export function listenerTargets(item: ListenerItem): string[] {
  const targets = [gatewayTarget(item.gateway)]
  if (item.listenerSet === undefined) targets.push(listenerTarget(item.gateway, item.name))
  else targets.push(listenerSetTarget(item.listenerSet), listenerSetTarget(item.listenerSet, item.name))
  return targets
}

/** Targets of the policies of a rule, weakest first, without those of the listener. */
export function ruleTargets(item: RouteItem): string[] {
  const { route, rule, ruleName } = item
  const targets = [routeTarget(route.kind, route)]
  if (ruleName !== undefined) targets.push(routeTarget(route.kind, route, ruleName))
  targets.push(ruleTarget(route.kind, route, rule))
  return targets
}

export function listenerNames(item: ListenerItem): PlanNames {
  return {
    gateway: `${item.gateway.namespace}/${item.gateway.name}`,
    listener: item.name,
    route: '',
    routeKind: '',
    rule: '',
    backend: '',
    backendType: '',
    protocol: isRelayListener(item) ? 'tcp' : 'http',
  }
}

export function ruleNames(listener: PlanNames, item: RouteItem | RelayRouteItem): PlanNames {
  return {
    ...listener,
    route: `${item.route.namespace}/${item.route.name}`,
    routeKind: item.route.kind,
    rule: item.ruleName ?? `rule ${item.rule}`,
  }
}

/** Chooses a backend reference by weight; undefined if none has a weight above 0. */
export function chooseBackend(rule: LiveReferences, random: () => number): LiveReference | undefined {
  const { backends, totalWeight } = rule
  if (totalWeight === 0) return undefined
  if (backends.length === 1) return backends[0]
  let left = random() * totalWeight
  for (const backend of backends) {
    left -= backend.reference.weight
    if (left < 0) return backend
  }
  return backends.findLast((backend) => backend.reference.weight > 0)
}

/**
 * Applies the network authorization of all listeners of the socket (specification 2, 2.1; decision A-40). Runs before HTTP, with an
 * exchange that has only connection data.
 * @returns the reason of a denial
 */
export function denyConnection(socket: LiveSocket, index: PlanIndex, connection: Exchange): string | undefined {
  for (const { frontend } of socket.listeners) {
    const denial = frontend.get(index).networkAuthorization?.denial(connection)
    if (denial !== undefined) return denial
  }
  return undefined
}

/** Whether a network authorization rule reads the client certificate: then it runs after the TLS handshake (decision A-48). */
export function readsCertificates(socket: LiveSocket, index: PlanIndex): boolean {
  return socket.listeners.some(({ frontend }) => frontend.get(index).networkAuthorization?.readsCertificate === true)
}
