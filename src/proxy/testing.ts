import type { Decision } from '#engine/request/decide.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import type { BodySource, ServerStream } from '#net/stream.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import type { BodyOwner } from './message-body.ts'

/** A request with that body and memory for 1000 bytes, which waits for its response. */
export function ownerOf(body: BodySource, decision: Partial<Decision> = {}) {
  const bodyMemory = new BodyMemory(1000)
  const owner = {
    exchange: exchangeWith({ status: 200 }),
    decision: decision as Decision,
    stream: { body } as ServerStream,
    upstream: undefined,
    context: { bodyMemory, recordBodyBytes: 0 },
    claim: new BodyClaim(bodyMemory),
    isWaiting: true as boolean,
    timesBroken: 0,
    breakAttempt: () => {
      owner.timesBroken++
    },
  } satisfies BodyOwner & { timesBroken: number }
  return owner
}

export function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString()
}
