import { clock } from '#base/clock.ts'
import type { PipedBody } from '#exchange/call.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import { COMMENT, SILENCE_MS } from '#net/body/keep-alive-sink.ts'
import { BODY_CHUNKED, type BodySink, type BodySource } from '#net/stream.ts'
import { WheelTimer, workerWheel } from '#net/timer-wheel.ts'
import { encodeEvent } from '../request/mcp-answer.ts'
import { type McpRequest, targetsOf } from '../request/mcp-request.ts'
import type { OpenStream } from '../session/open-streams.ts'
import { isEnded, type Session } from '../session/session-state.ts'
import { announceTargets, listenForNews, parseNews, type StreamNews } from '../session/session-stream.ts'
import { noteUse, REPEAT_MS } from '../session/session-use.ts'
import { noteFailure } from '../target/target-failure.ts'
import type { EventReceiver, EventSource, StreamEvent } from './event-source.ts'

/** Maximum number of news for a client that does not read. Further ones are dropped, because they only say that lists have changed. */
const MAX_WAITING_NEWS = 16

const DONE = { done: true, value: undefined } as const

export interface StreamParts {
  readonly request: McpRequest
  /** undefined: the client has no session, and listens to what it has named in a request. */
  readonly session: Session | undefined
  readonly sources: readonly EventSource[]
  /** Goes on when its sources have ended. Otherwise it ends with the last of them. */
  readonly outlastsSources: boolean
  /** Of a client without a session. */
  readonly listening?: {
    readonly first: string
    /** When all sources have ended, or failed. */
    readonly last: string
    /** What the client is told when the backend has other targets, before `last`. */
    readonly changes: readonly string[]
  }
  /** Abandons the streams of the targets. Called once. */
  readonly stop: () => void
}

interface Arrived {
  readonly event: StreamEvent
  /** Undefined: the event is news. */
  readonly from: EventSource | undefined
}

/**
 * The stream of notifications of a client as the body of a response: the events of its sources and the news of the session in order of
 * arrival, and a comment after each 15 s of silence. A worker has thousands of them that wait for hours, so it is plain state instead of a
 * chain of generators (bench/README.md, "Memory").
 */
export class NotificationStream
  implements PipedBody, BodySource, AsyncIterableIterator<Uint8Array>, EventReceiver, OpenStream
{
  readonly kind = BODY_CHUNKED
  readonly length = -1
  readonly #parts: StreamParts
  readonly #wheel: Pick<typeof workerWheel, 'arm' | 'remove'>
  readonly #silence = new WheelTimer(() => this.#comment())
  /** Gets the events instead of reads. */
  #sink: BodySink | undefined
  /** Events that the client has not taken; created with the first one. */
  #waiting: Arrived[] | undefined
  /** Takes the result of the read that waits. */
  #settle: ((result: IteratorResult<Uint8Array>) => void) | undefined
  /** Undefined: nothing has been read yet. */
  #closeNews: (() => void) | undefined
  #endedSources = 0
  /** Wall clock. */
  #usedMs = clock.now()
  #isOver = false
  #whenOver: (() => unknown) | undefined

  constructor(parts: StreamParts, wheel: Pick<typeof workerWheel, 'arm' | 'remove'> = workerWheel) {
    const { plan, deps } = parts.request
    this.#parts = parts
    this.#wheel = wheel
    deps.memory.streams.add(plan.backend, this)
  }

  /** Calls `over` once, when the stream is over, however it ended. */
  whenOver(over: () => unknown): void {
    this.#whenOver = over
  }

  get targets(): readonly string[] {
    return this.#parts.request.plan.targets.map(({ name }) => name)
  }

  changed(): void {
    const { request, session, listening } = this.#parts
    if (session === undefined) {
      for (const text of listening?.changes ?? []) this.arrived({ text }, undefined)
      return this.#complete()
    }
    // Targets that are back may be known from the beginning of the session only.
    const known = [...session.targets, ...targetsOf(request, session).map((target) => target.session)]
    const capabilities = known.flatMap((target) => [...(target?.capabilities ?? [])])
    void announceTargets(request.deps.channels, session.key, new Set(capabilities))
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** The result of one read must be known before the next. */
  next(): Promise<IteratorResult<Uint8Array>> {
    return new Promise((resolve) => {
      this.#settle = resolve
      this.#begin()
      this.resume()
      if (this.#isOver) this.#settleWith(DONE)
    })
  }

  pipe(sink: BodySink): void {
    if (this.#isOver) return sink.end()
    this.#sink = sink
    sink.source = this
    this.#begin()
  }

  /** Sources are read only when the client takes their events. */
  pause(): void {}

  resume(): void {
    if (!this.#isOver) this.#wheel.arm(this.#silence, SILENCE_MS)
    while (this.#isWanted) {
      const first = this.#waiting?.shift()
      if (first === undefined) return
      this.#pass(first)
    }
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.cancel()
    return Promise.resolve(DONE)
  }

  /** The client has left, or the response is not sent. */
  cancel(): void {
    this.#waiting = undefined
    this.#sink = undefined
    this.#end()
  }

  arrived(event: StreamEvent, from: EventSource | undefined): void {
    const arrived = { event, from }
    if (this.#isWanted) return this.#pass(arrived)
    this.#waiting ??= []
    this.#waiting.push(arrived)
  }

  ended(): void {
    const { outlastsSources, sources } = this.#parts
    if (!outlastsSources && ++this.#endedSources >= sources.length) this.#complete()
  }

  failed(error: unknown): void {
    // A client that listens goes on with the other targets.
    if (this.#parts.listening !== undefined) return this.ended()
    const { exchange, deps } = this.#parts.request
    // When the client leaves, the streams of the targets break off.
    if (!deps.signal.aborted) noteFailure(exchange, error)
    this.#end()
  }

  #begin(): void {
    if (this.#isOver || this.#closeNews !== undefined) return
    const { request, session, sources, listening } = this.#parts
    this.#wheel.arm(this.#silence, SILENCE_MS)
    const hear = (text: string) => this.#hear(parseNews(text))
    this.#closeNews = session === undefined ? () => {} : listenForNews(request.deps.channels, session.key, hear)
    // It may have ended while the streams of the targets were opened, before there was anybody to hear of it.
    if (session !== undefined && isEnded(session, request.deps.table)) return this.#end()
    if (listening !== undefined) this.arrived({ text: listening.first }, undefined)
    if (sources.length === 0) this.ended()
    for (const source of sources) source.start(this)
  }

  #complete(): void {
    const { listening, request } = this.#parts
    if (listening === undefined || request.deps.signal.aborted) this.#end()
    else this.arrived({ text: listening.last, isLast: true }, undefined)
  }

  #hear(news: StreamNews): void {
    if (news.kind === 'end') this.#end()
    else if (this.#waitingNews < MAX_WAITING_NEWS) this.arrived(news, undefined)
  }

  get #waitingNews(): number {
    return this.#waiting?.filter(({ from }) => from === undefined).length ?? 0
  }

  /** The client takes another event. */
  get #isWanted(): boolean {
    return this.#sink === undefined ? this.#settle !== undefined : !this.#sink.backed
  }

  #pass({ event, from }: Arrived): void {
    this.#send(pieceOf(event))
    if (event.isLast !== true) return from?.read()
    this.#waiting = undefined
    this.#end()
  }

  #comment(): void {
    if (this.#isWanted) this.#send(COMMENT)
  }

  #send(piece: Uint8Array): void {
    this.#noteUse()
    if (this.#sink === undefined) return this.#settleWith({ done: false, value: piece })
    this.#wheel.arm(this.#silence, SILENCE_MS)
    sendTo(this.#sink, piece)
  }

  /** A stream counts as use of its session, at times. */
  #noteUse(): void {
    const nowMs = clock.now()
    const { session, request } = this.#parts
    if (session === undefined || nowMs - this.#usedMs < REPEAT_MS) return
    this.#usedMs = nowMs
    noteUse(session, request.deps.table, nowMs)
  }

  /** Events that have arrived can still be read. */
  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { request, session, sources, stop } = this.#parts
    const { plan, deps } = request
    this.#wheel.remove(this.#silence)
    this.#closeNews?.()
    for (const source of sources) source.close()
    stop()
    deps.memory.streams.delete(plan.backend, this)
    if (session !== undefined) noteUse(session, deps.table, clock.now())
    this.#whenOver?.()
    const sink = this.#sink
    if (sink === undefined) return this.#settleWith(DONE)
    this.#sink = undefined
    for (const { event } of this.#waiting ?? []) sendTo(sink, pieceOf(event))
    sink.end()
  }

  #settleWith(result: IteratorResult<Uint8Array>): void {
    const settle = this.#settle
    this.#settle = undefined
    settle?.(result)
  }
}

function pieceOf({ text, id, retryMs }: StreamEvent): Uint8Array {
  return encodeEvent(text, id, retryMs)
}

function sendTo(sink: BodySink, piece: Uint8Array): void {
  sink.bytes(asBuffer(piece), 0, piece.length)
}
