import ipaddr from 'ipaddr.js'
import type { MeshWorkload } from '#net/hbone/mesh-id.ts'
import type { ImpliedCloud } from '#policies/backend/auth/implied-auth.ts'
import type { BackendHttpSpec } from '#policies/backend/http/schema.ts'
import type { DestinationSigning } from '#policies/policy.ts'

/** An address to connect to. */
export interface Address {
  readonly host: string
  readonly port: number
  readonly unixPath: string | undefined
  /** Clients choose host and port (`dynamicForwardProxy`). Until a request does, they are empty. */
  readonly chosenByClient?: true
  /** The provider or MCP target that it belongs to. */
  readonly section: string | undefined
  /** The section may have several addresses, and each request to it uses one of them. */
  readonly isReplica?: true
  /** Host that an automatic host rewrite sets; undefined for IP addresses and sockets (decision A-91). */
  readonly hostname: string | undefined
  /** TLS with the system's certificate authorities unless a `tls` policy says otherwise. */
  readonly tls: boolean
  /** What signatures of requests must be valid for, if the type of the backend determines it. */
  readonly signing: DestinationSigning | undefined
  /** The cloud whose credentials from the environment of the gateway are used if no `auth` policy applies (decision B12). */
  readonly ambient: ImpliedCloud | undefined
  /** Path and query of every request; undefined: those of the request (decision B91). */
  readonly target: string | undefined
  /** The version of HTTP that the port of a Service declares. */
  readonly version: BackendHttpSpec['version']
  /** The pod with the address, if it is in the mesh. */
  readonly meshPod?: MeshWorkload & { readonly name: string }
}

export interface HostAndPort {
  readonly host: string
  readonly port: number
}

/** An endpoint of a Service. */
export type EndpointPlace = HostAndPort & Pick<Address, 'meshPod'>

const NOWHERE: Address = {
  host: '',
  port: 0,
  unixPath: undefined,
  section: undefined,
  hostname: undefined,
  tls: false,
  signing: undefined,
  ambient: undefined,
  target: undefined,
  version: undefined,
}

/** The address of a host; brackets around an IPv6 address are removed. */
export function hostAddress({ host, port }: HostAndPort, section?: string, tls = false): Address {
  const bare = host.startsWith('[') ? host.slice(1, -1) : host
  return { ...NOWHERE, host: bare, port, section, hostname: hostnameOf(bare), tls }
}

/** The address of an endpoint of a Service. */
export function endpointAddress({ host, port, meshPod }: EndpointPlace, section?: string): Address {
  const address = hostAddress({ host, port }, section)
  return meshPod === undefined ? address : { ...address, meshPod }
}

/** Pages of other sites can reach a loopback listener through the user's browser (decision B81). @param address an IP address */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || address.startsWith('127.')
}

/**
 * The name of a host in `Host` and in TLS: without the final dot, which keeps a name from being completed in lookups (RFC 6066, 3). Undefined
 * for IP addresses.
 */
export function hostnameOf(host: string): string | undefined {
  if (isIpAddress(host)) return undefined
  return host.endsWith('.') ? host.slice(0, -1) : host
}

/** Whether a host is an IP address, as opposed to a name. */
export function isIpAddress(host: string): boolean {
  return host.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(host)
}

/** The place of an endpoint whose requests name their destinations. */
export const ANY_ADDRESS: Address = { ...NOWHERE, chosenByClient: true }

/** The address that a request names. */
export function requestedAddress(named: HostAndPort): Address {
  return { ...hostAddress(named), chosenByClient: true }
}

/** The name of an address in log, metrics and status. It is `*` for all that clients choose, so that they create no names. */
export function labelOf({ host, port, unixPath, chosenByClient }: Address): string {
  return chosenByClient === true ? '*' : (unixPath ?? `${host}:${port}`)
}

export function socketAddress(unixPath: string): Address {
  return { ...NOWHERE, unixPath }
}
