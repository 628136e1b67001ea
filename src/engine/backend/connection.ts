import { POLICIES } from '#api/policy-fields.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { CompileContext } from '#policies/policy.ts'
import type { EvictionSettings } from '#state/endpoint-health.ts'
import { compileSetting } from '../merge/build-chain.ts'
import type { MergedField } from '../merge/merge.ts'
import { compileDestinations, type Destinations, type Way } from './destinations.ts'

/** How one address is connected to and judged: the settings of `backend` that are no steps. */
export interface Connection {
  readonly destinations: Destinations
  /** A setting that cannot be honoured: nothing is sent. */
  readonly refusal: Refusal | undefined
  readonly requestTimeoutMs: number
  readonly eviction: EvictionSettings | undefined
  readonly isUnhealthy: (exchange: Exchange, status: number) => boolean
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
    destinations: compileDestinations(way, { tcp, tls, version: http.version }),
    refusal: tunnel?.refusal ?? tls?.refusal ?? unanswerable(way, fields),
    requestTimeoutMs: http.requestTimeoutMs,
    ...compileSetting(backend.health, fields, context),
  }
}

/** Nobody can be asked whether bytes may pass; letting them pass unasked would drop a protection. */
function unanswerable({ carries }: Way, fields: ReadonlyMap<string, MergedField>): Refusal | undefined {
  if (carries === 'requests' || !fields.has('extAuth')) return undefined
  return reject('policy-invalid', { detail: 'backend.extAuth does not support connections' })
}
