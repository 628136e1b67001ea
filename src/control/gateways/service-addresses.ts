import type { GatewayObject } from '#api/gateway.ts'
import type { ServiceObject } from '#api/service.ts'

/** An address in the status of a Gateway (Gateway API, GatewayStatusAddress). */
export interface StatusAddress {
  readonly type: 'IPAddress' | 'Hostname'
  readonly value: string
}

/** Where clients reach a Service: at its load balancers once these have addresses, else inside the cluster. */
export function serviceAddresses({ spec, status }: Pick<ServiceObject, 'spec' | 'status'>): readonly StatusAddress[] {
  if (spec.type === 'LoadBalancer') return ingressOf(status).flatMap(ingressAddress)
  const { clusterIP, clusterIPs = clusterIP === undefined ? [] : [clusterIP] } = spec
  return (clusterIPs as readonly string[]).flatMap((value) =>
    value === '' || value === 'None' ? [] : [{ type: 'IPAddress', value }],
  )
}

interface Ingress {
  readonly ip?: string
  readonly hostname?: string
}

function ingressOf(status: unknown): readonly Ingress[] {
  const { loadBalancer } = (status ?? {}) as { readonly loadBalancer?: { readonly ingress?: readonly Ingress[] } }
  return loadBalancer?.ingress ?? []
}

function ingressAddress({ ip = '', hostname = '' }: Ingress): readonly StatusAddress[] {
  if (ip !== '') return [{ type: 'IPAddress', value: ip }]
  return hostname === '' ? [] : [{ type: 'Hostname', value: hostname }]
}

/** A Service that only has the name of that of a Gateway is a foreign one. */
export function isServiceOf({ metadata }: ServiceObject, gateway: GatewayObject): boolean {
  const { uid, name } = gateway.metadata
  return (metadata.ownerReferences ?? []).some(
    (owner) => owner.kind === 'Gateway' && owner.name === name && owner.uid === uid,
  )
}
