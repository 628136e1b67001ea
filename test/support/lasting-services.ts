import type { Call } from '#exchange/call.ts'
import { roomFor } from '#net/testing/room-for.ts'
import type { LastingServices } from '#protocols/backend-protocol.ts'

/** Services that outlast a request, with unlimited memory. @param draining aborted when the worker stops */
export function lastingServices(call: Call, draining = new AbortController().signal): () => LastingServices {
  return () => ({ call, claim: roomFor(0).claim, draining })
}
