import type { KindName } from '../kinds.ts'
import type { StoredKindName } from '../stored-kinds.ts'

/** A column of `kubectl get` (Kubernetes, `CustomResourceColumnDefinition`). */
export interface Column {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly description?: string
  /** 0 or absent: always; 1: with `-o wide`. */
  readonly priority?: number
  readonly jsonPath: string
}

const AGE: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }

function conditionColumn(type: string, conditions: string, description: string): Column {
  return { name: type, type: 'string', description, jsonPath: `${conditions}[?(@.type=="${type}")].status` }
}

function text(name: string, jsonPath: string, options: Pick<Column, 'description' | 'priority'> = {}): Column {
  return { name, type: 'string', jsonPath, ...options }
}

const HOSTNAMES = text('Hostnames', '.spec.hostnames')

/** What `kubectl get` prints beside the name. Those of the Gateway API and of the platform are as these print them, as far as paths can say it. */
const COLUMNS: { readonly [Kind in KindName | StoredKindName]?: readonly Column[] } = {
  Event: [
    { name: 'Last Seen', type: 'date', jsonPath: '.lastTimestamp' },
    text('Type', '.type'),
    text('Reason', '.reason'),
    text('Kind', '.involvedObject.kind'),
    text('Object', '.involvedObject.name'),
    text('Message', '.message'),
  ],
  Lease: [text('Holder', '.spec.holderIdentity'), AGE],
  ProxyPolicy: [
    conditionColumn('Accepted', '.status.ancestors[*].conditions', 'Whether the policy is valid.'),
    conditionColumn('Attached', '.status.ancestors[*].conditions', 'Whether the policy is attached to its targets.'),
    AGE,
  ],
  ProxyBackend: [conditionColumn('Accepted', '.status.conditions', 'Whether the backend is valid.'), AGE],
  GatewayClass: [
    text('Controller', '.spec.controllerName'),
    conditionColumn('Accepted', '.status.conditions', 'Whether the controller serves the class.'),
    AGE,
    text('Description', '.spec.description', { priority: 1 }),
  ],
  Gateway: [
    text('Class', '.spec.gatewayClassName'),
    text('Address', '.status.addresses[*].value'),
    conditionColumn('Programmed', '.status.conditions', 'Whether the proxies have the configuration.'),
    AGE,
  ],
  ListenerSet: [
    conditionColumn('Accepted', '.status.conditions', 'Whether the Gateway takes the listeners.'),
    conditionColumn('Programmed', '.status.conditions', 'Whether the proxies have the configuration.'),
    AGE,
  ],
  HTTPRoute: [HOSTNAMES, AGE],
  GRPCRoute: [HOSTNAMES, AGE],
  TLSRoute: [HOSTNAMES, AGE],
  Service: [
    text('Type', '.spec.type'),
    text('Cluster-IP', '.spec.clusterIP'),
    text('Ports', '.spec.ports[*].port'),
    AGE,
    text('Selector', '.spec.selector', { priority: 1 }),
  ],
  Secret: [text('Type', '.type'), AGE],
  Namespace: [text('Status', '.status.phase'), AGE],
  EndpointSlice: [
    text('AddressType', '.addressType'),
    text('Ports', '.ports[*].port'),
    text('Endpoints', '.endpoints[*].addresses[*]'),
    AGE,
  ],
  Pod: [text('Status', '.status.phase'), text('IP', '.status.podIP', { priority: 1 }), AGE],
}

export function columnsOf(kind: KindName | StoredKindName): readonly Column[] {
  return COLUMNS[kind] ?? [AGE]
}
