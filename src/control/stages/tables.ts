import { KINDS, type KindName, type ObjectsByKind } from '#api/kinds.ts'
import { type ApiObject, keyOf } from '#api/object.ts'
import type { PodObject } from '#api/pod.ts'
import type { RefusedPolicy } from '#api/refused-policy.ts'
import { compareText } from '#base/compare-text.ts'
import type { Finding } from '#base/finding.ts'
import { Table } from '#base/incremental/table.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import type { MeshPod, PlanItem, PolicyItem, RelayRouteItem, RouteItem } from '#plan/item.ts'
import { byPrecedence } from '#plan/route-order.ts'
import type { AttachedTlsPolicy } from '../backends/attach-tls-policy.ts'
import type { TranslatedBackend } from '../backends/translate-backend.ts'
import { hasOwnAnnotation } from '../context/annotations.ts'
import type { ConditionFault } from '../context/condition.ts'
import { byAge } from '../context/inventory.ts'
import { byOrder, type Claim } from '../gateways/claim.ts'
import type { Listener } from '../gateways/listener.ts'
import type { ResolvedGateway, ResolvedListenerSet } from '../gateways/resolve-gateways.ts'
import type { AttachedPolicy } from '../policies/attach-policy.ts'
import { byLoser, type Overlap } from '../policies/find-overlaps.ts'
import type { SocketUser } from '../policies/find-shared-sockets.ts'
import type { PolicyFacts } from '../policies/policy-facts.ts'
import type { MatchedRoute } from '../routes/match-route.ts'
import type { Contender, Displacement } from '../routes/mixed-kinds.ts'
import type { CoveredPattern, Shadowed } from '../routes/report-shadowed.ts'
import type { TranslatedRoute } from '../routes/translate-route.ts'
import type { ProxyProblem } from '../status/join-problems.ts'
import type { OwnStatus } from '../status/own-status.ts'
import type { SocketReport } from '../status/socket-state.ts'
import type { DefinitionVersions } from '../status/supported-version.ts'

type ObjectTables = { readonly [K in KindName]: Table<ObjectsByKind[K]> }

/** The data of a translation, by key. The stages in `translator.ts` write the tables. */
export function createTables() {
  const objects = Object.fromEntries(KINDS.map(({ kind }) => [kind, new Table(kind)])) as unknown as ObjectTables
  return {
    /** Written from outside: the objects, by key; by `kind/namespace`; by kind. */
    objects,
    /** By key: the objects with annotations of this controller. */
    annotated: new Table<ApiObject>('annotated'),
    ofNamespace: new Table<ApiObject>('ofNamespace', byAge),
    ofKind: new Table<ApiObject>('ofKind', byAge),
    /** Written from outside: problems found while the plan was compiled, or the proxy of a Gateway was deployed, and those of proxies, by object; states of sockets, by socket. */
    problems: new Table<Finding>('problems'),
    proxyProblems: new Table<ProxyProblem>('proxyProblems'),
    bindings: new Table<SocketReport>('bindings'),
    /** Written from outside: by object and by kind, the keys of objects that are invalid and have no earlier version. */
    refusedObjects: new Table<string>('refusedObjects', compareText),
    /** Written from outside: by object, the invalid policies that protect their targets. */
    refusedPolicies: new Table<RefusedPolicy>('refusedPolicies'),
    /** Written from outside: facts about backends that were observed in traffic. */
    facts: new Table<BackendFact>('facts'),
    /** By time (ms since the epoch): one row for each node whose result changes when it passes. Written from outside: the times that pass. */
    deadlines: new Table<true>('deadlines'),
    passed: new Table<true>('passed'),
    /** Written from outside: one row at `all` if the versions are known. */
    definitions: new Table<DefinitionVersions>('definitions'),
    /** One row at `all`, for stages that have one node. */
    always: new Table<true>('always'),

    /** By the pair of object groups, kinds and namespaces that a ReferenceGrant permits; see `pairKey`. */
    grants: new Table<true>('grants'),
    /** By object: Gateways of this controller, and their ListenerSets; their listeners before conflict detection. */
    gateways: new Table<ResolvedGateway>('gateways'),
    listenerSets: new Table<ResolvedListenerSet>('listenerSets'),
    /** Written from outside: one row at `any`, the number of times that addresses of Gateways may have become free. */
    addressesFreed: new Table<number>('addressesFreed'),
    /** By GatewayClass: why its parameters cannot be used. */
    classFaults: new Table<ConditionFault>('classFaults'),
    /** One row at `any` while this controller has a Gateway, and while one has `mesh`. */
    served: new Table<true>('served'),
    meshed: new Table<true>('meshed'),
    parametersUsed: new Table<true>('parametersUsed'),
    /** By address and port: the listeners that want to use it, in order of precedence. */
    claims: new Table<Claim>('claims', byOrder),
    /** By listener: its conflict with another listener. */
    conflicts: new Table<ConditionFault>('conflicts'),
    /** By Gateway or ListenerSet of this controller: one row, its listeners. */
    listeners: new Table<readonly Listener[]>('listeners'),
    /** By Gateway: one row for each ListenerSet that it accepts. */
    acceptedSets: new Table<true>('acceptedSets'),
    /** By policy target: the listeners that belong to it. */
    listenersAt: new Table<Listener>('listenersAt'),
    /** By address and port: the Gateways with a listener on it, in order of precedence. */
    socketUsers: new Table<SocketUser>('socketUsers', byOrder),

    /** By route: the listeners that it asks for. */
    matchedRoutes: new Table<MatchedRoute>('matchedRoutes'),
    /** By listener: the HTTPRoutes and GRPCRoutes that ask for it. */
    httpContenders: new Table<Contender>('httpContenders'),
    grpcContenders: new Table<Contender>('grpcContenders'),
    /** By route: the listeners at which a route of another kind takes precedence. */
    displaced: new Table<Displacement>('displaced'),
    /** By listener: one row if there are such routes. */
    displacing: new Table<true>('displacing'),
    /** By route. */
    routes: new Table<TranslatedRoute>('routes'),
    /** By listener: the accepted routes that are attached to it. */
    attachedRoutes: new Table<true>('attachedRoutes'),
    /** By listener, hostname and, for requests, match: the rules for it. */
    rulesAt: new Table<RouteItem | RelayRouteItem>('rulesAt', byPrecedence),
    /** By the key of a prefix match in `rulesAt`: the patterns that match only requests of it. */
    patternsAt: new Table<CoveredPattern>('patternsAt'),
    /** By rule: one row or more for each of its keys in `rulesAt` where another rule takes precedence. */
    shadowedAt: new Table<Shadowed>('shadowedAt'),
    backends: new Table<TranslatedBackend>('backends'),
    policies: new Table<AttachedPolicy>('policies'),
    tlsPolicies: new Table<AttachedTlsPolicy>('tlsPolicies'),
    /** By Gateway: the policies that configure its sockets. */
    socketSettings: new Table<PolicyItem>('socketSettings'),

    /** By policy target: the targets that directly contain it. */
    enclosing: new Table<string>('enclosing'),
    /** By backend: the rules that send to it. */
    users: new Table<string>('users'),
    /** By backend: the targets of policies that call it, and the backends that call it. */
    callers: new Table<string>('callers'),
    /** By backend, Secret or ConfigMap: one row for each object that requires it in the plan. */
    wantedBackends: new Table<true>('wantedBackends'),
    wantedMaterial: new Table<true>('wantedMaterial'),
    slices: new Table<ObjectsByKind['EndpointSlice']>('slices', byAge),
    /** By Service port: one row if it has no endpoint. */
    endpointless: new Table<true>('endpointless'),
    /** By address: the pods that have it, newest last. */
    pods: new Table<PodObject>('pods', byAge),
    /** By address: the pod that has it, if it is in the mesh; only while a Gateway has `mesh`. */
    meshPods: new Table<MeshPod>('meshPods'),
    workloadReaders: new Table<true>('workloadReaders'),
    readsWorkloads: new Table<true>('readsWorkloads'),

    /** By field, phase and target: the policies that can override each other. */
    policiesAt: new Table<PolicyItem>('policiesAt'),
    /** By item: a policy that may override or lose single members of its field. */
    partial: new Table<PolicyItem>('partial'),
    /** By item: one row for a policy that another policy of the same level and target overrides. */
    tied: new Table<true>('tied'),
    /** By the object of the overridden policy. */
    overlaps: new Table<Overlap>('overlaps', byLoser),
    /** By policy target: one row for each reader of `gatewaysOf`. */
    reached: new Table<true>('reached'),
    /** By policy target: one row, the Gateways whose traffic reaches it, sorted. */
    gatewaysOf: new Table<readonly string[]>('gatewaysOf'),
    /** By policy: its attachments and overlaps. */
    policyFacts: new Table<PolicyFacts>('policyFacts'),

    /** The plan, by item. */
    items: new Table<PlanItem>('items'),
    /** By object: the problems found during translation. */
    findings: new Table<Finding>('findings'),
    /** By object: the problems found during translation and compilation. */
    allFindings: new Table<Finding>('allFindings'),
    /** By object. `completeStatus` adds the conditions of other controllers. */
    statuses: new Table<OwnStatus>('statuses'),
  }
}

export type Tables = ReturnType<typeof createTables>

/** Adds an object, or replaces the one with the same key. */
export function putObject(tables: Tables, object: ApiObject): void {
  writeObject(tables, object, [object])
}

export function removeObject(tables: Tables, object: ApiObject): void {
  writeObject(tables, object, [])
}

/** Replaces the objects that are not in use because they are invalid. */
export function replaceRefused(
  { refusedObjects }: Tables,
  before: ReadonlySet<string>,
  now: ReadonlySet<string>,
): void {
  for (const key of before) if (!now.has(key)) writeRefused(key, [])
  for (const key of now) if (!before.has(key)) writeRefused(key, [key])

  function writeRefused(key: string, rows: readonly string[]): void {
    refusedObjects.put(key, key, rows)
    refusedObjects.put(key.slice(0, key.indexOf('/')), key, rows)
  }
}

// The cast is safe: the store has validated every object against the schema of its kind.
function writeObject(
  { objects, ofNamespace, ofKind, annotated }: Tables,
  object: ApiObject,
  rows: readonly ApiObject[],
): void {
  const { kind, metadata } = object
  const key = keyOf(object)
  const table = objects[kind as KindName] as unknown as Table<ApiObject>
  table.put(key, key, rows)
  ofNamespace.put(`${kind}/${metadata.namespace}`, key, rows)
  ofKind.put(kind, key, rows)
  annotated.put(key, key, hasOwnAnnotation(object) ? rows : [])
}
