import { clock } from '#base/clock.ts'
import { parseJson } from '#base/parse-json.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { type Message, parseMessage } from '../message/json-rpc.ts'
import type { McpDeps } from '../request/mcp-request.ts'
import {
  askOwner,
  type Endpoint,
  type Receiver,
  type SseConnection,
  type Told,
  type Wish,
} from '../request/sse-connection.ts'
import { TargetStreamError } from '../target/target-stream-error.ts'
import { BoundedQueue } from './bounded-queue.ts'

/** Messages that wait for their reader until the target has to. */
const MAX_WAITING = 64

/** How often another worker is asked whether it still has the connection. */
const ALIVE_MS = 5000

/** The part of a connection that belongs to one request, or to the stream for unsolicited messages. */
export interface Attachment {
  /** Of the connection. */
  readonly id: string
  readonly endpoint: Endpoint
  /** Its end is that of the attachment. */
  readonly inbox: Inbox
}

/** Messages on their way from a connection to a request. They count as memory until they are read. */
export class Inbox {
  readonly claim: BodyClaim
  readonly #queue = new BoundedQueue<Message>(MAX_WAITING)
  readonly #left: AbortSignal
  readonly #over: () => void
  readonly #leave = () => this.end(new TargetStreamError('the client has disconnected'))
  #waiting = 0
  #isOver = false

  /** @param left aborted when the client disconnects. @param over called once, when no more events are taken */
  constructor(claim: BodyClaim, left: AbortSignal, over: () => void) {
    this.claim = claim
    this.#left = left
    this.#over = over
    left.addEventListener('abort', this.#leave, { once: true })
  }

  get filled(): Promise<void> {
    return this.#queue.filled
  }

  put(message: Message): Promise<void> | undefined {
    if (this.#isOver) return undefined
    if (!this.claim.take(message.text.length)) {
      this.end(new TargetStreamError('no memory is left for the messages of the target'))
      return undefined
    }
    this.#waiting += message.text.length
    return this.#queue.put(message)
  }

  end(error?: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#left.removeEventListener('abort', this.#leave)
    this.#queue.end(error)
    this.#over()
  }

  async *read(): AsyncGenerator<Message> {
    try {
      for await (const message of this.#queue.read()) {
        this.#waiting -= message.text.length
        this.claim.give(message.text.length)
        yield message
      }
    } finally {
      this.end()
      this.claim.give(this.#waiting)
      this.#waiting = 0
    }
  }
}

/**
 * `full`: the connection has too many requests in flight, or one with the same id.
 * @param wish undefined: only the endpoint is needed
 */
export function attachHere(connection: SseConnection, wish: Wish | undefined, left: AbortSignal): Attachment | 'full' {
  const { id, endpoint, claim } = connection
  const inbox = new Inbox(claim, left, () => receiver && connection.detach(receiver))
  const receive = (message: Message) => inbox.put(message)
  const receiver: Receiver | undefined = wish && { ...wish, receive, end: () => inbox.end(closed()) }
  if (receiver === undefined || connection.attach(receiver)) return { id, endpoint, inbox }
  inbox.end()
  return 'full'
}

/** Attaches to a connection of another worker. @returns undefined: the connection is over */
export async function attachThere(
  deps: McpDeps,
  id: string,
  wish: Wish | undefined,
): Promise<Attachment | 'full' | undefined> {
  const { channels, claim, signal } = deps
  const { thread } = channels
  const to = `mcp-sse-inbox ${crypto.randomUUID()}`
  let endpoint: Endpoint | undefined
  let isAttached = false
  let stop = () => {}
  const inbox = new Inbox(claim, signal, () => {
    stop()
    close()
    if (isAttached) void askOwner(channels, id, { ask: 'detach', to })
  })
  const close = channels.open(to, (text) => {
    const told = parseJson(text) as unknown as Told
    if (told.tell === 'endpoint') endpoint = told.endpoint
    else if (told.tell === 'message') {
      const message = parseMessage(told.text)
      return message.kind === 'unreadable' ? undefined : inbox.put(message)
    } else {
      isAttached = false
      inbox.end(closed())
    }
    return undefined
  })
  isAttached = wish !== undefined
  const question =
    wish === undefined ? ({ ask: 'endpoint', to, thread } as const) : ({ ask: 'attach', to, thread, ...wish } as const)
  const isThere = await askOwner(channels, id, question)
  if (!isThere || endpoint === undefined || isAttached !== (wish !== undefined)) {
    inbox.end()
    return isThere ? 'full' : undefined
  }
  if (isAttached) stop = watch(deps, id, () => inbox.end(closed()))
  return { id, endpoint, inbox }
}

/** A worker that dies says nothing. @returns stops watching */
function watch({ channels }: McpDeps, id: string, gone: () => void): () => void {
  let timer: { cancel(): void }
  let isStopped = false
  const ask = async () => {
    if (isStopped) return
    if (!(await askOwner(channels, id, { ask: 'alive' }))) return gone()
    if (!isStopped) timer = clock.after(ALIVE_MS, ask)
  }
  timer = clock.after(ALIVE_MS, ask)
  return () => {
    isStopped = true
    timer.cancel()
  }
}

function closed(): TargetStreamError {
  return new TargetStreamError('the target has closed the event stream')
}
