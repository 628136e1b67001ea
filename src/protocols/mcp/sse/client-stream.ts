import { clock } from '#base/clock.ts'
import { parseJson } from '#base/parse-json.ts'
import { formatSse } from '../../http/sse.ts'
import { errorText, INTERNAL_ERROR, type MessageId } from '../message/json-rpc.ts'
import { encodeEvent } from '../request/mcp-answer.ts'
import { type McpRequest, targetsOf } from '../request/mcp-request.ts'
import { endSession, openSession, type Session } from '../session/session-state.ts'
import { announceEnd } from '../session/session-stream.ts'
import { keepInUse } from '../session/session-use.ts'
import { noteFailure } from '../target/target-failure.ts'
import { BoundedQueue } from '../transport/bounded-queue.ts'
import { prepareClose } from '../transport/close-targets.ts'
import {
  ALIVE_MS,
  endpointOf,
  type StreamAddress,
  type StreamState,
  servingChannel,
  streamChannel,
  type ToServing,
  type ToStream,
} from './stream-address.ts'

/** Messages for the client that wait until their senders have to. */
const MAX_WAITING = 64

/** A client that has not begun a session for so long has none. */
const BEGIN_MS = 60_000

/** Whoever hands on the unsolicited messages of targets says so more often. */
const FOLLOWED_MS = 20_000

/** Why a request has no response. */
const LOST = 'the worker that served the request has ended'

interface ServedRequest {
  readonly id: MessageId
  /** The worker that serves it. */
  readonly thread: string
  readonly sinceMs: number
}

const encoder = new TextEncoder()

/**
 * The stream of a client with the older transport. It lives in the worker that has its connection. The messages of the client are served where
 * they arrive; what they lead to comes here. The session ends with the stream.
 */
export class ClientStream {
  readonly #request: McpRequest
  readonly #address: StreamAddress
  readonly #queue = new BoundedQueue<string>(MAX_WAITING)
  /** The sessions of targets end after the request. */
  readonly #closing: McpRequest
  readonly #closeChannel: () => void
  readonly #unused: { cancel(): void }
  #followedUntilMs = 0
  /** Requests of the client that are being served, by their id as JSON. */
  readonly #served = new Map<string, ServedRequest>()
  #watch: { cancel(): void } | undefined
  #isOver = false
  #session: Session | undefined
  /** Value of `mcp-session-id`. */
  #sessionId: string | undefined
  #release: (() => void) | undefined

  /** @param request the one that has opened the stream */
  constructor(request: McpRequest) {
    const { deps } = request
    this.#request = request
    this.#closing = { ...request, deps: { ...deps, call: deps.lasting().call } }
    this.#address = { key: crypto.randomUUID(), thread: deps.channels.thread }
    this.#closeChannel = deps.channels.open(streamChannel(this.#address.key), (text) =>
      this.#receive(parseJson(text) as unknown as ToStream),
    )
    this.#unused = clock.after(BEGIN_MS, () => this.close())
    deps.signal.addEventListener('abort', () => this.close(), { once: true })
  }

  async *events(): AsyncGenerator<Uint8Array> {
    const { claim } = this.#request.deps
    try {
      yield encoder.encode(formatSse({ event: 'endpoint', data: endpointOf(this.#request, this.#address) }))
      for await (const text of this.#queue.read()) {
        claim.give(text.length)
        yield encodeEvent(text)
      }
    } catch (error) {
      if (!this.#request.deps.signal.aborted) noteFailure(this.#request.exchange, error)
    } finally {
      this.close()
    }
  }

  /** The client has disconnected, or the session has ended: its pending work is abandoned. */
  close(error?: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#unused.cancel()
    this.#watch?.cancel()
    this.#closeChannel()
    this.#queue.end(error)
    const over: ToServing = 'over'
    void this.#request.deps.channels
      .send(servingChannel(this.#address.key), over)
      .then(() => this.#endSession())
      .catch((failure: unknown) => noteFailure(this.#request.exchange, failure))
  }

  async #endSession(): Promise<void> {
    const session = this.#session
    this.#session = undefined
    this.#sessionId = undefined
    this.#release?.()
    if (session === undefined) return
    const { deps } = this.#closing
    endSession(session, deps.table)
    await announceEnd(deps.channels, session.key)
    await prepareClose(this.#closing, targetsOf(this.#closing, session))()
  }

  #receive(told: ToStream): Promise<void> | undefined {
    switch (told.say) {
      case 'ask':
        return this.#tell(told)
      case 'alive':
        return undefined
      case 'message':
        if (told.answers !== undefined) this.#served.delete(JSON.stringify(told.answers))
        return this.#put(told.text)
      case 'session':
        return this.#begin(told.id)
      case 'following':
        this.#followedUntilMs = clock.monotonic() + FOLLOWED_MS
        return undefined
      case 'unfollowed':
        if (told.sessionId === this.#sessionId) this.#followedUntilMs = 0
        return undefined
      case 'end':
        this.close()
        return undefined
    }
  }

  async #tell({ to, thread, follows, serves }: Extract<ToStream, { say: 'ask' }>): Promise<void> {
    if (serves !== undefined) this.#noteServed(serves, thread)
    const isFollowed = this.#followedUntilMs > clock.monotonic()
    const mustFollow = follows && !isFollowed && this.#session !== undefined
    if (mustFollow) this.#followedUntilMs = clock.monotonic() + FOLLOWED_MS
    const state: StreamState = { sessionId: this.#sessionId, mustFollow }
    await this.#request.deps.channels.send(to, JSON.stringify(state), thread)
  }

  #noteServed(id: MessageId, thread: string): void {
    this.#served.set(JSON.stringify(id), { id, thread, sinceMs: clock.monotonic() })
    if (thread !== this.#address.thread) this.#watch ??= clock.after(ALIVE_MS, () => void this.#answerLost())
  }

  /** The client gets an error for each request that a worker served which has ended. */
  async #answerLost(): Promise<void> {
    const { channels } = this.#request.deps
    // A younger one may not have begun to listen.
    const served = [...this.#served.values()].filter(({ sinceMs }) => clock.monotonic() - sinceMs >= ALIVE_MS)
    const alive: ToServing = 'alive'
    for (const thread of new Set(served.map((one) => one.thread))) {
      if (await channels.send(servingChannel(this.#address.key), alive, thread)) continue
      for (const { id } of served.filter((one) => one.thread === thread)) {
        // It may have been answered meanwhile.
        if (this.#served.delete(JSON.stringify(id))) await this.#put(errorText(id, INTERNAL_ERROR, LOST))
      }
    }
    if (this.#isOver) return
    this.#watch = this.#served.size === 0 ? undefined : clock.after(ALIVE_MS, () => void this.#answerLost())
  }

  #put(text: string): Promise<void> | undefined {
    if (this.#request.deps.claim.take(text.length)) return this.#queue.put(text)
    this.close(new Error('no memory is left for the messages of the client'))
    return undefined
  }

  /** A client that begins another session ends the previous one. */
  async #begin(id: string): Promise<void> {
    const { plan, exchange, deps } = this.#request
    const owner = { backend: plan.backend, identity: exchange.identity }
    const session = openSession(id, owner, { sealer: deps.sealer, table: deps.table, nowMs: clock.now() })
    if (session === undefined) return
    const ended = this.#endSession()
    this.#session = session
    this.#sessionId = id
    this.#followedUntilMs = 0
    this.#unused.cancel()
    if (exchange.mcp !== undefined) exchange.mcp.sessionId = id
    this.#release = keepInUse(session, deps.table)
    if (this.#isOver) await this.#endSession()
    await ended
  }
}
