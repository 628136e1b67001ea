import { type Refusal, reject } from '#exchange/outcome.ts'
import type { ForwardRules } from '#net/connect/forward-rules.ts'
import type { DestinationBounds } from '#net/destination.ts'
import { type Address, type HostAndPort, isIpAddress, requestedAddress } from '#protocols/address.ts'
import type { Destinations } from './destinations.ts'

/** Where an attempt connects to. */
export interface Place {
  /** `host:port`, or the path of a socket; for log and records. */
  readonly label: string
  readonly destinations: Destinations
  /** Connections go through tunnels to a pod of the mesh. */
  readonly meshPod?: TunnelledPod
}

/** A pod of the mesh. */
export interface TunnelledPod {
  /** `<namespace>/<name>` */
  readonly name: string
  /** The SPIFFE id that it must prove. */
  readonly identity: string
}

/** A place that a request named. */
interface NamedPlace extends Place {
  readonly named: HostAndPort
}

/** Maximum number of places that an endpoint remembers. Clients name them. */
const MAX_KNOWN = 256

export interface RequestedPlacesOptions {
  readonly compile: (address: Address) => Destinations
  /** Connections use TLS. */
  readonly secured: boolean
  /** A proxy server resolves names, so that their addresses cannot be judged. */
  readonly tunnelled: boolean
  readonly bounds: DestinationBounds | undefined
  readonly rules: ForwardRules
}

/** Places that requests name: the host of the request, or the server name of a TLS connection (specification 1, 2.3; decisions ). */
export class RequestedPlaces {
  readonly #options: RequestedPlacesOptions
  /** By authority; the one that was used first is forgotten first. */
  readonly #known = new Map<string, NamedPlace>()

  constructor(options: RequestedPlacesOptions) {
    this.#options = options
  }

  get bounds(): DestinationBounds | undefined {
    return this.#options.bounds
  }

  /** The place that an authority names. Its address is judged again when it is dialled, since a name may have another one then. */
  find(authority: string): Place | Refusal {
    const known = this.#known.get(authority)
    if (known !== undefined && !this.#options.tunnelled) return known
    const named = known?.named ?? readAuthority(authority, this.#options.secured ? 443 : 80)
    if ('kind' in named) return named
    const { host, port } = named
    // Behind a proxy server nothing is judged later: the gateway may have opened a listener at a known place.
    const refused = this.#refuse(host, port)
    if (refused !== undefined) return reject('destination-not-allowed', { detail: refused })
    if (known !== undefined) return known
    const label = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
    const place = { label, destinations: this.#options.compile(requestedAddress(named)), named }
    if (this.#known.size >= MAX_KNOWN) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(authority, place)
    return place
  }

  #refuse(host: string, port: number): string | undefined {
    const { rules, tunnelled } = this.#options
    if (isIpAddress(host)) return rules.refuse(host, port)
    return tunnelled ? rules.refuseName(host, port) : undefined
  }
}

/** The place of a request at an endpoint, after everything that may change its host. */
export function findPlace(place: Place | RequestedPlaces, authority: string): Place | Refusal {
  return place instanceof RequestedPlaces ? place.find(authority) : place
}

export function isRefusal(found: Place | Refusal): found is Refusal {
  return 'kind' in found
}

const AUTHORITY = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([-._0-9A-Za-z]{1,254}))(?::(\d{1,5})?)?$/
const MAX_LABEL = 63
const MAX_NAME = 253
/** The last label of an IPv4 address in any spelling (WHATWG URL, "ends in a number"). */
const NUMERIC_END = /(?:^|\.)(?:\d+|0[xX][0-9A-Fa-f]*)$/

function readAuthority(authority: string, defaultPort: number): HostAndPort | Refusal {
  const [, six, name = ''] = AUTHORITY.exec(authority) ?? []
  const given = AUTHORITY.exec(authority)?.[3]
  if (six === undefined && name === '') return invalid(authority)
  const port = given === undefined ? defaultPort : Number(given)
  if (port < 1 || port > 65_535) return invalid(authority)
  if (six !== undefined) return { host: six.toLowerCase(), port }
  // Without the final dot of an absolute name, as in server names (RFC 6066, 3).
  const host = (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase()
  if (isIpAddress(host)) return { host, port }
  // Resolvers read 0x7f.1, 0177.0.0.1 and 2130706433 as addresses.
  if (NUMERIC_END.test(host)) {
    return reject('destination-not-allowed', { detail: `${host} is not the usual spelling of an address` })
  }
  const labels = host.split('.')
  const isName = host.length <= MAX_NAME && labels.every((label) => label.length > 0 && label.length <= MAX_LABEL)
  return isName ? { host, port } : invalid(authority)
}

function invalid(authority: string): Refusal {
  const detail = authority === '' ? 'no destination was named' : `${authority.slice(0, 100)} names no destination`
  return reject('host-invalid', { detail })
}
