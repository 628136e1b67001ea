import { POLICIES } from '#api/policy-fields.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { ProxyServer } from '#net/destination.ts'
import type { CompileContext } from '#policies/policy.ts'
import type { Address } from '#protocols/address.ts'
import type { EvictionSettings } from '#state/endpoint-health.ts'
import { compileSetting } from '../merge/build-chain.ts'
import type { MergedField } from '../merge/merge.ts'
import type { BackendUse } from './backend-context.ts'
import type { DestinationSettings } from './destinations.ts'

/** Connection and health settings of one address: the fields of section `backend` that are not steps. */
export interface Connection {
  readonly settings: DestinationSettings
  /** Set if a setting cannot be applied; then nothing is sent. */
  readonly refusal: Refusal | undefined
  readonly requestTimeoutMs: number
  readonly eviction: EvictionSettings | undefined
  readonly isUnhealthy: (exchange: Exchange, status: number) => boolean
}

interface ConnectionUse extends Pick<BackendUse, 'carries'>, Pick<Address, 'tls'> {
  /** The proxy server, or why it cannot be used; undefined: direct connections. */
  readonly tunnel: ProxyServer | Refusal | undefined
}

export function compileConnection(
  use: ConnectionUse,
  fields: ReadonlyMap<string, MergedField>,
  context: CompileContext,
): Connection {
  const { backend } = POLICIES
  const tcp = compileSetting(backend.tcp, fields, context)
  const http = compileSetting(backend.http, fields, context)
  const tls = compileSetting(backend.tls, fields, context)
  const client = compileSetting(backend.clientCertificate, fields, context)
  const needsClient = tls === undefined ? use.tls : tls.cert === undefined
  // A destination behind a proxy server is never connected to directly.
  const [tunnel, broken] = use.tunnel !== undefined && 'kind' in use.tunnel ? [undefined, use.tunnel] : [use.tunnel]
  return {
    settings: { tcp, tls, client: client?.pair, version: http.version, tunnel },
    refusal: broken ?? tls?.refusal ?? (needsClient ? client?.refusal : undefined) ?? refuseExtAuth(use, fields),
    requestTimeoutMs: http.requestTimeoutMs,
    ...compileSetting(backend.health, fields, context),
  }
}

/** External authorization works on requests only. Relayed connections are refused, because they would bypass it. */
function refuseExtAuth(
  { carries }: Pick<BackendUse, 'carries'>,
  fields: ReadonlyMap<string, MergedField>,
): Refusal | undefined {
  if (carries === 'requests' || !fields.has('extAuth')) return undefined
  return reject('policy-invalid', { detail: 'backend.extAuth does not support connections' })
}
