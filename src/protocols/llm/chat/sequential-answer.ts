import type { AnswerRoom } from './answer-room.ts'
import {
  type AnswerError,
  type AnswerSink,
  type AnswerUsage,
  type Citation,
  type StopReason,
  textOf,
} from './answer-sink.ts'

/** A block that waits until another one is closed. */
interface HeldBlock {
  readonly isCall: boolean
  readonly contents: (() => void)[]
  /** Of its texts. */
  length: number
  isClosed: boolean
}

/**
 * Puts the blocks of an answer one after the other, for dialects in which they never overlap. A text or a thought ends when something else
 * begins, and goes on as a new block. A call ends when it is complete; what begins before is held.
 */
export class SequentialAnswer implements AnswerSink {
  readonly #sink: AnswerSink
  #open: number | undefined
  #isCall = false
  /** By number, in the order in which they began. */
  readonly #held = new Map<number, HeldBlock>()
  readonly #room: AnswerRoom | undefined

  /** @param room for what waits */
  constructor(sink: AnswerSink, room: AnswerRoom | undefined) {
    this.#sink = sink
    this.#room = room
  }

  start(id: string, model: string): void {
    this.#sink.start(id, model)
  }

  text(block: number, text: string): void {
    if (this.#enters(block, false)) this.#sink.text(block, text)
    else this.#hold(block, false, text, () => this.#sink.text(block, text))
  }

  refusal(block: number, text: string): void {
    if (this.#enters(block, false)) this.#sink.refusal(block, text)
    else this.#hold(block, false, text, () => this.#sink.refusal(block, text))
  }

  thinking(block: number, text: string): void {
    if (this.#enters(block, false)) this.#sink.thinking(block, text)
    else this.#hold(block, false, text, () => this.#sink.thinking(block, text))
  }

  signature(block: number, text: string): void {
    if (this.#enters(block, false)) this.#sink.signature(block, text)
    else this.#hold(block, false, text, () => this.#sink.signature(block, text))
  }

  redacted(block: number, data: string): void {
    if (this.#enters(block, false)) this.#sink.redacted(block, data)
    else this.#hold(block, false, data, () => this.#sink.redacted(block, data))
  }

  call(block: number, id: string, name: string): void {
    if (this.#enters(block, true)) this.#sink.call(block, id, name)
    else this.#hold(block, true, id + name, () => this.#sink.call(block, id, name))
  }

  arguments(block: number, text: string): void {
    if (this.#enters(block, true)) this.#sink.arguments(block, text)
    else this.#hold(block, true, text, () => this.#sink.arguments(block, text))
  }

  citation(block: number, citation: Citation): void {
    if (this.#enters(block, false)) this.#sink.citation(block, citation)
    else this.#hold(block, false, textOf(citation), () => this.#sink.citation(block, citation))
  }

  close(block: number): void {
    const held = this.#held.get(block)
    if (held !== undefined) held.isClosed = true
    if (this.#open !== block) return
    this.#leave()
    this.#release()
  }

  finish(reason: StopReason, stopSequence?: string): void {
    this.#leave()
    this.#sink.finish(reason, stopSequence)
  }

  usage(usage: AnswerUsage): void {
    this.#sink.usage(usage)
  }

  fail(error: AnswerError): void {
    this.#sink.fail(error)
  }

  end(): void {
    this.#sink.end()
  }

  /** Makes a block the open one. @returns false if it must wait */
  #enters(block: number, isCall: boolean): boolean {
    if (this.#open === block) return true
    if (this.#held.size > 0 || (this.#open !== undefined && this.#isCall)) return false
    this.#begin(block, isCall)
    return true
  }

  #begin(block: number, isCall: boolean): void {
    this.#leave()
    this.#open = block
    this.#isCall = isCall
  }

  #leave(): void {
    if (this.#open !== undefined) this.#sink.close(this.#open)
    this.#open = undefined
  }

  /** @param text what the content keeps */
  #hold(block: number, isCall: boolean, text: string, content: () => void): void {
    let held = this.#held.get(block)
    if (held === undefined) {
      held = { isCall, contents: [], length: 0, isClosed: false }
      this.#held.set(block, held)
    }
    held.contents.push(content)
    held.length += text.length
    this.#room?.take(text.length)
  }

  /** Passes on what waited, up to a call that is not complete. */
  #release(): void {
    for (const [block, { isCall, contents, length, isClosed }] of this.#held) {
      this.#held.delete(block)
      this.#room?.give(length, contents.length)
      this.#begin(block, isCall)
      for (const content of contents) content()
      if (isClosed) this.#leave()
      else if (isCall) return
    }
  }
}
