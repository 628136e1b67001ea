import type { ObjectName } from './item.ts'

/**
 * Keys of the targets of policies. They are text so that items stay serialisable. Each is a prefix of the keys inside it:
 * `Gateway/default/main` contains `Gateway/default/main/http`.
 */
export function gatewayTarget(gateway: ObjectName): string {
  return `Gateway/${gateway.namespace}/${gateway.name}`
}

export function listenerTarget(gateway: ObjectName, listener: string): string {
  return `Gateway/${gateway.namespace}/${gateway.name}/${listener}`
}

export function listenerSetTarget(set: ObjectName, listener?: string): string {
  return `ListenerSet/${set.namespace}/${set.name}${listener === undefined ? '' : `/${listener}`}`
}

/** Policies attach only to routes for requests (decision A-26), but routes for connections are also between backends and listeners. */
export type RouteKind = 'HTTPRoute' | 'GRPCRoute' | 'TCPRoute' | 'TLSRoute'

export function routeTarget(kind: RouteKind, route: ObjectName, ruleName?: string): string {
  return `${kind}/${route.namespace}/${route.name}${ruleName === undefined ? '' : `/${ruleName}`}`
}

/** The rule itself, with or without a name: target of its own filters. */
export function ruleTarget(kind: RouteKind, route: ObjectName, rule: number): string {
  return `${kind}/${route.namespace}/${route.name}#${rule}`
}

const RULE = /^([^#]+)#\d+$/

/** The target of the route of a rule; undefined: the target is not a rule. @param target see `ruleTarget` */
export function routeOfRule(target: string): string | undefined {
  return RULE.exec(target)?.[1]
}

/** A `backendRef` of a rule: target of its own filters. @param rule see `ruleTarget` */
export function backendRefTarget(rule: string, index: number): string {
  return `${rule}/backendRefs/${index}`
}

/** `section`: the port of a Service, the provider or MCP target of a ProxyBackend. */
export function backendTarget(kind: 'Service' | 'ProxyBackend', backend: ObjectName, section?: string): string {
  return `${kind}/${backend.namespace}/${backend.name}${section === undefined ? '' : `/${section}`}`
}
