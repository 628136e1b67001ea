/** Where an upstream connection goes. Pools are keyed by `key`, which covers everything that makes connections differ. */
export interface Destination {
  readonly key: string
  readonly host: string
  readonly port: number
  readonly unixPath?: string
  readonly tls?: DestinationTls
  /** What is spoken; HTTP/1.1 without it. `negotiated`: what the server chooses of `tls.alpn` (RFC 7301). */
  readonly http?: 'http1' | 'http2' | 'negotiated'
  readonly connectTimeoutMs: number
  /** How much of a worker it may take; without it `DEFAULT_BOUNDS`. */
  readonly bounds?: DestinationBounds
  /** TCP keepalive; without it the defaults of specification 2, 2.1 (decision A-41). */
  readonly keepalive?: TcpKeepalive
}

/** What one address may take of a worker (docs/behaviour/wire.md, "Limits"). */
export interface DestinationBounds {
  /** Connections, whatever they carry. */
  readonly maxConnections: number
  /** Requests that wait for one. */
  readonly maxWaiting: number
}

/** Room for ten thousand open streams of HTTP/1.1, and for as many that wait. */
export const DEFAULT_BOUNDS: DestinationBounds = { maxConnections: 16_384, maxWaiting: 16_384 }

/** TCP keepalive (specification 2, 2.1). */
export interface TcpKeepalive {
  /** Idle time before the first probe. */
  readonly timeMs: number
  readonly intervalMs: number
  /** Unanswered probes before the connection is dropped. */
  readonly retries: number
}

export interface DestinationTls {
  readonly serverName: string | undefined
  /** PEM; undefined: the system's certificate authorities. */
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
  readonly verify: 'full' | 'chain-only' | 'none'
  /** Names of which the certificate must carry one, instead of the host's: DNS names, IP addresses, URIs. */
  readonly subjectAltNames?: readonly string[]
  /** Protocols offered, in order; undefined: none. */
  readonly alpn: readonly string[] | undefined
  /** Key exchange groups as OpenSSL lists them; its own list without it. */
  readonly groups?: string
}
