import { clock } from '#base/clock.ts'
import { parseJson } from '#base/parse-json.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import type { Channels } from '#state/channels.ts'
import { errorText, idKey, isMessageId, isObject, type Message, type RequestMessage } from '../message/json-rpc.ts'

/** Requests and streams of a connection that may be open at a time. */
const MAX_RECEIVERS = 1000

/** Messages that wait for a stream of the client. */
const MAX_HELD = 64

/** How long a request of the target waits for a stream of the client (decision B85). */
const HELD_MS = 30_000

/** A connection that nobody has used for so long is closed, like the session that it belongs to (decision B65). */
const IDLE_MS = 30 * 60 * 1000

const NO_CLIENT_STREAM = -32001

/** What a receiver takes from a connection. */
export interface Wish {
  /** Key of the request whose response it waits for; undefined: the messages that belong to no request. */
  readonly answers: string | undefined
  /** Key of the progress token of that request. */
  readonly token: string | undefined
}

/** Takes messages of a connection: a request that is being served, or the stream of the client for unsolicited messages. */
export interface Receiver extends Wish {
  /** In another worker. */
  readonly isRemote?: true
  /** A promise delays all further messages of the connection. */
  receive(message: Message): Promise<void> | undefined
  /** The connection is over. */
  end(): void
}

/** Where the target wants messages. */
export interface Endpoint {
  readonly path: string
  /** Label of the replica. */
  readonly label: string
}

export interface ConnectionParts {
  readonly id: string
  /** The caller for whom it was opened. */
  readonly owner: string
  readonly endpoint: Endpoint
  /** Memory for messages that wait. */
  readonly claim: BodyClaim
  /** Sends a message of the gateway itself to the target. Never rejects. */
  readonly send: (message: string) => Promise<void>
  /** Ends the event stream of the target. */
  readonly stop: () => void
}

/** What other workers ask the owner of a connection. */
type Question =
  | ({ readonly ask: 'attach'; readonly to: string; readonly thread: string } & Wish)
  | { readonly ask: 'detach'; readonly to: string }
  /** Only the endpoint is needed. */
  | { readonly ask: 'endpoint'; readonly to: string; readonly thread: string }
  /** `last`: a message that the target must get before. */
  | { readonly ask: 'close'; readonly last: string | undefined }
  /** Only whether the connection exists. */
  | { readonly ask: 'alive' }

/** Messages of the owner to a receiver in another worker. */
export type Told =
  | { readonly tell: 'endpoint'; readonly endpoint: Endpoint }
  | { readonly tell: 'message'; readonly text: string }
  | { readonly tell: 'end' }

/**
 * The event stream of a target with the HTTP+SSE transport (revision 2024-11-05): its session. It lives in the worker that opened it. Messages
 * of all requests of the session come on it, and are handed to those that wait for them.
 */
export class SseConnection {
  readonly id: string
  readonly owner: string
  readonly endpoint: Endpoint
  readonly claim: BodyClaim
  /** Monotonic; undefined: it has receivers. */
  unusedSinceMs: number | undefined
  readonly #parts: ConnectionParts
  readonly #receivers = new Set<Receiver>()
  readonly #remote = new Map<string, Receiver>()
  readonly #held = new Map<Message, { cancel(): void }>()
  #idle: { cancel(): void } | undefined
  #whenClosed: (() => void)[] = []
  isClosed = false
  #isLast = false

  constructor(parts: ConnectionParts) {
    this.#parts = parts
    this.id = parts.id
    this.owner = parts.owner
    this.endpoint = parts.endpoint
    this.claim = parts.claim
    this.#watchIdle()
  }

  whenClosed(closed: () => void): void {
    this.#whenClosed.push(closed)
  }

  /** @returns false: the connection cannot take another receiver */
  attach(receiver: Receiver): boolean {
    const { answers } = receiver
    const isKnown = answers !== undefined && [...this.#receivers].some((other) => other.answers === answers)
    if (this.isClosed || isKnown || this.#receivers.size >= MAX_RECEIVERS) return false
    this.#idle?.cancel()
    this.unusedSinceMs = undefined
    this.#receivers.add(receiver)
    for (const [message, timer] of this.#held) {
      timer.cancel()
      this.#release(message)
      void receiver.receive(message)
    }
    return true
  }

  detach(receiver: Receiver): void {
    if (!this.#receivers.delete(receiver)) return
    if (this.#isLast) this.closeWhenUnused()
    else if (this.#receivers.size === 0) this.#watchIdle()
  }

  /** Closes the connection when no request of this worker uses it any more: a stopping worker does not learn when requests of other workers end. */
  closeWhenUnused(): void {
    this.#isLast = true
    if ([...this.#receivers].every(({ isRemote }) => isRemote)) this.close()
  }

  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.#idle?.cancel()
    for (const timer of this.#held.values()) timer.cancel()
    this.#held.clear()
    this.#parts.stop()
    for (const receiver of this.#receivers) receiver.end()
    this.#receivers.clear()
    this.#remote.clear()
    for (const closed of this.#whenClosed) closed()
    this.claim.release()
  }

  /** Hands a message of the target to the receiver that it is for. */
  deliver(message: Message): Promise<void> | undefined {
    const receiver = this.#receiverOf(message)
    if (receiver !== undefined) return receiver.receive(message)
    if (message.kind !== 'response') this.#hold(message)
    return undefined
  }

  #receiverOf(message: Message): Receiver | undefined {
    const receivers = [...this.#receivers]
    const requests = receivers.filter(({ answers }) => answers !== undefined)
    if (message.kind === 'response') {
      const key = message.id === undefined ? undefined : idKey(message.id)
      return key === undefined ? undefined : requests.find(({ answers }) => answers === key)
    }
    const token = message.method === 'notifications/progress' ? message.params?.progressToken : undefined
    const progressing = isMessageId(token) ? requests.find((one) => one.token === idKey(token)) : undefined
    if (progressing !== undefined || requests.length === 1) return progressing ?? requests[0]
    return receivers.find(({ answers }) => answers === undefined) ?? requests[0]
  }

  /** Until the client opens a stream. */
  #hold(message: Message): void {
    if (this.#held.size >= MAX_HELD || !this.claim.take(message.text.length)) return this.#refuse(message)
    const timer = clock.after(HELD_MS, () => {
      this.#release(message)
      this.#refuse(message)
    })
    this.#held.set(message, timer)
  }

  #release(message: Message): void {
    if (this.#held.delete(message)) this.claim.give(message.text.length)
  }

  #refuse(message: Message): void {
    if (message.kind !== 'request') return
    void this.#parts.send(errorText(message.id, NO_CLIENT_STREAM, 'the client has no open stream'))
  }

  #watchIdle(): void {
    this.#idle?.cancel()
    this.unusedSinceMs = clock.monotonic()
    if (!this.isClosed) this.#idle = clock.after(IDLE_MS, () => this.close())
  }

  /** Serves other workers. */
  openTo(channels: Channels): void {
    this.whenClosed(channels.open(channelOf(this.id), (text) => this.#answer(channels, parseJson(text) as Question)))
  }

  async #answer(channels: Channels, question: Question): Promise<void> {
    switch (question.ask) {
      case 'alive':
        return
      case 'close':
        if (question.last !== undefined) await this.#parts.send(question.last)
        return this.close()
      case 'detach': {
        const receiver = this.#remote.get(question.to)
        this.#remote.delete(question.to)
        if (receiver !== undefined) this.detach(receiver)
        return
      }
      case 'attach':
        return this.#attachRemote(channels, question)
      case 'endpoint':
        return void (await this.#tellEndpoint(channels, question))
    }
  }

  async #attachRemote(channels: Channels, { to, thread, answers, token }: Question & { ask: 'attach' }): Promise<void> {
    const tell = (told: Told) => channels.send(to, JSON.stringify(told), thread)
    const receiver: Receiver = {
      isRemote: true,
      answers,
      token,
      // A worker that has died does not take messages.
      receive: async ({ text }) => void ((await tell({ tell: 'message', text })) || this.detach(receiver)),
      end: () => void tell({ tell: 'end' }),
    }
    await this.#tellEndpoint(channels, { to, thread })
    if (!this.attach(receiver)) return void (await tell({ tell: 'end' }))
    this.#remote.set(to, receiver)
  }

  #tellEndpoint(
    channels: Channels,
    { to, thread }: { readonly to: string; readonly thread: string },
  ): Promise<boolean> {
    const told: Told = { tell: 'endpoint', endpoint: this.endpoint }
    return channels.send(to, JSON.stringify(told), thread)
  }
}

/** Asks the owner of a connection. @returns whether it still has the connection */
export function askOwner(channels: Channels, id: string, question: Question): Promise<boolean> {
  return channels.send(channelOf(id), JSON.stringify(question), ownerOf(id))
}

/** The id of a connection contains the worker that owns it. */
export function newConnectionId(thread: string): string {
  return `${crypto.randomUUID()} ${thread}`
}

function ownerOf(id: string): string {
  return id.slice(id.indexOf(' ') + 1)
}

function channelOf(id: string): string {
  return `mcp-sse ${id}`
}

/** What a message of the client waits for. */
export function wishOf({ id, params }: RequestMessage): Wish {
  const meta = params?._meta
  const token = isObject(meta) ? meta.progressToken : undefined
  return { answers: idKey(id), token: isMessageId(token) ? idKey(token) : undefined }
}
