import { hasRules, type ItemKind } from '../config/authorization.ts'
import type { McpPlan } from '../config/mcp-plan.ts'
import type { Capability } from './capabilities.ts'
import type { Era } from './protocol-version.ts'

/** How a request of a client is served, by method. */
export type MethodRoute =
  | { readonly kind: 'initialize' }
  | { readonly kind: 'discover' }
  | { readonly kind: 'listen' }
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
  readonly member: 'tools' | 'prompts' | 'resources' | 'resourceTemplates' | 'tasks'
  /** Member of an item that names it. */
  readonly nameMember: 'name' | 'uri' | 'uriTemplate' | 'taskId'
  readonly itemKind: ItemKind
  readonly capability: Capability
}

/** Methods that change a session for later requests, or read what it keeps; without sessions they are not supported. */
export function needsSession(method: string, era: Era): boolean {
  return era === 'legacy' && (NEEDS_SESSION.has(method) || method.startsWith('tasks/'))
}

const NEEDS_SESSION = new Set(['logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'])

/** The parameter that identifies the item. `ref`: a prompt or a resource, by its type. */
export type ItemParameter = 'tool-name' | 'prompt-name' | 'uri' | 'ref' | 'task'

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
  'tasks/list': list('tasks', 'taskId', 'task', 'tasks'),
  'tasks/get': { kind: 'item', parameter: 'task' },
  'tasks/result': { kind: 'item', parameter: 'task' },
  'tasks/cancel': { kind: 'item', parameter: 'task' },
}

/** The methods of revision 2026-07-28. */
const MODERN: Readonly<Record<string, MethodRoute>> = {
  'server/discover': { kind: 'discover' },
  'tools/list': METHODS['tools/list']!,
  'prompts/list': METHODS['prompts/list']!,
  'resources/list': METHODS['resources/list']!,
  'resources/templates/list': METHODS['resources/templates/list']!,
  'tools/call': METHODS['tools/call']!,
  'prompts/get': METHODS['prompts/get']!,
  'resources/read': METHODS['resources/read']!,
  'completion/complete': METHODS['completion/complete']!,
  'subscriptions/listen': { kind: 'listen' },
  'tasks/get': METHODS['tasks/get']!,
  'tasks/update': { kind: 'item', parameter: 'task' },
  'tasks/cancel': METHODS['tasks/cancel']!,
}

/**
 * Whether a method that the gateway does not know is one of an extension: a single target may support it, and no rule could be about its
 * items. A method of the other era is none.
 */
export function isForExtension({ multiplexes, authorization }: McpPlan, method: string): boolean {
  return !multiplexes && !hasRules(authorization) && !Object.hasOwn(METHODS, method) && !Object.hasOwn(MODERN, method)
}

/**
 * Undefined for methods that are not supported. With rules, unknown methods are not forwarded, not even to a single target: the rules could
 * not see which items they use.
 */
export function methodRoute(method: string, era: Era): MethodRoute | undefined {
  const methods = era === 'modern' ? MODERN : METHODS
  return Object.hasOwn(methods, method) ? methods[method] : undefined
}

function list(
  member: ListRoute['member'],
  nameMember: ListRoute['nameMember'],
  itemKind: ItemKind,
  capability: Capability,
): MethodRoute {
  return { kind: 'list', list: { member, nameMember, itemKind, capability } }
}
