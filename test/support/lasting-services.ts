import type { Call } from '#exchange/call.ts'
import { roomFor } from '#net/testing/room-for.ts'
import type { LastingServices } from '#protocols/backend-protocol.ts'

/** Services that outlast a request, with unlimited memory. */
export function lastingServices(call: Call): () => LastingServices {
  const { signal: draining } = new AbortController()
  return () => ({ call, claim: roomFor(0).claim, draining })
}
