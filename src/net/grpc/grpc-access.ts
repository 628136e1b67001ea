import { createHash } from 'node:crypto'
import type { Destination } from '../destination.ts'

/** An open way to a gRPC server. It is a secret. */
export interface GrpcAccess {
  readonly destination: Destination
  readonly authority: string
  readonly authorization: string | undefined
}

export interface GrpcCredentials {
  /** Certificate authorities of the server in PEM; undefined: those of the system. */
  readonly ca: string | undefined
  /** The name in its certificate; undefined: the host of the URL. */
  readonly serverName?: string
  /** Undefined: none is sent. */
  readonly token: string | undefined
}

const CONNECT_MS = 10_000
/** A server that does not answer for a minute is gone. TCP does not notice that while it repeats what was not acknowledged. */
const KEEPALIVE = { timeMs: 30_000, intervalMs: 10_000, retries: 3 }
const PING_MS = 60_000

/** @param url with scheme https or http; of its path, nothing is used */
export function grpcAccess(url: URL, { ca, serverName, token }: GrpcCredentials): GrpcAccess {
  const isSecure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const tls = {
    ...{ serverName: serverName ?? host, ca, cert: undefined, key: undefined },
    ...({ verify: 'full', alpn: ['h2'] } as const),
  }
  return {
    authority: url.host,
    authorization: token === undefined ? undefined : `Bearer ${token}`,
    destination: {
      key: `gRPC ${url.origin} ${createHash('sha256')
        .update(ca ?? '')
        .digest('hex')}`,
      host,
      port: Number(url.port || (isSecure ? 443 : 80)),
      http: 'http2',
      connectTimeoutMs: CONNECT_MS,
      keepalive: KEEPALIVE,
      pingMs: PING_MS,
      ...(isSecure && { tls }),
    },
  }
}
