import type { ItemKind } from '../config/authorization.ts'
import type { Capability } from '../session/capabilities.ts'

/** How a request of a client is served, by method. */
export type MethodRoute =
  | { readonly kind: 'initialize' }
  /** Answered by the gateway. */
  | { readonly kind: 'ping' }
  /** Sent to all targets with the capability; the results are merged. */
  | { readonly kind: 'list'; readonly list: ListRoute }
  /** Sent to all targets with the capability; their results are empty. */
  | { readonly kind: 'broadcast'; readonly capability: Capability }
  /** Sent to the one target that owns the item. */
  | { readonly kind: 'item'; readonly parameter: ItemParameter }

export interface ListRoute {
  /** Member of the result. */
  readonly member: 'tools' | 'prompts' | 'resources' | 'resourceTemplates'
  /** Member of an item that names it. */
  readonly nameMember: 'name' | 'uri' | 'uriTemplate'
  readonly itemKind: ItemKind
  readonly capability: Capability
}

/** Methods that affect later requests of a session; without sessions they are not supported. */
export function needsSession(method: string): boolean {
  return method === 'logging/setLevel' || method === 'resources/subscribe' || method === 'resources/unsubscribe'
}

/** The parameter that identifies the item. `ref`: a prompt or a resource, by its type. */
export type ItemParameter = 'tool-name' | 'prompt-name' | 'uri' | 'ref'

const METHODS: Readonly<Record<string, MethodRoute>> = {
  initialize: { kind: 'initialize' },
  ping: { kind: 'ping' },
  'logging/setLevel': { kind: 'broadcast', capability: 'logging' },
  'tools/list': list('tools', 'name', 'tool', 'tools'),
  'prompts/list': list('prompts', 'name', 'prompt', 'prompts'),
  'resources/list': list('resources', 'uri', 'resource', 'resources'),
  'resources/templates/list': list('resourceTemplates', 'uriTemplate', 'resource', 'resources'),
  'tools/call': { kind: 'item', parameter: 'tool-name' },
  'prompts/get': { kind: 'item', parameter: 'prompt-name' },
  'resources/read': { kind: 'item', parameter: 'uri' },
  'resources/subscribe': { kind: 'item', parameter: 'uri' },
  'resources/unsubscribe': { kind: 'item', parameter: 'uri' },
  'completion/complete': { kind: 'item', parameter: 'ref' },
}

/**
 * Undefined for methods that are not supported. Unknown methods are not forwarded, not even to a single target: the authorization rules
 * could not see which items they use.
 */
export function methodRoute(method: string): MethodRoute | undefined {
  return Object.hasOwn(METHODS, method) ? METHODS[method] : undefined
}

function list(
  member: ListRoute['member'],
  nameMember: ListRoute['nameMember'],
  itemKind: ItemKind,
  capability: Capability,
): MethodRoute {
  return { kind: 'list', list: { member, nameMember, itemKind, capability } }
}
