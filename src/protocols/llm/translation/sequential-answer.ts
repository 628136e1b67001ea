import type { AnswerError, AnswerSink, AnswerUsage, Citation, StopReason } from './answer-sink.ts'

/** Of contents that wait, in UTF-16 units. */
const MAX_HELD = 4 * 1024 * 1024
/** What a content needs besides its text. */
const CONTENT = 16

/** A block that waits until another one is closed. */
interface HeldBlock {
  readonly isCall: boolean
  readonly contents: (() => void)[]
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
  #heldLength = 0
  /** More was held than may be. */
  #isTooMuch = false

  constructor(sink: AnswerSink) {
    this.#sink = sink
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
    else this.#hold(block, false, citation.text, () => this.#sink.citation(block, citation))
  }

  close(block: number): void {
    if (this.#isTooMuch) return
    const held = this.#held.get(block)
    if (held !== undefined) held.isClosed = true
    if (this.#open !== block) return
    this.#leave()
    this.#release()
  }

  finish(reason: StopReason, stopSequence?: string): void {
    if (this.#isTooMuch) return
    this.#leave()
    this.#sink.finish(reason, stopSequence)
  }

  usage(usage: AnswerUsage): void {
    this.#sink.usage(usage)
  }

  fail(error: AnswerError): void {
    if (!this.#isTooMuch) this.#sink.fail(error)
  }

  end(): void {
    this.#sink.end()
  }

  /** Makes a block the open one. @returns false if it must wait */
  #enters(block: number, isCall: boolean): boolean {
    if (this.#isTooMuch) return false
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
  #hold(block: number, isCall: boolean, text: string | undefined, content: () => void): void {
    if (this.#isTooMuch) return
    this.#heldLength += (text?.length ?? 0) + CONTENT
    if (this.#heldLength > MAX_HELD) return this.#giveUp()
    let held = this.#held.get(block)
    if (held === undefined) {
      held = { isCall, contents: [], isClosed: false }
      this.#held.set(block, held)
    }
    held.contents.push(content)
  }

  #giveUp(): void {
    this.#isTooMuch = true
    this.#held.clear()
    const message = 'the calls of the response overlap too much to be translated'
    this.#sink.fail({ status: 502, type: undefined, message, code: undefined, param: undefined })
  }

  /** Passes on what waited, up to a call that is not complete. */
  #release(): void {
    for (const [block, { isCall, contents, isClosed }] of this.#held) {
      this.#held.delete(block)
      this.#begin(block, isCall)
      for (const content of contents) content()
      if (isClosed) this.#leave()
      else if (isCall) return
    }
    this.#heldLength = 0
  }
}
