import { boolean, defaulted, enumOf, integer, list, openObject, optional, required, text } from '#schema/index.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { unread } from './platform-fields.ts'

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

export type EndpointSliceObject = ObjectOf<typeof endpointSlice>
