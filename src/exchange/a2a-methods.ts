import { matchedPathOf } from '#net/http/path-form.ts'

/** The method of a request that is no call, or one whose method cannot be known. */
export const UNKNOWN_METHOD = 'unknown'
/** Longer names are those of no method. */
export const MAX_NAME_LENGTH = 128

/** Name of a request for the public agent card, which is no method of A2A. */
const AGENT_CARD = 'agent-card'
export const EXTENDED_CARD = 'GetExtendedAgentCard'

/** The methods of A2A by their names in protocol 1.0 (A2A 1.0, 5.3), and the public card. */
export const A2A_METHODS = [
  AGENT_CARD,
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'ListTasks',
  'CancelTask',
  'SubscribeToTask',
  'CreateTaskPushNotificationConfig',
  'GetTaskPushNotificationConfig',
  'ListTaskPushNotificationConfigs',
  'DeleteTaskPushNotificationConfig',
  EXTENDED_CARD,
] as const

type A2aMethod = (typeof A2A_METHODS)[number]

/** Names of JSON-RPC methods in protocol 0.3, and in those before it (A2A 0.3, 3.5.6). */
const EARLIER_NAMES: Readonly<Record<string, A2aMethod>> = {
  'message/send': 'SendMessage',
  'message/stream': 'SendStreamingMessage',
  'tasks/get': 'GetTask',
  'tasks/list': 'ListTasks',
  'tasks/cancel': 'CancelTask',
  'tasks/resubscribe': 'SubscribeToTask',
  'tasks/pushNotificationConfig/set': 'CreateTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/get': 'GetTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/list': 'ListTaskPushNotificationConfigs',
  'tasks/pushNotificationConfig/delete': 'DeleteTaskPushNotificationConfig',
  'agent/getAuthenticatedExtendedCard': EXTENDED_CARD,
  'agent/authenticatedExtendedCard': EXTENDED_CARD,
  'tasks/send': 'SendMessage',
  'tasks/sendSubscribe': 'SendStreamingMessage',
  'tasks/pushNotification/set': 'CreateTaskPushNotificationConfig',
  'tasks/pushNotification/get': 'GetTaskPushNotificationConfig',
}

/** The name of a JSON-RPC method in protocol 1.0; a method that A2A does not have keeps its name. */
export function currentName(method: string): string {
  return nameIn(EARLIER_NAMES, method)
}

/** Whether a name is that of a method of A2A in protocol 1.0, and no other. */
export function isA2aMethod(name: string): boolean {
  return (A2A_METHODS as readonly string[]).includes(name) && name !== AGENT_CARD
}

/** Members that objects inherit, such as `constructor`, are no earlier names. */
function nameIn(earlierNames: Readonly<Record<string, A2aMethod>>, method: string): string {
  return Object.hasOwn(earlierNames, method) ? earlierNames[method]! : method
}

/** Methods of gRPC that 1.0 calls otherwise. */
const EARLIER_GRPC_NAMES: Readonly<Record<string, A2aMethod>> = {
  GetAgentCard: EXTENDED_CARD,
  TaskSubscription: 'SubscribeToTask',
  ListTaskPushNotificationConfig: 'ListTaskPushNotificationConfigs',
}

const GRPC_PATH = /\/(?:[\w.]+\.)?A2AService\/(\w+)$/

/** Ends of paths, in lower case. They follow the path of the interface, version `/v1` of protocol 0.3, and the tenant of 1.0. */
const CARD_PATH = /\/\.well-known\/agent(?:-card)?\.json$/

/** The methods of the binding HTTP+JSON by method and end of path (A2A 1.0, 11.3; A2A 0.3, 3.5.3). */
const REST: readonly (readonly [methods: string, path: RegExp, method: A2aMethod])[] = [
  ['POST', /\/message:send$/, 'SendMessage'],
  ['POST', /\/message:stream$/, 'SendStreamingMessage'],
  ['POST', /\/tasks\/[^/]+:cancel$/, 'CancelTask'],
  ['GET POST', /\/tasks\/[^/]+:subscribe$/, 'SubscribeToTask'],
  ['GET', /\/tasks\/[^/]+(?<!:cancel|:subscribe)$/, 'GetTask'],
  ['GET', /\/tasks$/, 'ListTasks'],
  ['POST PUT', /\/tasks\/[^/]+\/pushnotificationconfigs$/, 'CreateTaskPushNotificationConfig'],
  ['GET', /\/tasks\/[^/]+\/pushnotificationconfigs$/, 'ListTaskPushNotificationConfigs'],
  ['GET', /\/tasks\/[^/]+\/pushnotificationconfigs\/[^/]+$/, 'GetTaskPushNotificationConfig'],
  ['DELETE', /\/tasks\/[^/]+\/pushnotificationconfigs\/[^/]+$/, 'DeleteTaskPushNotificationConfig'],
  ['GET', /\/(?:v1\/card|extendedagentcard|agent\/authenticatedextendedcard)$/, EXTENDED_CARD],
]

/** A method that method and path of a request determine, and the binding that it belongs to. */
export interface MethodOfPath {
  readonly name: string
  readonly binding: 'card' | 'rest' | 'grpc'
  /** The methods of HTTP that the binding defines for this path, if the request has another one: an agent could take it for one of them. */
  readonly allow: string | undefined
}

/** @returns undefined if the path says nothing: a JSON-RPC call has its method in its body */
export function methodOfPath(method: string, target: string): MethodOfPath | undefined {
  const path = matchedPathOf(target)
  if (method === 'OPTIONS') return undefined
  const called = GRPC_PATH.exec(path)?.[1]
  if (called !== undefined) {
    const isTooLong = called.length > MAX_NAME_LENGTH
    const name = isTooLong ? UNKNOWN_METHOD : nameIn(EARLIER_GRPC_NAMES, called)
    return { name, binding: 'grpc', allow: method === 'POST' || method === 'HEAD' ? undefined : 'POST' }
  }
  // Servers ignore letter case, slashes at the end, and parameters of segments.
  const folded = path
    .toLowerCase()
    .replace(/;[^/]*/g, '')
    .replace(/\/+$/, '')
  if (CARD_PATH.test(folded)) return { name: AGENT_CARD, binding: 'card', allow: undefined }
  return methodOfRest(method, folded)
}

function methodOfRest(method: string, path: string): MethodOfPath | undefined {
  const known = REST.filter(([, pattern]) => pattern.test(path))
  if (known.length === 0) return undefined
  const asked = method === 'HEAD' ? 'GET' : method
  const found = known.find(([methods]) => methods.split(' ').includes(asked))
  if (found !== undefined) return { name: found[2], binding: 'rest', allow: undefined }
  if (method === 'HEAD') return undefined
  const allow = known.map(([methods]) => methods.replaceAll(' ', ', ')).join(', ')
  return { name: UNKNOWN_METHOD, binding: 'rest', allow }
}
