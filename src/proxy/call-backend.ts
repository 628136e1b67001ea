import type { BackendPlace, EndpointPlace } from '#engine/backend-place.ts'
import { runChain } from '#engine/chain.ts'
import { type Call, CallError, type CallRequest, type CallResponse } from '#exchange/call.ts'
import { type BodyReader, Exchange, type Identity } from '#exchange/exchange.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { FixedBody } from '#net/body/fixed-body.ts'
import type { FailureCode } from '#net/failure.ts'
import { Head } from '#net/http/head.ts'
import {
  type Abort,
  BODY_LENGTH,
  BODY_NONE,
  type BodySink,
  type BodySource,
  type ClientHandler,
  type ClientPool,
  type ClientStream,
  type Framing,
} from '#net/stream.ts'
import type { InFlight } from './in-flight.ts'

/** What a piece costs besides its bytes: an answer may come in very many. */
const PIECE_BYTES = 64

/** More than this waits in memory for nobody: the upstream is paused. */
const MAX_QUEUED_BYTES = 262_144

/**
 * Calls to the sections of a request's backend (MCP targets), with the backend policies that belong to each. What they need of the
 * request is taken now: some calls end a session after the client has left and its connection serves another request.
 */
export function callOf(flight: InFlight): Call {
  const { backend, exchange, context, claim } = flight
  const caller = captureCaller(exchange)
  return async (destination, request) => {
    const endpoint = findEndpoint(backend, destination)
    if (endpoint === undefined || endpoint.refusal !== undefined) throw new CallError('no-endpoint')
    const learn = (failure: FailureCode) => context.facts.learn(backend.item.key, endpoint.label, failure)
    return sendCall(
      { pool: context.pool, endpoint, claim, learn },
      await prepareHead(caller, endpoint, request),
      request,
    )
  }
}

/** Who asked, for the backend policies of a call. */
interface Caller {
  readonly peer: Exchange['peer']
  readonly place: Exchange['place']
  readonly identity: Identity
  readonly metadata: Exchange['metadata']
  readonly gateway: Exchange['gateway']
  readonly workloads: Exchange['workloads']
}

function captureCaller({ peer, place, identity, metadata, gateway, workloads }: Exchange): Caller {
  return { peer, place, identity: { ...identity }, metadata, gateway, workloads }
}

function findEndpoint({ item, groups }: BackendPlace, destination: string): EndpointPlace | undefined {
  for (const group of groups) {
    for (const endpoint of group) if (`${item.key}/${endpoint.section}` === destination) return endpoint
  }
  return undefined
}

/** The head of a call, after the backend policies of its target. They see who the caller is, but not the caller's request. */
async function prepareHead(caller: Caller, endpoint: EndpointPlace, request: CallRequest): Promise<Head> {
  const head = Head.request(request.method, request.path)
  head.set('host', endpoint.hostname ?? endpoint.label)
  for (const [name, value] of request.headers) if (name !== 'host') head.append(name, value)
  const call = new Exchange()
  call.reset(head, caller.peer)
  call.bodies = WHOLE
  call.place = caller.place
  call.gateway = caller.gateway
  call.workloads = caller.workloads
  Object.assign(call.identity, caller.identity)
  call.metadata = caller.metadata
  call.requestBody = request.body ?? new Uint8Array(0)
  const outcome = await runChain(endpoint.chain, call, { reached: -1 })
  if (outcome !== undefined) throw new CallError('backend-auth-failed')
  return call.request
}

/** The body of a call is there from the start, and nobody reads its response as a whole. */
const WHOLE: BodyReader = {
  readRequestBody: () => Promise.resolve(undefined),
  readResponseBody: () => Promise.resolve(undefined),
}

/** Where a call goes, and who hears why it failed. */
interface CallWay {
  /** Memory for what of the answer has not been read. */
  readonly claim: BodyClaim
  readonly pool: ClientPool
  readonly endpoint: EndpointPlace
  readonly learn: (failure: FailureCode) => void
}

function sendCall({ pool, endpoint, claim, learn }: CallWay, head: Head, request: CallRequest): Promise<CallResponse> {
  return new Promise((resolve, reject) => {
    if (request.signal.aborted) return reject(new CallError('cancelled'))
    const { body } = request
    const length = body?.length ?? 0
    const handler: ClientHandler = {
      response: (stream) => {
        settled()
        resolve(new UpstreamResponse(stream, claim, request.signal))
      },
      informed: () => {},
      upgraded: (stream) => {
        settled()
        stream.cancel()
        reject(new CallError('protocol-error'))
      },
      replayed: () => {},
      failed: (_, { code, detail }) => {
        settled()
        learn(code)
        reject(new CallError(code, detail))
      },
    }
    const framing: Framing = length === 0 ? { kind: BODY_NONE, length: -1 } : { kind: BODY_LENGTH, length }
    const timeoutMs = endpoint.requestTimeoutMs || request.timeoutMs
    const stream = pool.send(endpoint.destinations.usual, head, framing, timeoutMs, handler, undefined)
    const cancel = () => {
      stream.cancel()
      reject(new CallError('cancelled'))
    }
    const settled = () => request.signal.removeEventListener('abort', cancel)
    request.signal.addEventListener('abort', cancel, { once: true })
    if (body !== undefined && length > 0) new FixedBody(body).pipe(stream.request)
  })
}

/** An answer to a call; its body is read piece by piece, and the upstream waits while nobody reads. */
class UpstreamResponse implements CallResponse, BodySink {
  readonly status: number
  readonly headers: [name: string, value: string][] = []
  readonly takesFramed = false
  source: BodySource | null = null
  readonly #stream: ClientStream
  readonly #signal: AbortSignal
  readonly #claim: BodyClaim
  #queue: Uint8Array[] = []
  #queuedBytes = 0
  #ended = false
  #failure: Abort | undefined
  #wake: (() => void) | undefined

  constructor(stream: ClientStream, claim: BodyClaim, signal: AbortSignal) {
    const { head, body } = stream
    this.status = head.status
    head.each((name, value) => this.headers.push([name, value]))
    this.#claim = claim
    this.#stream = stream
    this.#signal = signal
    signal.addEventListener('abort', this.#cancelled, { once: true })
    body.pipe(this)
  }

  header(lowerName: string): string | undefined {
    return this.headers.find(([name]) => name === lowerName)?.[1]
  }

  get backed(): boolean {
    return this.#queuedBytes >= MAX_QUEUED_BYTES
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    this.#queue.push(Uint8Array.prototype.slice.call(buffer, start, end))
    this.#count(end - start + PIECE_BYTES)
    this.#wake?.()
  }

  end(): void {
    this.#close()
  }

  abort(why: Abort): void {
    if (this.#ended) return
    this.#failure = why
    this.#stream.cancel()
    this.#close()
  }

  readonly #cancelled = (): void => this.abort('cancelled')

  /** Nothing more comes: a signal that outlives the call forgets it. */
  #close(): void {
    this.#ended = true
    this.#signal.removeEventListener('abort', this.#cancelled)
    this.#wake?.()
  }

  /** Ending it early gives the upstream connection up, also when nothing was read yet. */
  get body(): AsyncIterable<Uint8Array> {
    return { [Symbol.asyncIterator]: () => ({ next: () => this.#next(), return: () => this.#giveUp() }) }
  }

  /** What has come is kept even where there is no room: whoever reads it asks for room, and gives up then. */
  #count(bytes: number): void {
    this.#queuedBytes += bytes
    if (bytes > 0) this.#claim.takeAnyway(bytes)
    else this.#claim.give(-bytes)
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    for (;;) {
      const piece = this.#queue.shift()
      if (piece !== undefined) {
        const wasBacked = this.backed
        this.#count(-piece.length - PIECE_BYTES)
        if (wasBacked && !this.backed) this.source?.resume()
        return { done: false, value: piece }
      }
      if (this.#failure !== undefined) throw new CallError(this.#failure)
      if (this.#ended) return { done: true, value: undefined }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  async #giveUp(): Promise<IteratorResult<Uint8Array>> {
    this.abort('cancelled')
    this.#queue = []
    this.#count(-this.#queuedBytes)
    return { done: true, value: undefined }
  }
}
