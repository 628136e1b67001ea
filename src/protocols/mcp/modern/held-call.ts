import { clock } from '#base/clock.ts'
import { parseJson } from '#base/parse-json.ts'
import type { Channels } from '#state/channels.ts'
import type { MessageId, RequestMessage } from '../message/json-rpc.ts'
import type { TargetMessage } from '../message/target-reply.ts'
import type { HeldCalls } from '../request/held-calls.ts'
import { brokenStreamText } from '../target/target-failure.ts'

/** How long a call waits for the input of its client. */
export const HELD_MS = 10 * 60 * 1000

/** A worker that continues a call says at least this often that it is alive. */
const ALIVE_MS = 60_000

/** Where a call is held, and for which of its requests to the client. */
export interface HeldAt {
  readonly key: string
  /** Name of the worker. */
  readonly thread: string
  readonly round: number
}

/** Reads the messages of a call, in the worker that has it or in another one. */
export interface CallReader {
  /** @returns undefined: the target has ended its stream. @throws Error if the stream failed */
  next(): Promise<TargetMessage | undefined>
  /** The call waits for what the target has asked; it is read no more. @returns undefined: too many calls wait */
  hold(asked: RequestMessage): Promise<HeldAt | undefined>
  /** The call is over. @param isCancelled the target may still process it */
  end(isCancelled: boolean): void
}

export interface CallParts {
  /** Id of the request at the target. */
  readonly id: MessageId
  readonly progressToken: MessageId | undefined
  /** Digest of the caller. */
  readonly caller: string
  readonly messages: AsyncGenerator<TargetMessage>
  /** The call outlasts the request that began it. @returns ends the session of the target */
  readonly keep: () => (isCancelled: boolean) => Promise<void>
  /** Ends the stream of the target and releases its memory. */
  readonly stop: () => void
  readonly draining: AbortSignal
}

/** What a worker asks the one that has a call. */
export type Question = { readonly to: string; readonly from: string } & (
  | { readonly ask: 'take'; readonly round: number }
  | { readonly ask: 'next' }
  | { readonly ask: 'alive' }
  | { readonly ask: 'hold'; readonly round: number; readonly asked: string }
  | { readonly ask: 'end'; readonly isCancelled: boolean }
)

/** What it is told. */
export type Told =
  | {
      readonly tell: 'taken'
      /** The request of the target that the client was asked. */
      readonly asked: string
      readonly id: MessageId
      readonly progressToken?: MessageId
    }
  | { readonly tell: 'message'; readonly text: string }
  | { readonly tell: 'over'; readonly failure?: string }

/**
 * A call of a target of the legacy era, for a client of the modern era. It lives in the worker that began it. While it is held, the target waits
 * for the response to a request, and any worker may continue the call; only one can.
 */
export class HeldCall implements CallReader {
  readonly #calls: HeldCalls
  readonly #channels: Channels
  readonly #parts: CallParts
  readonly #key: string = crypto.randomUUID()
  #closeSession: ((isCancelled: boolean) => Promise<void>) | undefined
  #round = 0
  #asked = ''
  /** Channel of the worker that reads it; undefined: it is held, or the request that began it reads it. */
  #reader: string | undefined
  #isHeld = false
  #isOver = false
  #deadline: { cancel(): void } | undefined
  #release: () => void = () => {}

  constructor(calls: HeldCalls, channels: Channels, parts: CallParts) {
    this.#calls = calls
    this.#channels = channels
    this.#parts = parts
  }

  async next(): Promise<TargetMessage | undefined> {
    const { done, value } = await this.#parts.messages.next()
    return done === true ? undefined : value
  }

  async hold({ text }: RequestMessage): Promise<HeldAt | undefined> {
    const { caller, keep, draining } = this.#parts
    const leave = this.#calls.admit(caller)
    if (leave === undefined) return undefined
    this.#closeSession = keep()
    const close = this.#channels.open(channelOf(this.#key), (text) =>
      this.#answer(parseJson(text) as unknown as Question),
    )
    const drain = () => this.#isHeld && this.end(true)
    draining.addEventListener('abort', drain, { once: true })
    this.#release = () => {
      leave()
      close()
      draining.removeEventListener('abort', drain)
    }
    this.#wait(1, text)
    return { key: this.#key, thread: this.#channels.thread, round: 1 }
  }

  end(isCancelled: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#deadline?.cancel()
    this.#release()
    this.#parts.stop()
    this.#parts.messages.return(undefined).catch(() => {})
    void this.#closeSession?.(isCancelled)
  }

  #wait(round: number, asked: string): void {
    this.#round = round
    this.#asked = asked
    this.#reader = undefined
    this.#isHeld = true
    this.#endWithin(HELD_MS)
  }

  #endWithin(ms: number): void {
    this.#deadline?.cancel()
    this.#deadline = clock.after(ms, () => this.end(true))
  }

  #answer(question: Question): Promise<void> | undefined {
    if (question.ask === 'take') return this.#take(question)
    if (question.to !== this.#reader) return undefined
    switch (question.ask) {
      case 'next':
        void this.#pass(question)
        return undefined
      case 'alive':
        this.#endWithin(ALIVE_MS)
        return undefined
      case 'hold':
        this.#wait(question.round, question.asked)
        return undefined
      case 'end':
        this.end(question.isCancelled)
        return undefined
    }
  }

  async #take(question: Question & { readonly ask: 'take' }): Promise<void> {
    if (!this.#isHeld || question.round !== this.#round) return
    const { id, progressToken } = this.#parts
    this.#isHeld = false
    this.#reader = question.to
    this.#endWithin(ALIVE_MS)
    await this.#tell(question, {
      tell: 'taken',
      asked: this.#asked,
      id,
      ...(progressToken !== undefined && { progressToken }),
    })
  }

  async #pass(question: Question): Promise<void> {
    const told = await this.next().then(
      (received): Told =>
        received === undefined
          ? { tell: 'over' }
          : { tell: 'message', text: received.message === undefined ? '' : received.message.text },
      (error: unknown): Told => ({ tell: 'over', failure: brokenStreamText(error) }),
    )
    const isTaken = await this.#tell(question, told)
    // The worker has died.
    if (!isTaken) this.end(true)
  }

  #tell({ to, from }: Question, told: Told): Promise<boolean> {
    return this.#channels.send(to, JSON.stringify(told), from)
  }
}

/** The channel of a held call. */
export function channelOf(key: string): string {
  return `mcp-held ${key}`
}
