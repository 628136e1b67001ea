import { clock } from '#base/clock.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import type { Head } from '#net/http/head.ts'
import type { Abort, BodySink } from '#net/stream.ts'
import { SseBlocks } from '../http/sse-blocks.ts'
import type { KeptAnswer } from './kept-answer.ts'
import { HAS_FINISH, HAS_USAGE, searchMembers } from './member-search.ts'
import { dataStart, parseData } from './stream-block.ts'
import type { StreamFormat } from './stream-format.ts'

/** A longer block is forwarded without being read, and so is one for which there is no memory. */
const MAX_BLOCK_BYTES = 2 * 1024 * 1024

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
  /** A stream that breaks off gets an error event; false: it is forwarded unchanged. */
  readonly marksBreak: boolean
  /** Called for a break that the client sees as an error event; for health and log. */
  readonly onBreak: (why: Abort | 'incomplete') => void
}

/**
 * Forwards an event stream and reads facts from it. Whole blocks are forwarded in the call that brings them, without copying. Only an
 * unfinished block is held back, so that the client never gets half an event, and a stream that breaks off can end with an error event
 * (decision B31). Only the first event and those with usage are parsed, unless texts are kept.
 */
export class StreamAnswer extends ForwardingSink {
  readonly #options: StreamAnswerOptions
  readonly #blocks = new SseBlocks()
  /** The beginning of an unfinished block. */
  readonly #held: HeldBytes
  /** The beginning of the current block was forwarded unread. */
  #isTooLong = false
  #events = 0
  #hasOutput = false
  #isFinished = false
  #isEnded = false

  constructor(sink: BodySink, options: StreamAnswerOptions) {
    super(sink)
    this.#options = options
    this.#held = new HeldBytes(options.claim, MAX_BLOCK_BYTES)
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    const piece = buffer.subarray(start, end)
    let at = this.#completeHeld(piece)
    if (at < 0) return
    let from = at
    for (let next = this.#blocks.next(piece, at); next >= 0; next = this.#blocks.next(piece, at)) {
      if (!this.#passes(piece, at, next)) {
        if (at > from) this.sink.bytes(buffer, start + from, start + at)
        from = next
      }
      at = next
    }
    if (at > from) this.sink.bytes(buffer, start + from, start + at)
    if (at < piece.length) this.#hold(piece, at, piece.length)
  }

  override end(trailers?: Head): void {
    // Some providers omit the empty line after their last block.
    const held = this.#held.bytes
    const passesHeld = held.length > 0 && this.#passes(held, 0, held.length)
    if (!this.#isComplete())
      this.#markBreak('incomplete', "the provider's stream ended before the response was complete")
    else if (passesHeld) this.#flushHeld()
    this.sink.end(trailers)
  }

  override abort(why: Abort): void {
    if (why === 'cancelled' || !this.#options.marksBreak) return this.sink.abort(why)
    if (!this.#isEnded) this.#markBreak(why, "the provider's stream was interrupted")
    this.sink.end()
  }

  #isComplete(): boolean {
    return this.#isEnded || this.#isFinished || !this.#options.marksBreak
  }

  #markBreak(why: Abort | 'incomplete', message: string): void {
    this.#options.onBreak(why)
    const frame = Buffer.from(this.#options.format.formatBreak(message, this.#events))
    this.sink.bytes(frame, 0, frame.length)
  }

  /**
   * Completes the block that earlier pieces began.
   * @returns index of the first block that begins in this piece; -1 if there is none
   */
  #completeHeld(piece: Buffer): number {
    if (this.#held.length === 0 && !this.#isTooLong) return 0
    const end = this.#blocks.next(piece, 0)
    this.#hold(piece, 0, end < 0 ? piece.length : end)
    if (end < 0) return end
    const block = this.#held.bytes
    if (!this.#isTooLong && this.#passes(block, 0, block.length)) this.#flushHeld()
    this.#held.drop()
    this.#isTooLong = false
    return end
  }

  /** Holds a part of a block. If there is no room, it and the rest of the block are forwarded. */
  #hold(piece: Buffer, start: number, end: number): void {
    if (!this.#isTooLong && this.#held.appendWithin(piece, start, end)) return
    this.#isTooLong = true
    this.#flushHeld()
    this.#held.drop()
    this.sink.bytes(piece, start, end)
  }

  #flushHeld(): void {
    if (this.#held.length > 0) this.sink.bytes(this.#held.bytes, 0, this.#held.length)
  }

  /** Reads the relevant facts of a block. @returns whether the client gets the block */
  #passes(piece: Buffer, start: number, end: number): boolean {
    const data = dataStart(piece, start, end)
    if (data < 0) return true
    const { format, facts, kept } = this.#options
    if (!this.#hasOutput && format.isOutput(piece, start, data)) {
      this.#hasOutput = true
      facts.timeToFirstTokenMs = clock.monotonic() - this.#options.startMonotonicMs
    }
    const isFirst = this.#events++ === 0
    if (format.isEnd(piece, start, data)) this.#isEnded = true
    const found = searchMembers(piece, data, end, format.finishMember)
    if ((found & HAS_FINISH) !== 0) this.#isFinished = true
    const keeps = kept !== undefined && !kept.isFull
    if ((found & HAS_USAGE) === 0 && !isFirst && !format.readsAll && !keeps) return true
    const event = parseData(piece, start, end)
    if (event === undefined) return true
    if (keeps) format.keep(event, kept)
    format.read(event, facts)
    return !this.#options.hidesUsage || format.isUsageOnly?.(event) !== true
  }
}
