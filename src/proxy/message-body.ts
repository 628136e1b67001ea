import type { Decision } from '#engine/request/decide.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type KnownBody, LARGE_BODY, largeBody, wholeBody } from '#exchange/known-body.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { type Collected, PartialBody, type WholeBody } from '#net/body/collect-body.ts'
import type { Abort, ClientStream, ServerStream } from '#net/stream.ts'

/** The request that a body belongs to. */
export interface BodyOwner {
  readonly exchange: Exchange
  readonly decision: Decision
  readonly stream: ServerStream
  readonly upstream: ClientStream | undefined
  readonly context: { readonly bodyMemory: BodyMemory; readonly recordBodyBytes: number }
  /** Memory for both bodies, released at the end of the request. */
  readonly claim: BodyClaim
  /** The request has no response yet, and its client is connected. */
  readonly isWaiting: boolean
  /** The backend ended its response early. */
  breakAttempt(): void
}

/**
 * A body of a request on its way through the gateway:
 *
 *     client ── processed ── copied ── buffered (whole or its beginning), kept for a retry, replaced ── recorded ──► backend
 *     backend ── read and changed by its protocol ── buffered, replaced ── processed ── recorded ──► client
 *
 * Steps that no policy or protocol needs do not exist: then the body streams from one connection to the other. All memory for bodies is claimed
 * here.
 */
export abstract class MessageBody {
  protected readonly owner: BodyOwner
  protected abstract get message(): 'request' | 'response'

  constructor(owner: BodyOwner) {
    this.owner = owner
  }

  hold(bytes: number): void {
    const { claim } = this.owner
    if (bytes > 0) claim.takeAnyway(bytes)
    else claim.give(-bytes)
  }

  keep(bytes: number): Refusal | undefined {
    return this.owner.claim.take(bytes) ? undefined : this.noMemory()
  }

  protected noMemory(): Refusal {
    const { maxBytes } = this.owner.context.bodyMemory
    const detail = `no memory is left for the body of the ${this.message}: the requests of this worker use all ${maxBytes} bytes (GATEWRIGHT_BODY_MEMORY)`
    return reject('body-memory-exhausted', { detail })
  }
}

/** Gets the reason if a body could not be collected. */
export type Collecting = (unread: Refusal | undefined) => void

/** Reports later: the caller may be about to answer the request, or the rest of the body is still being delivered. */
export function finishSoon(done: Collecting, unread: Refusal | undefined): void {
  queueMicrotask(() => done(unread))
}

export type Buffered = Collected | PartialBody

export function isWhole(result: Buffered): result is WholeBody {
  return typeof result === 'object' && !(result instanceof PartialBody)
}

/** A body that was collected, or is too large. */
export function asKnown(result: Buffered): KnownBody {
  if (result instanceof PartialBody) return largeBody(result.prefix)
  return isWhole(result) ? wholeBody(result.bytes) : LARGE_BODY
}

export function isAbort(result: Buffered): result is Abort {
  return typeof result === 'string' && result !== 'too-large' && result !== 'no-memory'
}
