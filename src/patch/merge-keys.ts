/** How a strategic merge patch merges the lists in an object. Lists without entry are replaced, objects without entry are merged. */
export interface MergeKeys {
  /** The list is merged: items with the same value of this member; '' for scalars, which are merged as a set. */
  readonly mergeKey?: string
  readonly fields?: { readonly [name: string]: MergeKeys }
}

function listBy(mergeKey: string, fields?: MergeKeys['fields']): MergeKeys {
  return fields === undefined ? { mergeKey } : { mergeKey, fields }
}

const SET: MergeKeys = { mergeKey: '' }
const CONDITIONS: MergeKeys = { fields: { conditions: listBy('type') } }
const METADATA: MergeKeys = { fields: { finalizers: SET, ownerReferences: listBy('uid') } }

const CONTAINERS = listBy('name', {
  env: listBy('name'),
  ports: listBy('containerPort'),
  volumeDevices: listBy('devicePath'),
  volumeMounts: listBy('mountPath'),
})

const POD_SPEC: MergeKeys = {
  fields: {
    containers: CONTAINERS,
    initContainers: CONTAINERS,
    ephemeralContainers: CONTAINERS,
    evictionResponders: listBy('name'),
    hostAliases: listBy('ip'),
    imagePullSecrets: listBy('name'),
    resourceClaims: listBy('name'),
    schedulingGates: listBy('name'),
    topologySpreadConstraints: listBy('topologyKey'),
    volumes: listBy('name', {
      ephemeral: { fields: { volumeClaimTemplate: { fields: { metadata: METADATA } } } },
    }),
  },
}

const CONTAINER_STATUSES: MergeKeys = {
  fields: { allocatedResourcesStatus: listBy('name'), volumeMounts: listBy('mountPath') },
}

const POD_STATUS: MergeKeys = {
  fields: {
    conditions: listBy('type'),
    containerStatuses: CONTAINER_STATUSES,
    initContainerStatuses: CONTAINER_STATUSES,
    ephemeralContainerStatuses: CONTAINER_STATUSES,
    hostIPs: listBy('ip'),
    nodeAllocatableResourceClaimStatuses: listBy('resourceClaimName', {
      mapping: listBy('name'),
      overhead: listBy('name'),
    }),
    podIPs: listBy('ip'),
    resourceClaimStatuses: listBy('name'),
    volumeHealth: { fields: { healthConditions: listBy('status') } },
  },
}

/** The platform's kinds with more than `metadata` (Kubernetes 1.37, `patchMergeKey` of its Go types). */
const KINDS: { readonly [kind: string]: MergeKeys['fields'] } = {
  Deployment: {
    spec: { fields: { template: { fields: { metadata: METADATA, spec: POD_SPEC } } } },
    status: CONDITIONS,
  },
  HorizontalPodAutoscaler: { status: CONDITIONS },
  Namespace: { status: CONDITIONS },
  PodDisruptionBudget: { status: CONDITIONS },
  Pod: { spec: POD_SPEC, status: POD_STATUS },
  Service: { spec: { fields: { ports: listBy('port') } }, status: CONDITIONS },
  ServiceAccount: { secrets: listBy('name') },
}

/** The merge keys of one of the platform's kinds. */
export function mergeKeysOf(kind: string): MergeKeys {
  return { fields: { metadata: METADATA, ...(Object.hasOwn(KINDS, kind) ? KINDS[kind] : {}) } }
}
