import type { EndpointSliceObject } from '#api/endpoint-slice.ts'
import { objectKey } from '#api/object.ts'
import type { ServiceObject } from '#api/service.ts'
import type { StageDefinition } from '#base/incremental/stage.ts'
import type { BackendItem, EndpointsItem, MeshPod, PlanItem } from '#plan/item.ts'
import { backendBounds } from '../backends/backend-bounds.ts'
import { permittedAddresses } from '../backends/permitted-addresses.ts'
import type { ReportOn } from '../context/reporting.ts'
import { findServicePort, type ServicePort } from '../references/service-port.ts'
import { reportTo } from './open-context.ts'
import type { Tables } from './tables.ts'

type Address = EndpointsItem['addresses'][number]

/** DNS domain of the cluster. */
const CLUSTER_DOMAIN = 'cluster.local'

/** Groups EndpointSlices by Service. */
export function sliceStage(tables: Tables): StageDefinition<EndpointSliceObject> {
  return {
    name: 'slices',
    each: [tables.objects.EndpointSlice],
    writes: [tables.slices],
    run([slice], work) {
      const service = slice!.metadata.labels?.['kubernetes.io/service-name']
      if (service !== undefined) work.write(tables.slices, `${slice!.metadata.namespace}/${service}`, slice!)
    },
  }
}

/**
 * Adds items for Service ports that other objects refer to, with the addresses of their endpoints. The gateway never connects to cluster IPs (decision A-131).
 * @param allowsNames whether names of servers are used wherever they are from
 */
export function serviceStage(tables: Tables, allowsNames: boolean): StageDefinition<true> {
  const { wantedBackends, slices, meshed, meshPods, endpointless, items, findings } = tables
  return {
    name: 'services',
    each: [wantedBackends],
    writes: [endpointless, items, findings],
    run(_, work, key) {
      const [kind, namespace, name, number] = key.split('/') as [string, string, string, string?]
      if (kind !== 'Service') return
      const [service] = work.read(tables.objects.Service, objectKey('Service', namespace, name))
      const port = service && findServicePort(service, Number(number))
      if (service === undefined || port === undefined) return
      const report = reportTo(tables, work)
      const rules = { allowsNames, reportOn: report }
      const found = permittedAddresses(service, port, work.read(slices, `${namespace}/${name}`), rules)
      const podAt = (host: string) => work.read(meshPods, host)[0]
      const isMeshed = work.read(meshed, 'any').length > 0
      const addresses = isMeshed ? found.addresses.map((address) => withPod(address, podAt)) : found.addresses
      const endpoints = endpointsItem(service, port, addresses)
      const bounds = backendBounds(service.metadata, report(service))
      work.write(items, key, backendItem(key, service, port, bounds))
      work.write(items, endpoints.key, endpoints)
      if (found.addresses.length > 0) return
      work.write(endpointless, key, true)
      if (!found.isReduced) reportNoEndpoints(service, port, report)
    },
  }
}

function backendItem(
  key: string,
  service: ServiceObject,
  { port, appProtocol }: ServicePort,
  bounds: BackendItem['bounds'],
): BackendItem {
  const { namespace, name } = service.metadata
  const hostname = service.spec.externalName ?? `${name}.${namespace}.svc.${CLUSTER_DOMAIN}`
  return {
    kind: 'backend',
    key,
    namespace,
    name,
    type: 'service',
    spec: { hostname, port, ...(appProtocol === undefined ? {} : { appProtocol }) },
    ...(bounds === undefined ? {} : { bounds }),
    broken: undefined,
    origin: service.origin,
  }
}

function withPod(address: Address, podAt: (host: string) => MeshPod | undefined): Address {
  const meshPod = podAt(address.host)
  return meshPod === undefined ? address : { ...address, meshPod }
}

function endpointsItem(
  service: ServiceObject,
  { port }: ServicePort,
  addresses: readonly Address[],
): PlanItem & EndpointsItem {
  const { namespace, name } = service.metadata
  return {
    kind: 'endpoints',
    key: `Endpoints/${namespace}/${name}/${port}`,
    addresses,
    // A proxy of an older version whose Gateway has no `mesh` needs no pods; one with `mesh` does not take the plan.
    ...(addresses.some(({ meshPod }) => meshPod !== undefined) && { mayIgnore: ['addresses'] }),
    origin: service.origin,
  }
}

function reportNoEndpoints(service: ServiceObject, { name, port }: ServicePort, reportOn: ReportOn): void {
  const { namespace, name: serviceName } = service.metadata
  const which = name === undefined ? `${port}` : `${port} (${name})`
  const message = `Service ${namespace}/${serviceName} has no ready endpoint for port ${which}: no EndpointSlice lists one; requests get status 503`
  reportOn(service)({ path: 'spec.ports', code: 'service-without-endpoints', message, severity: 'warning' })
}
