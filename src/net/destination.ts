/** The destination of an upstream connection. Pools are keyed by `key`, which includes everything that distinguishes connections. */
export interface Destination {
  readonly key: string
  readonly host: string
  readonly port: number
  readonly unixPath?: string
  readonly tls?: DestinationTls
  /**
   * The protocol; default: HTTP/1.1. `negotiated`: under TLS the server chooses from `tls.alpn` (RFC 7301); without TLS HTTP/2 is tried first, and
   * a server that does not answer in it gets requests at `http1`.
   */
  readonly http?: 'http1' | 'http2' | 'negotiated'
  readonly http1?: Destination
  readonly connectTimeoutMs: number
  /** Connections go through a tunnel or a proxy server. */
  readonly tunnel?: DestinationTunnel
  /** Clients choose it: each address of it is checked when it is dialled (decision A-96). */
  readonly chosenByClient?: true
  /** Limits per worker; default: `DEFAULT_BOUNDS`. */
  readonly bounds?: DestinationBounds
  /** TCP keepalive; default: that of specification 2, 2.1 (decision A-41). */
  readonly keepalive?: TcpKeepalive
  /** Interval of PINGs on an HTTP/2 connection that has requests in flight; default: none. */
  readonly pingMs?: number
}

/** Limits of one address per worker (docs/behaviour/wire.md, "Limits"). */
export interface DestinationBounds {
  /** Connections, of all protocols. */
  readonly maxConnections: number
  /** Requests that wait for a connection. */
  readonly maxWaiting: number
}

/** Allows ten thousand concurrent HTTP/1.1 exchanges, and as many waiting requests. */
export const DEFAULT_BOUNDS: DestinationBounds = { maxConnections: 16_384, maxWaiting: 16_384 }

/** TCP keepalive (specification 2, 2.1). */
export interface TcpKeepalive {
  /** Idle time before the first probe. */
  readonly timeMs: number
  readonly intervalMs: number
  /** Unanswered probes before the connection is dropped. */
  readonly retries: number
}

/** A proxy server, and the credential for it. */
export interface ProxyServer {
  /** Its endpoints, at least one. Another one is tried if one cannot be reached. */
  readonly proxies: readonly Destination[]
  /** Value of `Proxy-Authorization`. */
  readonly authorization: string | undefined
}

export type DestinationTunnel = ProxyTunnel | MeshTunnel

/** How connections to a destination use a proxy server. */
export interface ProxyTunnel extends ProxyServer {
  /** `connect`: it opens a tunnel to the destination (RFC 9110, 9.3.6). `forward`: it gets requests in absolute form (RFC 9112, 3.2.2). */
  readonly mode: 'connect' | 'forward'
}

/** Connections go through a tunnel that the pod at the address of the destination accepts (`hbone/`). */
export interface MeshTunnel {
  readonly mode: 'mesh'
  /** Where the pod accepts tunnels. */
  readonly port: number
  /** The SPIFFE id that the pod must prove. */
  readonly identity: string
}

export interface DestinationTls {
  readonly serverName: string | undefined
  /** Certificate authorities in PEM; undefined: those of the system. */
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
  readonly verify: 'full' | 'chain-only' | 'none'
  /** The certificate must have one of these names instead of the host name: DNS names, IP addresses, URIs. */
  readonly subjectAltNames?: readonly string[]
  /** ALPN protocols to offer, in order of preference; undefined: none. */
  readonly alpn: readonly string[] | undefined
  /** Key exchange groups in OpenSSL list format; default: the list of OpenSSL. */
  readonly groups?: string
}
