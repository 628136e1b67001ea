import { type CardLocation, mapPaths, type PathMap, toClientPath } from './card-location.ts'

/** Addresses of gRPC interfaces without a scheme, or with one of the name resolvers of gRPC (gRPC Name Resolution). */
const BARE = /^(?:dns:(?:\/\/[^/]*\/)?|ipv[46]:)?([^/?#@\s\\]+:\d+)\/?$/i

/** Maps addresses in a card to addresses of the gateway, if they are those of the agent. */
export class CardAddresses {
  readonly #location: CardLocation
  readonly #paths: PathMap
  /** `host:port` of all interfaces that the gateway serves. */
  readonly #own: Set<string>

  constructor(location: CardLocation) {
    this.#location = location
    this.#paths = mapPaths(location)
    this.#own = new Set()
    this.addOwn(location.backendAuthority)
  }

  /** The agent calls itself by this address. A value that is no address is ignored. */
  addOwn(address: string): void {
    const own = this.#parse(address)
    if (own !== undefined) this.#own.add(authorityOf(own.url))
  }

  /**
   * The address of the gateway for an address of the agent; undefined for other values.
   * @param isGrpc the path of a call is that of its gRPC method, so that the address has none
   */
  toClient(address: string, isGrpc = false): string | undefined {
    const parsed = this.#parse(address)
    if (parsed === undefined || !this.#own.has(authorityOf(parsed.url))) return undefined
    const { clientOrigin } = this.#location
    const clientAuthority = clientOrigin.slice(clientOrigin.indexOf('://') + 3)
    if (parsed.isBare) return withPort(clientAuthority, clientOrigin.startsWith('https:') ? 443 : 80)
    const { url } = parsed
    const origin = isHttp(url) ? clientOrigin : `${url.protocol}//${clientAuthority}`
    return isGrpc ? origin : origin + toClientPath(this.#paths, url.pathname) + url.search + url.hash
  }

  /** The scheme of bare addresses does not matter. An address that begins with a slash is relative to the card. */
  #parse(address: string): { readonly url: URL; readonly isBare: boolean } | undefined {
    const bare = BARE.exec(address.trim())?.[1]
    if (bare !== undefined) {
      const url = URL.parse(`http://${bare}`)
      return url === null ? undefined : { url, isBare: true }
    }
    const { backendAuthority, upstreamPath } = this.#location
    const base = /^[/\\]/.test(address.trim()) ? `http://${backendAuthority}${upstreamPath}` : undefined
    const url = URL.parse(address, base)
    return url === null || url.host === '' ? undefined : { url, isBare: false }
  }
}

function isHttp({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:'
}

/** With an explicit port, so that the scheme does not matter: the gateway may use another scheme to the agent. */
function authorityOf({ hostname, port, protocol }: URL): string {
  const isSecure = protocol === 'https:' || protocol === 'wss:' || protocol === 'grpcs:'
  return `${hostname.toLowerCase().replace(/\.$/, '')}:${port || (isSecure ? '443' : '80')}`
}

function withPort(authority: string, port: number): string {
  return /:\d+$/.test(authority) ? authority : `${authority}:${port}`
}
