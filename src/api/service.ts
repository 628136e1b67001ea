import {
  defaulted,
  enumOf,
  intOrString,
  list,
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

export type ServicePortSpec = Parsed<typeof servicePort>
export type ServiceObject = ObjectOf<typeof service>
