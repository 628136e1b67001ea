import type { Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { Destination, DestinationTls } from '#net/stream.ts'
import type { BackendTcpSetting } from '#policies/backend/tcp/compile.ts'
import type { BackendTlsSetting } from '#policies/backend/tls/compile.ts'
import { POLICIES } from '#policies/index.ts'
import type { CompileContext } from '#policies/policy.ts'
import type { EvictionSettings } from '#state/endpoint-health.ts'
import type { BackendUse } from './backend-scope.ts'
import { compileSetting } from './build-chain.ts'
import type { Address } from './find-addresses.ts'
import type { MergedField } from './merge.ts'

/** How one address is connected to and judged: the settings of `backend` that are no steps. */
export interface Connection {
  readonly destination: Destination
  /** A setting that cannot be honoured: nothing is sent. */
  readonly refusal: Refusal | undefined
  readonly requestTimeoutMs: number
  readonly eviction: EvictionSettings | undefined
  readonly isUnhealthy: (exchange: Exchange, status: number | undefined) => boolean
}

/** An address, and what is sent there. */
interface Way extends Pick<BackendUse, 'carries'> {
  readonly address: Address
}

export function compileConnection(
  way: Way,
  fields: ReadonlyMap<string, MergedField>,
  context: CompileContext,
): Connection {
  const { backend } = POLICIES
  const tcp = compileSetting(backend.tcp, fields, context)
  const http = compileSetting(backend.http, fields, context)
  const tls = compileSetting(backend.tls, fields, context)
  const tunnel = compileSetting(backend.tunnel, fields, context)
  return {
    destination: toDestination(way, tls, tcp),
    refusal: http.refusal ?? tunnel?.refusal ?? tls?.refusal ?? unanswerable(way, fields),
    requestTimeoutMs: http.requestTimeoutMs,
    ...compileSetting(backend.health, fields, context),
  }
}

/** Nobody can be asked whether bytes may pass; letting them pass unasked would drop a protection. */
function unanswerable({ carries }: Way, fields: ReadonlyMap<string, MergedField>): Refusal | undefined {
  if (carries === 'requests' || !fields.has('extAuth')) return undefined
  return reject('policy-invalid', { detail: 'backend.extAuth cannot be asked about a connection' })
}

/** The key tells connections apart that must not be shared: other address, other TLS identity. */
function toDestination(
  { address, carries }: Way,
  tls: BackendTlsSetting | undefined,
  { connectTimeoutMs, keepalive }: BackendTcpSetting,
): Destination {
  const { host, port, unixPath } = address
  const destination = { host, port, connectTimeoutMs, keepalive, ...(unixPath === undefined ? {} : { unixPath }) }
  const alpn = carries === 'requests' ? ALPN : undefined
  const secured = tls === undefined ? systemTls(address, alpn) : configuredTls(address, tls, alpn)
  const where = unixPath ?? `${host}:${port}`
  if (secured === undefined) return { ...destination, key: where }
  return { ...destination, key: `${where} ${JSON.stringify(secured)}`, tls: secured }
}

/** The HTTP/1.1 that we speak is all that may be agreed on. What relayed bytes speak, nobody here knows. */
const ALPN = ['http/1.1']

function systemTls(address: Address, alpn: DestinationTls['alpn']): DestinationTls | undefined {
  if (!address.tls) return undefined
  return { serverName: address.hostname, ca: undefined, cert: undefined, key: undefined, verify: 'full', alpn }
}

function configuredTls(address: Address, tls: BackendTlsSetting, alpn: DestinationTls['alpn']): DestinationTls {
  const { ca, cert, key, verify } = tls
  return { serverName: tls.serverName ?? address.hostname, ca, cert, key, verify, alpn: tls.alpn ?? alpn }
}
