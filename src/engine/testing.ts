import type { RequestBodyAccess } from '#exchange/bodies.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import { LARGE_BODY, wholeBody } from '#exchange/known-body.ts'
import { NO_BODIES } from '#exchange/no-bodies.ts'
import { NO_COUNTER } from '#exchange/token-counter.ts'
import type { PlanChange } from '#plan/delta.ts'
import type {
  BackendItem,
  LevelName,
  ListenerItem,
  PlanItem,
  PolicyItem,
  RelayRouteItem,
  RouteItem,
  RouteMatch,
} from '#plan/item.ts'
import { RemoteKeySets } from '#policies/shared/authentication/remote-key-set.ts'
import { CloudCredentials } from '#policies/shared/clouds/cloud-credential.ts'
import { type ExchangeInputs, exchangeWith, NO_CLOUDS, PLAIN_SEALER } from '#policies/shared/testing.ts'
import { createSlotMemory, SlotDirectory } from '#state/slots.ts'
import { PlanIndex } from './lookups/plan-index.ts'
import type { SharedState } from './merge/compile-context.ts'
import { LivePlan } from './plan/live-plan.ts'
import type { LiveSocket } from './route/live-listener.ts'

/** Test support for the engine: short forms of plan items, and plans in force. */

const MAIN = { namespace: 'default', name: 'main' }

export function listenerItem(more: Partial<ListenerItem> = {}): ListenerItem {
  const { gateway = MAIN, name = 'http' } = more
  return {
    kind: 'listener',
    key: `Listener/${gateway.namespace}/${gateway.name}/${name}`,
    gateway,
    listenerSet: undefined,
    name,
    address: '127.0.0.1',
    port: 8080,
    protocol: 'HTTP',
    hostname: '',
    tlsMode: undefined,
    certificates: [],
    origin: { kind: 'Gateway', ...gateway },
    ...more,
  }
}

/** A match from one line: `GET prefix /api`, `exact /x`, `pattern /a.*`; the method is optional. */
export function matchOf(text: string, more: Partial<RouteMatch> = {}): RouteMatch {
  const words = text.split(' ')
  const [type, value] = words.slice(-2) as [keyof typeof PATH_TYPES, string]
  return {
    path: { type: PATH_TYPES[type], value },
    method: words.length === 3 ? words[0] : undefined,
    headers: [],
    queryParams: [],
    ...more,
  }
}

const PATH_TYPES = { exact: 'Exact', prefix: 'PathPrefix', pattern: 'RegularExpression' } as const

/** Rule 0 of HTTPRoute `default/<name>` at listener `http` of Gateway `main`. Matches everything and has no backends. */
export function routeItem(name: string, more: Partial<RouteItem> = {}): RouteItem {
  const { rule = 0, route = { kind: 'HTTPRoute', namespace: 'default', name } } = more
  return {
    kind: 'route',
    key: `${route.kind}/${route.namespace}/${route.name}/${rule}`,
    route,
    rule,
    ruleName: undefined,
    created: '',
    attachments: [{ listener: 'Listener/default/main/http', hostnames: [] }],
    matches: [matchOf('prefix /')],
    backends: [],
    origin: { ...route },
    ...more,
  }
}

/** A rule of TLSRoute `default/<name>`; an empty `hostnames` matches any server name. */
export function relayRouteItem(
  name: string,
  hostnames: readonly string[] = [],
  more: Partial<RelayRouteItem> = {},
): RelayRouteItem {
  const route = { kind: 'TLSRoute', namespace: 'default', name } as const
  return {
    kind: 'relay-route',
    key: `TLSRoute/default/${name}/${more.rule ?? 0}`,
    route,
    rule: 0,
    ruleName: undefined,
    created: '',
    attachments: [{ listener: listenerItem().key, hostnames }],
    backends: toBackend('b'),
    origin: route,
    ...more,
  }
}

/** A `static` backend `default/<name>` with a loopback port. */
export function backendItem(
  name: string,
  more: Readonly<Partial<Record<keyof BackendItem, unknown>>> = {},
): BackendItem {
  const item = {
    kind: 'backend',
    key: `ProxyBackend/default/${name}`,
    namespace: 'default',
    name,
    type: 'static',
    spec: { host: '127.0.0.1', port: 9000 },
    broken: undefined,
    origin: { kind: 'ProxyBackend', namespace: 'default', name },
    ...more,
  }
  return item as BackendItem
}

export function toBackend(...names: readonly string[]): RouteItem['backends'] {
  return names.map((name, i) => ({
    backend: `ProxyBackend/default/${name}`,
    weight: 1,
    path: `spec.rules[0].backendRefs[${i}]`,
  }))
}

/** `section.field`, or `PreRouting.field` for a traffic field of that phase. */
export type FieldName = `${'traffic' | 'backend' | 'frontend' | 'PreRouting'}.${string}`

/** One field of a ProxyPolicy at a target. The default level is that of the target's kind. */
export function policyItem(
  name: FieldName,
  target: string,
  spec: unknown,
  more: Partial<PolicyItem> & { readonly policy?: string } = {},
): PolicyItem {
  const { policy = 'policy', ...rest } = more
  const [prefix, field] = name.split('.') as [string, string]
  const section = prefix === 'PreRouting' ? 'traffic' : (prefix as PolicyItem['section'])
  const phase = prefix === 'PreRouting' ? 'PreRouting' : section === 'traffic' ? 'PostRouting' : undefined
  const item = {
    kind: 'policy',
    key: `Policy/${target}/${section}/${phase ?? ''}/${field}/ProxyPolicy/default/${policy}`,
    section,
    phase,
    field,
    target,
    level: levelOf(target),
    spec,
    origin: { kind: 'ProxyPolicy', namespace: 'default', name: policy },
    path: `spec.${section}.${field}`,
    created: '',
    ...rest,
  }
  return item as PolicyItem
}

function levelOf(target: string): LevelName {
  const kind = target.slice(0, target.indexOf('/'))
  const depth = target.split('/').length
  if (kind === 'Gateway') return depth === 3 ? 'Gateway' : 'Listener'
  if (kind === 'ListenerSet') return depth === 3 ? 'ListenerSet' : 'Listener'
  if (kind === 'Service' || kind === 'ProxyBackend') return depth === 3 ? 'Backend' : 'BackendSection'
  if (target.includes('#')) return 'RouteFilter'
  return depth === 3 ? 'Route' : 'RouteRule'
}

export function planOf(...items: readonly PlanItem[]): Map<string, PlanItem> {
  return new Map(items.map((item) => [item.key, item]))
}

/** The change from one plan to another. Identical objects are unchanged items. */
export function changeTo({ items }: PlanIndex, plan: ReadonlyMap<string, PlanItem>): PlanChange {
  return {
    set: [...plan.values()].filter((item) => items.get(item.key) !== item),
    removed: [...items.values()].flatMap(({ key }) => (plan.has(key) ? [] : [key])),
  }
}

export function indexOf(...items: readonly PlanItem[]): PlanIndex {
  return PlanIndex.EMPTY.after({ set: items, removed: [] })
}

/** State of one thread in which every key gets a slot; it has no TLS library. */
export function stateOf(slots = 64): SharedState & {
  readonly directory: SlotDirectory
  readonly keySets: RemoteKeySets
  readonly clouds: { readonly credentials: CloudCredentials }
} {
  const memory = createSlotMemory(slots, false)
  const directory = new SlotDirectory(memory)
  return {
    memory,
    directory,
    slotOf: (key) => directory.assign(key),
    valuesOf: (key) => directory.valuesOf(key),
    importKey: () => undefined,
    passwords: { check: () => 'wrong' },
    tokenCounter: NO_COUNTER,
    sealer: PLAIN_SEALER,
    clouds: { ...NO_CLOUDS, credentials: new CloudCredentials() },
    keySets: new RemoteKeySets(() => undefined),
  }
}

/** A plan in force, and its only socket. */
export function livePlan(...items: readonly PlanItem[]): { readonly plan: LivePlan; readonly socket: LiveSocket } {
  const plan = new LivePlan(stateOf())
  plan.update({ set: items, removed: [] })
  return { plan, socket: plan.sockets.get('127.0.0.1:8080')! }
}

/** An exchange with a body; `reads` counts how often it is read. */
export function exchangeReading(
  inputs: Omit<ExchangeInputs, 'body'>,
  body: string,
): { readonly exchange: Exchange; readonly limits: number[] } {
  const exchange = exchangeWith(inputs)
  const limits: number[] = []
  const request: RequestBodyAccess = {
    ...NO_BODIES.request,
    async read(maxBytes) {
      limits.push(maxBytes)
      exchange.requestBody = body.length > maxBytes ? LARGE_BODY : wholeBody(new TextEncoder().encode(body))
      return undefined
    },
  }
  exchange.bodies = { ...NO_BODIES, request }
  return { exchange, limits }
}

/** A random source that returns these numbers in order, and then throws. */
export function draws(...numbers: readonly number[]): () => number {
  const left = [...numbers]
  return () => {
    const next = left.shift()
    if (next === undefined) throw new Error('no draw is left')
    return next
  }
}

/** A spec with these expressions as rules. */
export function rules(
  action: 'Allow' | 'Deny' | 'Require',
  ...matchExpressions: readonly Expression['source'][]
): object {
  return { action, policy: { matchExpressions } }
}
