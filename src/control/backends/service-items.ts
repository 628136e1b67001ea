import type { EndpointSliceObject } from '#api/endpoint-slice.ts'
import type { ServiceObject } from '#api/service.ts'
import type { BackendItem, EndpointsItem, PlanItem } from '#plan/item.ts'
import { append } from '../append.ts'
import { compareText, type Inventory } from '../inventory.ts'
import type { ReportOn } from '../reporting.ts'

type ServicePort = NonNullable<ServiceObject['spec']['ports']>[number]
type Address = EndpointsItem['addresses'][number]

/** Name of the domain of cluster Services. */
const CLUSTER_DOMAIN = 'cluster.local'

/**
 * Items for the Services that something refers to. Ready addresses come from EndpointSlices, of an ExternalName Service from DNS;
 * cluster addresses are not dialled (decision A-131).
 * @param keys keys of backends; those that are no Service ports, or do not exist, are passed over
 */
export function serviceItems(
  inventory: Inventory,
  keys: ReadonlySet<string>,
  reportOn: ReportOn,
): readonly (BackendItem | EndpointsItem)[] {
  if (keys.size === 0) return []
  const slices = slicesByService(inventory)
  return [...keys].sort(compareText).flatMap((key) => {
    const [kind, namespace = '', name = '', number] = key.split('/')
    const service = kind === 'Service' ? inventory.find('Service', namespace, name) : undefined
    const port = service?.spec.ports?.find((it) => it.port === Number(number))
    if (service === undefined || port === undefined) return []
    const addresses = addressesOf(service, port, slices.get(`${namespace}/${name}`) ?? [])
    if (addresses.length === 0) reportNoEndpoints(service, port, reportOn)
    return [backendItem(key, service, port), endpointsItem(service, port, addresses)]
  })
}

/** A Service port that nobody serves at the moment. */
export function isIdle(item: PlanItem): boolean {
  return item.kind === 'endpoints' && item.addresses.length === 0
}

function slicesByService(inventory: Inventory): ReadonlyMap<string, readonly EndpointSliceObject[]> {
  const slices = new Map<string, EndpointSliceObject[]>()
  for (const slice of inventory.all('EndpointSlice')) {
    const service = slice.metadata.labels?.['kubernetes.io/service-name']
    if (service === undefined) continue
    append(slices, `${slice.metadata.namespace}/${service}`, slice)
  }
  return slices
}

function backendItem(key: string, service: ServiceObject, { port, appProtocol }: ServicePort): BackendItem {
  const { namespace, name } = service.metadata
  const hostname = service.spec.externalName ?? `${name}.${namespace}.svc.${CLUSTER_DOMAIN}`
  return {
    kind: 'backend',
    key,
    namespace,
    name,
    type: 'service',
    spec: { hostname, port, ...(appProtocol === undefined ? {} : { appProtocol }) },
    broken: undefined,
    origin: service.origin,
  }
}

function endpointsItem(service: ServiceObject, { port }: ServicePort, addresses: readonly Address[]): EndpointsItem {
  const { namespace, name } = service.metadata
  return {
    kind: 'endpoints',
    key: `Endpoints/${namespace}/${name}/${port}`,
    addresses,
    origin: service.origin,
  }
}

/** Slices and Services name their ports alike; a port without a name is the only one. */
function addressesOf(
  { spec }: ServiceObject,
  { name = '', port }: ServicePort,
  slices: readonly EndpointSliceObject[],
): readonly Address[] {
  if (spec.type === 'ExternalName') return spec.externalName === undefined ? [] : [{ host: spec.externalName, port }]
  const found = new Map<string, Address>()
  for (const slice of slices) {
    const target = (slice.ports ?? []).find((it) => (it.name ?? '') === name)?.port
    if (target === undefined) continue
    for (const { addresses, conditions } of slice.endpoints ?? []) {
      if (conditions?.ready === false) continue
      for (const host of addresses) found.set(`${host} ${target}`, { host, port: target })
    }
  }
  return [...found.values()].sort((a, b) => compareText(a.host, b.host) || a.port - b.port)
}

function reportNoEndpoints(service: ServiceObject, { name, port }: ServicePort, reportOn: ReportOn): void {
  const { namespace, name: serviceName } = service.metadata
  const which = name === undefined ? `${port}` : `${port} (${name})`
  const message = `Service ${namespace}/${serviceName} has no ready endpoint for port ${which}: no EndpointSlice names one; requests are answered 503`
  reportOn(service)({ path: 'spec.ports', code: 'service-without-endpoints', message, severity: 'warning' })
}
