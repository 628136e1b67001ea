import { clock } from '#base/clock.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { SentSecret } from '#exchange/sent-secret.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import type { Head } from '#net/http/head.ts'
import type { Abort, BodySink } from '#net/stream.ts'
import type { KeptAnswer } from '../facts/kept-answer.ts'
import { errorOf, isErrorEvent, type StreamError, UNKNOWN_ERROR } from '../facts/stream-error.ts'
import type { StreamFormat } from '../facts/stream-format.ts'
import { parseValue } from '../json/read-value.ts'
import { LongEvent } from '../sse/long-event.ts'
import { HAS_ERROR, HAS_FINISH, HAS_USAGE, SseBlock } from '../sse/sse-block.ts'
import { type SseBlockReceiver, SseSplitter } from '../sse/sse-splitter.ts'

export interface StreamAnswerOptions {
  readonly format: StreamFormat
  readonly facts: LlmFacts
  /** The event that has only usage is removed. */
  readonly hidesUsage: boolean
  /** Keeps output of the model; undefined: nothing reads it. */
  readonly kept: KeptAnswer | undefined
  /** Memory for the beginnings of blocks. */
  readonly claim: BodyClaim
  readonly startMonotonicMs: number
  /** The credential of the gateway, which error events must not show; undefined: everything passes unchanged. */
  readonly secret?: (() => SentSecret | undefined) | undefined
  /** A stream that breaks off gets an error event; false: it is forwarded unchanged. */
  readonly marksBreak: boolean
  /** Called for a break that the client sees as an error event; for health and log. */
  readonly onBreak: (why: Abort | 'incomplete') => void
  /** Called for an error that the provider reports in the stream. */
  readonly onError: (error: StreamError) => void
  /** Called with the first output of the model. */
  readonly onOutput: () => void
}

/**
 * Forwards an event stream and reads facts from it. Whole blocks are forwarded in the call that brings them, without copying. Only an
 * unfinished block is held back, so that the client never gets half an event, and a stream that breaks off can end with an error event
 * (decision B31). Only events until the first output, and those with usage or an error, are parsed, unless texts are kept.
 */
export class StreamAnswer extends ForwardingSink implements SseBlockReceiver {
  readonly #options: StreamAnswerOptions
  readonly #splitter: SseSplitter
  readonly #block = new SseBlock()
  /** The block that is forwarded in parts. */
  #long: LongEvent | undefined
  /** The memory of the current piece, and the part of it that was read and is to be forwarded. */
  #piece: Buffer | undefined
  #from = 0
  #to = 0
  #events = 0
  #hasOutput = false
  #isFinished = false
  #isEnded = false
  #hasFailed = false

  constructor(sink: BodySink, options: StreamAnswerOptions) {
    super(sink)
    this.#options = options
    this.#splitter = new SseSplitter(this, options)
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    this.#piece = buffer
    this.#from = this.#to = start
    this.#splitter.push(buffer, start, end)
    this.#forwardRead()
    this.#piece = undefined
  }

  block(buffer: Buffer, start: number, end: number): void {
    const hadFailed = this.#hasFailed
    const passes = this.#reads(buffer, start, end)
    const clean = this.#hasFailed && !hadFailed ? this.#withoutSecret(buffer.subarray(start, end)) : undefined
    if (clean !== undefined) {
      this.#forwardRead()
      this.sink.bytes(clean, 0, clean.length)
      return
    }
    if (buffer !== this.#piece) {
      if (passes) this.sink.bytes(buffer, start, end)
      return
    }
    if (start !== this.#to) this.#from = this.#to = start
    if (passes) this.#to = end
    else this.#forwardRead()
  }

  part(buffer: Buffer, start: number, end: number, isLast: boolean): void {
    this.#forwardRead()
    this.#long ??= new LongEvent(this.#options.format.members)
    this.#long.push(buffer, start, end)
    if (isLast) this.#readLong()
    this.sink.bytes(buffer, start, end)
  }

  #readLong(): void {
    const { reduced } = this.#long!
    this.#long = undefined
    this.#reads(reduced, 0, reduced.length)
  }

  override end(trailers?: Head): void {
    if (this.#long?.isWhole === true) this.#readLong()
    else if (this.#long !== undefined && this.#options.marksBreak) return this.#cutOff('incomplete')
    const { rest } = this.#splitter
    const passesRest = rest.length > 0 && this.#reads(rest, 0, rest.length)
    if (!this.#isComplete())
      this.#markBreak('incomplete', "the provider's stream ended before the response was complete")
    else if (passesRest) this.#forwardRest(rest)
    // Nothing may follow the end mark.
    if (this.#isEmpty()) this.#options.onBreak('incomplete')
    this.sink.end(trailers)
  }

  #forwardRest(rest: Buffer): void {
    const clean = this.#hasFailed ? (this.#withoutSecret(rest) ?? rest) : rest
    this.sink.bytes(clean, 0, clean.length)
  }

  override abort(why: Abort): void {
    if (why === 'cancelled' || !this.#options.marksBreak) return this.sink.abort(why)
    if (this.#long !== undefined) return this.#cutOff(why)
    if (!this.#isEnded) this.#markBreak(why, "the provider's stream was interrupted")
    this.sink.end()
  }

  #isComplete(): boolean {
    return this.#isEnded || this.#isFinished || !this.#options.marksBreak
  }

  /** An end mark without an answer. */
  #isEmpty(): boolean {
    const { format, marksBreak } = this.#options
    const saysWhy = this.#isFinished || this.#hasFailed || format.finishMember === ''
    return marksBreak && this.#isEnded && !this.#hasOutput && !saysWhy
  }

  #markBreak(why: Abort | 'incomplete', message: string): void {
    this.#options.onBreak(why)
    const frame = Buffer.from(this.#options.format.formatBreak(message, this.#events))
    this.sink.bytes(frame, 0, frame.length)
  }

  /** The client has part of an event, and would not understand an error event after it. */
  #cutOff(why: Abort | 'incomplete'): void {
    this.#options.onBreak(why)
    this.sink.abort(why === 'incomplete' ? 'protocol-error' : why)
  }

  #forwardRead(): void {
    if (this.#to > this.#from) this.sink.bytes(this.#piece!, this.#from, this.#to)
    this.#from = this.#to
  }

  /** Reads the relevant facts of a block. @returns whether the client gets the block */
  #reads(buffer: Uint8Array, start: number, end: number): boolean {
    const { format, kept } = this.#options
    const block = this.#block.read(buffer, start, end, format.finishMember)
    if (block.dataStart < 0) return true
    const { found } = block
    this.#events++
    if (format.isEnd(block)) this.#isEnded = true
    if ((found & HAS_FINISH) !== 0) this.#isFinished = true
    const isError = isErrorEvent(block)
    const keeps = kept !== undefined && !kept.isFull
    const isRead = !this.#hasOutput || format.readsAll || keeps || isError
    if (!isRead && (found & (HAS_USAGE | HAS_ERROR | HAS_FINISH)) === 0) return true
    return this.#readEvent(parseValue(block.data), isError)
  }

  #readEvent(event: unknown, isError: boolean): boolean {
    const { format, facts, kept, hidesUsage } = this.#options
    const error = errorOf(event) ?? (isError ? UNKNOWN_ERROR : undefined)
    if (error !== undefined) this.#fail(error)
    if (event === undefined) return true
    if (!this.#hasOutput && format.isOutput(event)) {
      this.#hasOutput = true
      facts.timeToFirstTokenMs = clock.monotonic() - this.#options.startMonotonicMs
      this.#options.onOutput()
    }
    if (kept !== undefined && !kept.isFull) format.keep(event, kept)
    format.read(event, facts)
    return !hidesUsage || format.isUsageOnly?.(event) !== true
  }

  /** @returns undefined if the error event does not contain the secret */
  #withoutSecret(event: Buffer): Buffer | undefined {
    const clean = this.#options.secret?.()?.hideInBytes(event)
    return clean === undefined || clean === event ? undefined : asBuffer(clean)
  }

  #fail(error: StreamError): void {
    this.#isEnded = true
    this.#hasFailed = true
    this.#options.onError(error)
  }
}
