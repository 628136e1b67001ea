import type { EndpointSliceObject } from '#api/endpoint-slice.ts'
import type { ServiceObject } from '#api/service.ts'
import { compareText } from '#base/compare-text.ts'
import type { EndpointsItem } from '#plan/item.ts'
import type { ServicePort } from '../references/service-port.ts'

type Address = EndpointsItem['addresses'][number]
type Endpoint = EndpointSliceObject['endpoints'][number]

/** An endpoint that offers the port. */
interface Candidate {
  readonly endpoint: Endpoint
  readonly family: EndpointSliceObject['addressType']
  readonly port: number
}

/**
 * The addresses of a Service port: those of the ready endpoints in its EndpointSlices; if there are none, of the endpoints that terminate but
 * still serve, as in Kubernetes (KEP-1669). Topology hints are for proxies on nodes and are ignored. An ExternalName Service is resolved by
 * DNS.
 */
export function endpointAddresses(
  service: ServiceObject,
  servicePort: ServicePort,
  slices: readonly EndpointSliceObject[],
): readonly Address[] {
  const { type, externalName } = service.spec
  const { port } = servicePort
  if (type === 'ExternalName') return externalName === undefined ? [] : [{ host: externalName, port }]
  const candidates = slices.flatMap((slice) => candidatesIn(slice, servicePort))
  const ready = candidates.filter(({ endpoint }) => endpoint.conditions?.ready !== false)
  const usable = ready.length > 0 ? ready : candidates.filter(({ endpoint }) => servesWhileTerminating(endpoint))
  const found = new Map<string, Address>()
  for (const { endpoint, port } of oncePerTarget(usable, service)) {
    // While an endpoint moves from one slice to another, both list it.
    for (const host of endpoint.addresses) found.set(`${host} ${port}`, { host, port })
  }
  return [...found.values()].sort((a, b) => compareText(a.host, b.host) || a.port - b.port)
}

/** Slices and Services use the same names of ports; a port without a name is the only port. Its number may differ between slices. */
function candidatesIn(slice: EndpointSliceObject, { name = '' }: ServicePort): readonly Candidate[] {
  const port = slice.ports.find((it) => (it.name ?? '') === name && it.protocol === 'TCP')?.port
  if (port === undefined) return []
  return slice.endpoints.map((endpoint) => ({ endpoint, family: slice.addressType, port }))
}

function servesWhileTerminating({ conditions }: Endpoint): boolean {
  return conditions?.terminating === true && conditions.serving !== false
}

/** A Pod with addresses of both families is one server: that of the first family of the Service counts. */
function oncePerTarget(candidates: readonly Candidate[], { spec }: ServiceObject): readonly Candidate[] {
  const first = spec.ipFamilies?.[0] ?? 'IPv4'
  const targets = new Set(candidates.flatMap((it) => (it.family === first ? (targetOf(it) ?? []) : [])))
  return candidates.filter((it) => it.family === first || !targets.has(targetOf(it) ?? ''))
}

function targetOf({ endpoint, port }: Candidate): string | undefined {
  const { kind = '', namespace = '', name } = endpoint.targetRef ?? {}
  return name === undefined ? undefined : `${kind}/${namespace}/${name} ${port}`
}
