import {
  boolean,
  defaulted,
  enumOf,
  formattedText,
  integer,
  intOrString,
  list,
  mapOf,
  openObject,
  optional,
  type Parsed,
  port,
  required,
  type ScalarRefusal,
  text,
} from '#schema/index.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { platformStatus, unread } from './platform-fields.ts'

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

function checkBase64(value: string): ScalarRefusal | undefined {
  if (BASE64.test(value.replace(/[\r\n]/g, ''))) return undefined
  return { code: 'invalid-base64', message: 'must be base64; use stringData for plain text' }
}

const base64Map = () => mapOf(formattedText({}, checkBase64))

export const secret = platformKind('Secret', {
  type: optional(text(), 'Type of the content.'),
  data: optional(base64Map(), 'Entries, in base64.'),
  stringData: optional(mapOf(text()), 'Entries as plain text; stronger than those of data.'),
  immutable: optional(boolean(), 'Whether the entries can no longer change.'),
})

export const configMap = platformKind('ConfigMap', {
  data: optional(mapOf(text()), 'Entries.'),
  binaryData: optional(base64Map(), 'Entries that are not text, in base64.'),
  immutable: optional(boolean(), 'Whether the entries can no longer change.'),
})

export const namespace = platformKind('Namespace', {
  spec: optional(openObject(unread('finalizers')), 'What is wanted.'),
  status: platformStatus,
})

const servicePort = openObject({
  name: optional(text(), 'Name of the port.'),
  protocol: defaulted(enumOf('TCP', 'UDP', 'SCTP'), 'TCP', 'Transport.'),
  appProtocol: optional(text(), 'Protocol spoken on the port.'),
  port: required(port(), 'Number of the port.'),
  targetPort: optional(intOrString(), 'Port of the endpoints, by number or name.'),
  ...unread('nodePort'),
})

const serviceSpec = openObject({
  type: defaulted(text(), 'ClusterIP', 'How the Service is reached.'),
  selector: optional(mapOf(text()), 'Labels of its pods.'),
  ports: optional(list(servicePort), 'Its ports.'),
  clusterIP: optional(text(), 'Its address in the cluster.'),
  externalName: optional(text(), 'DNS name that it stands for, with type ExternalName.'),
  ...unread(
    'allocateLoadBalancerNodePorts',
    'clusterIPs',
    'externalIPs',
    'externalTrafficPolicy',
    'healthCheckNodePort',
    'internalTrafficPolicy',
    'ipFamilies',
    'ipFamilyPolicy',
    'loadBalancerClass',
    'loadBalancerIP',
    'loadBalancerSourceRanges',
    'publishNotReadyAddresses',
    'sessionAffinity',
    'sessionAffinityConfig',
    'trafficDistribution',
  ),
})

export const service = platformKind('Service', {
  spec: required(serviceSpec, 'What is wanted.'),
  status: platformStatus,
})

const endpoint = openObject({
  addresses: required(list(text({ min: 1 }), { min: 1, max: 100 }), 'Its addresses, which are interchangeable.'),
  conditions: optional(
    openObject({
      ready: optional(boolean(), 'Whether it takes new connections; it does when unset.'),
      serving: optional(boolean(), 'Whether it still serves.'),
      terminating: optional(boolean(), 'Whether it is about to go away.'),
    }),
    'Its state.',
  ),
  ...unread('hostname', 'targetRef', 'nodeName', 'zone', 'hints', 'deprecatedTopology'),
})

const endpointPort = openObject({
  name: optional(text(), 'Name of the port of the Service.'),
  port: optional(integer({ min: 0, max: 65_535 }), 'Number of the port.'),
  protocol: defaulted(enumOf('TCP', 'UDP', 'SCTP'), 'TCP', 'Transport.'),
  appProtocol: optional(text(), 'Protocol spoken on the port.'),
})

export const endpointSlice = platformKind('EndpointSlice', {
  addressType: required(enumOf('IPv4', 'IPv6', 'FQDN'), 'Form of the addresses.'),
  endpoints: defaulted(list(endpoint, { max: 1000 }), [], 'Endpoints of a Service.'),
  ports: defaulted(list(endpointPort, { max: 100 }), [], 'Their ports.'),
})

export type ServicePortSpec = Parsed<typeof servicePort>
export type SecretObject = ObjectOf<typeof secret>
export type ConfigMapObject = ObjectOf<typeof configMap>
export type NamespaceObject = ObjectOf<typeof namespace>
export type ServiceObject = ObjectOf<typeof service>
export type EndpointSliceObject = ObjectOf<typeof endpointSlice>
