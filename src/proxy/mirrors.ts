import { pause } from '#base/clock.ts'
import type { Calls } from '#calls/calls.ts'
import type { CallRequest } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import type { Head } from '#net/http/head.ts'
import type { RequestBody } from './request-body.ts'

/** Memory of a worker for bodies of copies that their receivers have not taken yet, and for what is unread of responses. */
const MEMORY_BYTES = 16 * 1024 * 1024
/** Bytes by which the receiver of a copy may be behind. */
const MAX_BEHIND_BYTES = 1024 * 1024
/** Time for a copy and its response. */
const DEADLINE_MS = 60_000
/** Time that a shutdown gives the copies in progress. */
const CLOSING_MS = 500

/** A request that may be copied. */
interface Original {
  readonly exchange: Exchange
  readonly stream: { readonly head: Head }
  readonly bodies: { readonly request: RequestBody }
}

/** A copy in progress. */
interface Copy {
  readonly claim: BodyClaim
  readonly abandoned: AbortController
}

/**
 * Sends copies of requests (decision A-52). They are calls of the gateway: they have separate memory and bounds, their responses are read and
 * discarded, and their failures are counted. A request does not wait for its copies, which may outlive it.
 */
export class Mirrors {
  readonly #calls: Calls
  readonly #memory = new BodyMemory(MEMORY_BYTES)
  /** The copies in progress. */
  readonly #open = new Set<AbortController>()

  constructor(calls: Calls) {
    this.#calls = calls
  }

  /** Copies a request to the backends that its policies have chosen; before the policies of its own backend run. */
  send({ exchange, stream, bodies }: Original): void {
    if (exchange.mirrors === undefined || stream.head.upgrade !== '') return
    const { method, target, authority } = exchange.request
    const headers = fieldsOf(exchange.request)
    for (const backend of exchange.mirrors) {
      const abandoned = new AbortController()
      const claim = new BodyClaim(this.#memory)
      const body = bodies.request.copy({ claim, maxBytes: MAX_BEHIND_BYTES }, () => abandoned.abort())
      const request: CallRequest = {
        purpose: 'mirror',
        method,
        path: target,
        host: authority,
        headers,
        body,
        timeoutMs: 0,
        deadlineMs: DEADLINE_MS,
        signal: abandoned.signal,
      }
      void this.#deliver(exchange, backend, request, { claim, abandoned })
    }
  }

  /** Gives up the copies that a short wait does not complete: nobody waits for their responses, so a shutdown must not either. */
  async close(): Promise<void> {
    if (this.#open.size === 0) return
    await pause(CLOSING_MS)
    for (const copy of this.#open) copy.abort()
  }

  async #deliver(exchange: Exchange, backend: string, request: CallRequest, { claim, abandoned }: Copy): Promise<void> {
    this.#open.add(abandoned)
    try {
      const { body } = await this.#calls.ofRequest(exchange, claim)(backend, request)
      for await (const _ of body);
    } catch {
      // The call has counted its failure.
    } finally {
      claim.release()
      this.#open.delete(abandoned)
    }
  }
}

function fieldsOf(head: Head): (readonly [name: string, value: string])[] {
  const fields: (readonly [name: string, value: string])[] = []
  head.each((name, value) => void fields.push([name, value]))
  return fields
}
