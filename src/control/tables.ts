import type { GatewayClassObject } from '#api/gateway-class.ts'
import { KINDS, type KindName, type ObjectsByKind } from '#api/kinds.ts'
import { type ApiObject, keyOf } from '#api/object.ts'
import type { PodObject } from '#api/pod.ts'
import type { Finding } from '#base/finding.ts'
import { Table } from '#base/incremental/table.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import type { PlanItem, PolicyItem, RelayRouteItem } from '#plan/item.ts'
import { byPrecedence } from '#plan/route-order.ts'
import type { TranslatedBackend } from './backends/translate-backend.ts'
import { type Claim, inOrder } from './gateways/claim.ts'
import type { Listener } from './gateways/listener.ts'
import type { PlacedGateway, PlacedListenerSet } from './gateways/place-gateways.ts'
import { byAge } from './inventory.ts'
import { byLoser, type Overlap } from './policies/find-overlaps.ts'
import type { SocketUser } from './policies/find-shared-sockets.ts'
import type { AttachedPolicy } from './policies/place-policy.ts'
import type { PolicyFacts } from './policies/policy-facts.ts'
import type { TranslatedRoute } from './routes/translate-route.ts'
import type { Complaint } from './status/condition.ts'
import type { Binding, ObjectStatus } from './translation.ts'

type ObjectTables = { readonly [K in KindName]: Table<ObjectsByKind[K]> }

/** What a translation knows, by key. Each table is written by the stages named in `translator.ts`. */
export function createTables() {
  const objects = Object.fromEntries(KINDS.map(({ kind }) => [kind, new Table(kind)])) as unknown as ObjectTables
  return {
    /** Written from outside: the objects, by key; by `kind/namespace`; by kind. */
    objects,
    ofNamespace: new Table<ApiObject>('ofNamespace', byAge),
    ofKind: new Table<ApiObject>('ofKind', byAge),
    /** Written from outside: what compiling the plan showed, by object; the state of listeners in the data plane, by item. */
    problems: new Table<Finding>('problems'),
    bindings: new Table<Binding>('bindings'),
    /** Written from outside: what traffic has shown about backends. */
    facts: new Table<BackendFact>('facts'),
    /** One row at `all`, for stages that have one node. */
    always: new Table<true>('always'),

    /** By pair of reference ends. */
    grants: new Table<true>('grants'),
    /** Gateways of ours, and ListenerSets of theirs, by object; their listeners before conflicts are judged. */
    gateways: new Table<PlacedGateway>('gateways'),
    listenerSets: new Table<PlacedListenerSet>('listenerSets'),
    classes: new Table<GatewayClassObject>('classes'),
    /** One row at `any` while there is a Gateway of ours. */
    served: new Table<true>('served'),
    parametersUsed: new Table<true>('parametersUsed'),
    /** By address and port, in order of precedence. */
    claims: new Table<Claim>('claims', inOrder),
    /** By listener: the conflict that it lost. */
    conflicts: new Table<Complaint>('conflicts'),
    /** By Gateway or ListenerSet of ours: one row, its listeners. */
    listeners: new Table<readonly Listener[]>('listeners'),
    /** By place that policies attach to: the listeners at it. */
    listenersAt: new Table<Listener>('listenersAt'),
    /** By address and port: the Gateways with a listener there, in order of precedence. */
    socketUsers: new Table<SocketUser>('socketUsers', inOrder),

    /** By route. */
    routes: new Table<TranslatedRoute>('routes'),
    /** By listener: the routes attached to it. */
    attachedRoutes: new Table<true>('attachedRoutes'),
    /** By listener and hostname: the rules for connections there. */
    relayRules: new Table<RelayRouteItem>('relayRules', byPrecedence),
    /** By rule for connections. */
    relayItems: new Table<RelayRouteItem>('relayItems'),
    backends: new Table<TranslatedBackend>('backends'),
    policies: new Table<AttachedPolicy>('policies'),
    /** By Gateway: its policies about sockets. */
    socketSettings: new Table<PolicyItem>('socketSettings'),

    /** By place: the places directly around it. */
    outer: new Table<string>('outer'),
    /** By backend: the rules that send to it. */
    users: new Table<string>('users'),
    /** By backend: the places whose policies, or the backends that, call it. */
    callers: new Table<string>('callers'),
    /** By backend, Secret or ConfigMap: one row for each that needs it in the plan. */
    wantedBackends: new Table<true>('wantedBackends'),
    wantedMaterial: new Table<true>('wantedMaterial'),
    slices: new Table<ObjectsByKind['EndpointSlice']>('slices', byAge),
    /** By Service port: one row when it has no endpoint. */
    idle: new Table<true>('idle'),
    /** By address: the pods that have it, the youngest last. */
    pods: new Table<PodObject>('pods', byAge),
    workloadReaders: new Table<true>('workloadReaders'),
    readsWorkloads: new Table<true>('readsWorkloads'),

    /** By field, phase and target: the policies there, without those of fields that nobody can lose. */
    policiesAt: new Table<PolicyItem>('policiesAt'),
    /** By item: a policy whose stronger place may take a part of others. */
    partial: new Table<PolicyItem>('partial'),
    /** By item: one row for a policy that lost a tie. */
    tied: new Table<true>('tied'),
    /** By object of the loser. */
    overlaps: new Table<Overlap>('overlaps', byLoser),
    /** By place: one row for each that asks which Gateways come to it. */
    reached: new Table<true>('reached'),
    /** By place: one row, the Gateways whose traffic comes to it, sorted. */
    gatewaysOf: new Table<readonly string[]>('gatewaysOf'),
    /** By policy: what became of it. */
    policyFacts: new Table<PolicyFacts>('policyFacts'),

    /** The plan, by item. */
    items: new Table<PlanItem>('items'),
    /** By object: what the stages found. */
    findings: new Table<Finding>('findings'),
    /** By object: that, and what compiling showed. */
    allFindings: new Table<Finding>('allFindings'),
    /** By object. */
    statuses: new Table<ObjectStatus>('statuses'),
  }
}

export type Tables = ReturnType<typeof createTables>

/** Puts an object in, in place of the one of the same key. */
export function putObject(tables: Tables, object: ApiObject): void {
  writeObject(tables, object, [object])
}

export function removeObject(tables: Tables, object: ApiObject): void {
  writeObject(tables, object, [])
}

// The one place where the name of a kind becomes its type: the store has validated every object against its kind.
function writeObject({ objects, ofNamespace, ofKind }: Tables, object: ApiObject, rows: readonly ApiObject[]): void {
  const { kind, metadata } = object
  const key = keyOf(object)
  const table = objects[kind as KindName] as unknown as Table<ApiObject>
  table.put(key, key, rows)
  ofNamespace.put(`${kind}/${metadata.namespace}`, key, rows)
  ofKind.put(kind, key, rows)
}
