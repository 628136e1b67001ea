import { boolean, defaulted, enumOf, host, integer, list, openObject, optional, required, text } from '#schema/index.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { unread } from './platform-fields.ts'

const endpoint = openObject({
  addresses: required(list(host(), { min: 1, max: 100 }), 'Addresses of the endpoint. They are interchangeable.'),
  conditions: optional(
    openObject({
      ready: optional(boolean(), 'Whether the endpoint accepts new connections. When unset, it does.'),
      serving: optional(boolean(), 'Whether the endpoint still serves requests.'),
      terminating: optional(boolean(), 'Whether the endpoint is terminating.'),
    }),
    'State of the endpoint.',
  ),
  targetRef: optional(
    openObject({
      kind: optional(text(), 'Kind of the object.'),
      namespace: optional(text(), 'Namespace of the object.'),
      name: optional(text(), 'Name of the object.'),
      ...unread('apiVersion', 'fieldPath', 'resourceVersion', 'uid'),
    }),
    'The Pod of the endpoint. It is one endpoint, even if slices of both address families list it.',
  ),
  ...unread('hostname', 'nodeName', 'zone', 'hints', 'deprecatedTopology'),
})

const endpointPort = openObject({
  name: optional(text(), 'Name of the port of the Service.'),
  port: optional(integer({ min: 0, max: 65_535 }), 'Number of the port.'),
  protocol: defaulted(enumOf('TCP', 'UDP', 'SCTP'), 'TCP', 'Transport protocol.'),
  appProtocol: optional(text(), 'Application protocol of the port.'),
})

export const endpointSlice = platformKind('EndpointSlice', {
  addressType: required(enumOf('IPv4', 'IPv6', 'FQDN'), 'Type of the addresses.'),
  endpoints: defaulted(list(endpoint, { max: 1000 }), [], 'Endpoints of a Service.'),
  ports: defaulted(list(endpointPort, { max: 100 }), [], 'Ports of the endpoints.'),
})

export type EndpointSliceObject = ObjectOf<typeof endpointSlice>
