import type { Labels, Pod } from './deployed-pods.ts'

/** The members of a Service that its endpoints are made of, with the names of Kubernetes. */
export interface Service {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string }
  readonly spec: {
    readonly selector?: Labels
    readonly ports?: readonly {
      readonly name?: string
      readonly port: number
      readonly targetPort?: number
      readonly protocol?: string
      readonly appProtocol?: string
    }[]
  }
}

/** The EndpointSlice of a Service with its pods, as its controller in Kubernetes writes it; undefined: the Service has no selector. */
export function endpointSlice({ metadata, spec }: Service, pods: readonly Pod[]): object | undefined {
  const { namespace, name, uid } = metadata
  const selector = Object.entries(spec.selector ?? {})
  if (selector.length === 0) return undefined
  const selected = pods.filter(
    (pod) => pod.namespace === namespace && selector.every(([key, value]) => pod.labels[key] === value),
  )
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace,
      name: `${name}-pods`,
      labels: { 'kubernetes.io/service-name': name },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name, uid }],
    },
    addressType: 'IPv4',
    endpoints: selected.map(({ name, process }) => ({
      addresses: [process.address],
      conditions: { ready: true },
      targetRef: { kind: 'Pod', namespace, name },
    })),
    ports: (spec.ports ?? []).map(({ name = '', port, targetPort = port, protocol = 'TCP', appProtocol }) => ({
      name,
      port: targetPort,
      protocol,
      ...(appProtocol !== undefined && { appProtocol }),
    })),
  }
}
