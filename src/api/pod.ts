import { boolean, list, openObject, optional, text } from '#schema/index.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { unread } from './platform-fields.ts'

const podSpec = openObject({
  serviceAccountName: optional(text(), 'Service account that it runs as; `default` when unset.'),
  hostNetwork: optional(boolean(), 'Whether it has the address of its node.'),
  ...unread(
    'activeDeadlineSeconds',
    'affinity',
    'automountServiceAccountToken',
    'containers',
    'dnsConfig',
    'dnsPolicy',
    'enableServiceLinks',
    'ephemeralContainers',
    'hostAliases',
    'hostIPC',
    'hostPID',
    'hostUsers',
    'hostname',
    'hostnameOverride',
    'imagePullSecrets',
    'initContainers',
    'nodeName',
    'nodeSelector',
    'os',
    'overhead',
    'preemptionPolicy',
    'priority',
    'priorityClassName',
    'readinessGates',
    'resourceClaims',
    'resources',
    'restartPolicy',
    'runtimeClassName',
    'schedulerName',
    'schedulingGates',
    'securityContext',
    'serviceAccount',
    'setHostnameAsFQDN',
    'shareProcessNamespace',
    'subdomain',
    'terminationGracePeriodSeconds',
    'tolerations',
    'topologySpreadConstraints',
    'volumes',
    'workloadRef',
  ),
})

const podStatus = openObject({
  phase: optional(text(), 'How far it has come: Pending, Running, Succeeded, Failed or Unknown.'),
  podIP: optional(text(), 'Its first address.'),
  podIPs: optional(list(openObject({ ip: optional(text(), 'The address.') })), 'All its addresses.'),
  ...unread(
    'allocatedResources',
    'conditions',
    'containerStatuses',
    'ephemeralContainerStatuses',
    'extendedResourceClaimStatus',
    'hostIP',
    'hostIPs',
    'initContainerStatuses',
    'message',
    'nominatedNodeName',
    'observedGeneration',
    'qosClass',
    'reason',
    'resize',
    'resourceClaimStatuses',
    'resources',
    'startTime',
  ),
})

/** Read for one thing only: which pod a caller's address belongs to. */
export const pod = platformKind('Pod', {
  spec: optional(podSpec, 'What is wanted.'),
  status: optional(podStatus, 'How it fares.'),
})

export type PodObject = ObjectOf<typeof pod>
