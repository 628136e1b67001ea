import type { ObjectName } from './item.ts'

/**
 * Keys of the places that policies attach to. They are plain text so that items stay serialisable, and each is a prefix of what
 * lies inside it: `Gateway/default/main` contains `Gateway/default/main/http`.
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

/** Policies attach to routes for requests only (decision A-26); those for connections lie between backends and listeners all the same. */
export type RouteKind = 'HTTPRoute' | 'GRPCRoute' | 'TCPRoute' | 'TLSRoute'

export function routeTarget(kind: RouteKind, route: ObjectName, ruleName?: string): string {
  return `${kind}/${route.namespace}/${route.name}${ruleName === undefined ? '' : `/${ruleName}`}`
}

/** The rule itself, named or not: what its own filters attach to. */
export function ruleTarget(kind: RouteKind, route: ObjectName, rule: number): string {
  return `${kind}/${route.namespace}/${route.name}#${rule}`
}

/** `section`: the port of a Service, the provider or MCP target of a ProxyBackend. */
export function backendTarget(kind: 'Service' | 'ProxyBackend', backend: ObjectName, section?: string): string {
  return `${kind}/${backend.namespace}/${backend.name}${section === undefined ? '' : `/${section}`}`
}
