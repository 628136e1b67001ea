import {
  defaulted,
  enumOf,
  host,
  intOrString,
  list,
  listMap,
  mapOf,
  openObject,
  optional,
  type Parsed,
  port,
  required,
  text,
} from '#schema/index.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { platformStatus, unread } from './platform-fields.ts'

const servicePort = openObject({
  name: optional(text(), 'Name of the port.'),
  protocol: defaulted(enumOf('TCP', 'UDP', 'SCTP'), 'TCP', 'Transport protocol.'),
  appProtocol: optional(text(), 'Application protocol of the port.'),
  port: required(port(), 'Number of the port.'),
  targetPort: optional(intOrString(), 'Port of the endpoints, by number or name.'),
  ...unread('nodePort'),
})

const serviceSpec = openObject({
  type: defaulted(text(), 'ClusterIP', 'Type of the Service.'),
  selector: optional(mapOf(text()), 'Labels of the pods of the Service.'),
  ports: optional(listMap(['port', 'protocol'], servicePort), 'Ports of the Service.'),
  clusterIP: optional(text(), 'Cluster IP address of the Service.'),
  externalName: optional(host(), 'DNS name of the Service, for type ExternalName.'),
  ipFamilies: optional(list(enumOf('IPv4', 'IPv6')), 'Address families of the Service, the preferred one first.'),
  ...unread(
    'allocateLoadBalancerNodePorts',
    'clusterIPs',
    'externalIPs',
    'externalTrafficPolicy',
    'healthCheckNodePort',
    'internalTrafficPolicy',
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
  spec: required(serviceSpec, 'Desired state.'),
  status: platformStatus,
})

export type ServicePortSpec = Parsed<typeof servicePort>
export type ServiceObject = ObjectOf<typeof service>
