import type { EndpointSliceObject } from '#api/endpoint-slice.ts'
import type { ServiceObject } from '#api/service.ts'
import { isIpAddress, isLinkLocal } from '#base/ip-address.ts'
import type { Origin } from '#base/origin.ts'
import type { EndpointsItem } from '#plan/item.ts'
import { itemPath } from '#schema/index.ts'
import type { ReportOn } from '../context/reporting.ts'
import type { ServicePort } from '../references/service-port.ts'
import { endpointAddresses } from './endpoint-addresses.ts'

/** Who may decide where the gateway connects to (CVE-2021-25740; decision A-139). */
export interface AddressRules {
  /** Names are used in all objects, without a finding; otherwise only in those of files. */
  readonly allowsNames: boolean
  readonly reportOn: ReportOn
}

export interface PermittedAddresses {
  readonly addresses: EndpointsItem['addresses']
  /** Others are not used, which is reported. */
  readonly isReduced: boolean
}

/** The addresses of a Service port that may be used; the others are reported. */
export function permittedAddresses(
  service: ServiceObject,
  port: ServicePort,
  slices: readonly EndpointSliceObject[],
  rules: AddressRules,
): PermittedAddresses {
  const { type, externalName } = service.spec
  if (type === 'ExternalName' && externalName !== undefined) {
    const isReduced = !isPermitted(externalName, { object: service, path: 'spec.externalName', isName: true }, rules)
    return { addresses: isReduced ? [] : endpointAddresses(service, port, []), isReduced }
  }
  let isReduced = false
  const permitted = slices.map((slice) => ({
    ...slice,
    endpoints: slice.endpoints.map((endpoint, i) => {
      const path = `${itemPath('endpoints', i)}.addresses`
      const addresses = endpoint.addresses.filter((host, j) =>
        isPermitted(host, { object: slice, path: itemPath(path, j), isName: !isIpAddress(host) }, rules),
      )
      isReduced ||= addresses.length < endpoint.addresses.length
      return { ...endpoint, addresses }
    }),
  }))
  return { addresses: endpointAddresses(service, port, permitted), isReduced }
}

interface Place {
  readonly object: { readonly origin: Origin }
  readonly path: string
  readonly isName: boolean
}

function isPermitted(host: string, { object, path, isName }: Place, { allowsNames, reportOn }: AddressRules): boolean {
  if (isLinkLocal(host)) {
    const message = `${host} is a link-local address, such as that of the metadata service of a cloud; it is not used`
    reportOn(object)({ path, code: 'endpoint-link-local', message, severity: 'error' })
    return false
  }
  if (!isName || allowsNames) return true
  const isOfFile = object.origin.file !== undefined
  const effect = isOfFile ? 'leads the gateway to any server that DNS names' : 'is not used: it could name any server'
  const message = `${host} ${effect}; use a ProxyBackend with static.host, or start with --allow-external-name`
  reportOn(object)({ path, code: 'external-name', message, severity: isOfFile ? 'warning' : 'error' })
  return isOfFile
}
