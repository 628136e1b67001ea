import { isLinkLocal, parseIpAddress } from '#base/ip-address.ts'
import type { Resource } from '#store/resources/resource.ts'
import { duplicateField, invalidField } from '../kinds/field-errors.ts'
import type { Cause, WrittenObject } from '../kinds/served-kind.ts'
import { formProblem, LABEL_NAME, QUALIFIED_NAME, SUBDOMAIN_NAME } from '../schemas/name-forms.ts'

interface Endpoint {
  readonly addresses: readonly string[]
  readonly hostname?: string
}

interface Port {
  readonly name?: string
  readonly appProtocol?: string
}

/** Rules for EndpointSlices (Kubernetes, `ValidateEndpointSlice`). Addresses of the machine itself are permitted: gateways run there. */
export function checkEndpointSlice(object: WrittenObject, before: Resource | undefined): readonly Cause[] {
  const { addressType, endpoints, ports } = object as WrittenObject & {
    readonly addressType: string
    readonly endpoints: readonly Endpoint[]
    readonly ports: readonly Port[]
  }
  const causes: Cause[] = []
  if (before !== undefined && addressType !== before.addressType)
    causes.push(invalidField('addressType', addressType, 'field is immutable'))
  endpoints.forEach(({ addresses, hostname }, index) => {
    addresses.forEach((address, position) => {
      const problem = addressProblem(address, addressType)
      if (problem !== undefined)
        causes.push(invalidField(`endpoints[${index}].addresses[${position}]`, address, problem))
    })
    const ofHostname = hostname === undefined ? undefined : formProblem(hostname, LABEL_NAME)
    if (ofHostname !== undefined) causes.push(invalidField(`endpoints[${index}].hostname`, hostname, ofHostname))
  })
  const names = new Set<string>()
  ports.forEach(({ name = '', appProtocol }, index) => {
    const problem = name === '' ? undefined : formProblem(name, LABEL_NAME)
    if (problem !== undefined) causes.push(invalidField(`ports[${index}].name`, name, problem))
    if (names.has(name)) causes.push(duplicateField(`ports[${index}].name`, name))
    names.add(name)
    const ofProtocol = appProtocol === undefined ? undefined : formProblem(appProtocol, QUALIFIED_NAME)
    if (ofProtocol !== undefined) causes.push(invalidField(`ports[${index}].appProtocol`, appProtocol, ofProtocol))
  })
  return causes
}

function addressProblem(address: string, addressType: string): string | undefined {
  if (addressType === 'FQDN') return formProblem(address, SUBDOMAIN_NAME)
  const isAddress = parseIpAddress(address) !== undefined
  const isOfType = isAddress && address.includes(':') === (addressType === 'IPv6')
  if (isOfType)
    return isLinkLocal(address) ? 'may not be in the link-local range (169.254.0.0/16, fe80::/10)' : undefined
  return isAddress
    ? `must be an ${addressType} address`
    : 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
}
