import type { AnswerError, AnswerSink, AnswerUsage, Citation, StopReason } from './answer-sink.ts'

/**
 * Ends an answer once: whatever a provider sends after its end or its error is dropped, blocks that it left open are closed, and an answer that
 * ends without a reason to stop becomes an error (decision B31).
 */
export class AnswerEnd implements AnswerSink {
  readonly #sink: AnswerSink
  readonly #open = new Set<number>()
  #isStarted = false
  #isFinished = false
  #isEnded = false
  #failure: AnswerError | undefined

  constructor(sink: AnswerSink) {
    this.#sink = sink
  }

  /** Why the answer did not come to its end. */
  get failure(): AnswerError | undefined {
    return this.#failure
  }

  start(id: string, model: string): void {
    if (this.#isStarted || this.#isEnded) return
    this.#isStarted = true
    this.#sink.start(id, model)
  }

  text(block: number, text: string): void {
    if (this.#opens(block)) this.#sink.text(block, text)
  }

  refusal(block: number, text: string): void {
    if (this.#opens(block)) this.#sink.refusal(block, text)
  }

  thinking(block: number, text: string): void {
    if (this.#opens(block)) this.#sink.thinking(block, text)
  }

  signature(block: number, text: string): void {
    if (this.#opens(block)) this.#sink.signature(block, text)
  }

  redacted(block: number, data: string): void {
    if (this.#opens(block)) this.#sink.redacted(block, data)
  }

  call(block: number, id: string, name: string): void {
    if (this.#opens(block)) this.#sink.call(block, id, name)
  }

  arguments(block: number, text: string): void {
    if (this.#opens(block)) this.#sink.arguments(block, text)
  }

  citation(block: number, citation: Citation): void {
    if (this.#opens(block)) this.#sink.citation(block, citation)
  }

  close(block: number): void {
    if (!this.#isEnded && this.#open.delete(block)) this.#sink.close(block)
  }

  finish(reason: StopReason, stopSequence?: string): void {
    if (this.#isFinished || this.#isEnded) return
    this.#begin()
    this.#isFinished = true
    for (const block of this.#open) this.#sink.close(block)
    this.#open.clear()
    this.#sink.finish(reason, stopSequence)
  }

  usage(usage: AnswerUsage): void {
    if (this.#isEnded) return
    this.#begin()
    this.#sink.usage(usage)
  }

  fail(error: AnswerError): void {
    if (this.#isEnded) return
    this.#begin()
    this.#failure = error
    this.#isEnded = true
    this.#sink.fail(error)
    this.#sink.end()
  }

  /** The answer is complete if the provider said why it stopped. */
  end(): void {
    if (this.#isEnded) return
    if (!this.#isFinished) return this.fail(incomplete("the provider's stream ended before the response was complete"))
    this.#isEnded = true
    this.#sink.end()
  }

  /** The connection to the provider broke. A complete answer ends all the same. */
  break(): void {
    if (this.#isFinished) this.end()
    else this.fail(incomplete("the provider's stream was interrupted"))
  }

  #begin(): void {
    if (!this.#isStarted) this.start('', '')
  }

  #opens(block: number): boolean {
    if (this.#isFinished || this.#isEnded) return false
    this.#begin()
    this.#open.add(block)
    return true
  }
}

function incomplete(message: string): AnswerError {
  return { status: 502, type: undefined, message, code: 'upstream-failed', param: undefined }
}
