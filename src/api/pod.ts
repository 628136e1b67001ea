import { boolean, list, openObject, optional, text } from '#schema/index.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { unread } from './platform-fields.ts'

const podSpec = openObject({
  serviceAccountName: optional(text(), 'Service account of the pod. When unset, `default`.'),
  hostNetwork: optional(boolean(), 'Whether the pod uses the network of its node.'),
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
  phase: optional(text(), 'Phase of the pod: Pending, Running, Succeeded, Failed or Unknown.'),
  podIP: optional(text(), 'First address of the pod.'),
  podIPs: optional(list(openObject({ ip: optional(text(), 'IP address.') })), 'All addresses of the pod.'),
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

/** Used only to find the Pod of a client address. */
export const pod = platformKind('Pod', {
  spec: optional(podSpec, 'Desired state.'),
  status: optional(podStatus, 'Observed state.'),
})

export type PodObject = ObjectOf<typeof pod>
