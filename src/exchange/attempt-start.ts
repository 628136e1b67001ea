import type { Json } from '#base/json.ts'
import type { Exchange } from './exchange.ts'

/** The state of a request that the steps of an attempt can change. */
export type AttemptStart = Pick<
  Exchange,
  'request' | 'newRequestBody' | 'scheme' | 'hostRewritten' | 'metadata' | 'extauthz' | 'queuedHeaders'
>

/**
 * Copies the state before the first attempt. Each attempt begins with it, because policies of one endpoint must not affect the request to
 * another one.
 */
export function saveAttemptStart(exchange: AttemptStart): AttemptStart {
  const { request, newRequestBody, scheme, hostRewritten, metadata, extauthz, queuedHeaders } = exchange
  return {
    request: request.clone(),
    newRequestBody,
    scheme,
    hostRewritten,
    metadata: metadata && copyOf(metadata),
    extauthz: extauthz && copyOf(extauthz),
    queuedHeaders: queuedHeaders && [...queuedHeaders],
  }
}

/** Begins another attempt. */
export function restoreAttemptStart(exchange: AttemptStart, start: AttemptStart): void {
  Object.assign(exchange, saveAttemptStart(start))
}

/** Without a prototype, because policies choose the names. */
function copyOf(values: Record<string, Json>): Record<string, Json> {
  return Object.assign(Object.create(null) as Record<string, Json>, values)
}
