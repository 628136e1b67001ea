import type { BodyClaim } from '#net/body/body-memory.ts'
import type { AnswerError, AnswerSink, AnswerUsage, Citation, StopReason } from './answer-sink.ts'

/** Memory overhead of a piece, so that many short ones are bounded, too. */
const PIECE = 16

/** Open at the same time; no provider needs as many. */
const MAX_OPEN_BLOCKS = 1000

export interface AnswerEndOptions {
  /** Memory for the answer if its writer keeps it; undefined: the writer keeps nothing. */
  readonly claim: BodyClaim | undefined
  /** Most that such a writer may keep, in UTF-16 units. */
  readonly maxKept: number
}

/**
 * Ends an answer once: whatever a provider sends after its end or its error is dropped, blocks that it left open are closed, and an answer that
 * ends without a reason to stop becomes an error (decision B31).
 */
export class AnswerEnd implements AnswerSink {
  readonly #sink: AnswerSink
  readonly #options: AnswerEndOptions
  readonly #open = new Set<number>()
  #kept = 0
  #isStarted = false
  #isFinished = false
  #isEnded = false
  #failure: AnswerError | undefined
  #isCut = false

  constructor(sink: AnswerSink, options: AnswerEndOptions) {
    this.#sink = sink
    this.#options = options
  }

  /** Why the answer did not come to its end. */
  get failure(): AnswerError | undefined {
    return this.#failure
  }

  /** The failure is that the answer is incomplete; nobody reported an error. */
  get isCut(): boolean {
    return this.#isCut
  }

  start(id: string, model: string): void {
    if (this.#isStarted || this.#isEnded) return
    this.#isStarted = true
    this.#sink.start(id, model)
  }

  text(block: number, text: string): void {
    if (this.#takes(block, text)) this.#sink.text(block, text)
  }

  refusal(block: number, text: string): void {
    if (this.#takes(block, text)) this.#sink.refusal(block, text)
  }

  thinking(block: number, text: string): void {
    if (this.#takes(block, text)) this.#sink.thinking(block, text)
  }

  signature(block: number, text: string): void {
    if (this.#takes(block, text)) this.#sink.signature(block, text)
  }

  redacted(block: number, data: string): void {
    if (this.#takes(block, data)) this.#sink.redacted(block, data)
  }

  call(block: number, id: string, name: string): void {
    if (this.#takes(block, id + name)) this.#sink.call(block, id, name)
  }

  arguments(block: number, text: string): void {
    if (this.#takes(block, text)) this.#sink.arguments(block, text)
  }

  citation(block: number, citation: Citation): void {
    const { text = '', title = '', url = '' } = citation
    if (this.#takes(block, text + title + url)) this.#sink.citation(block, citation)
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
    if (!this.#isFinished) return this.#cut("the provider's stream ended before the response was complete")
    this.#isEnded = true
    this.#sink.end()
  }

  /** The connection to the provider broke. A complete answer ends all the same. */
  break(): void {
    if (this.#isFinished) this.end()
    else this.#cut("the provider's stream was interrupted")
  }

  #cut(message: string): void {
    this.#isCut = true
    this.fail(incomplete(message))
  }

  #begin(): void {
    if (!this.#isStarted) this.start('', '')
  }

  /** Whether the contents of a block may pass. */
  #takes(block: number, contents: string): boolean {
    if (this.#isFinished || this.#isEnded) return false
    this.#begin()
    this.#open.add(block)
    if (this.#open.size > MAX_OPEN_BLOCKS || !this.#hasRoom(contents.length)) {
      this.fail(incomplete("the provider's response is too large to be translated"))
      return false
    }
    return true
  }

  #hasRoom(length: number): boolean {
    const { claim, maxKept } = this.#options
    if (claim === undefined) return true
    // What a writer keeps for each piece, besides its contents.
    const added = length + PIECE
    this.#kept += added
    return this.#kept <= maxKept && claim.take(added)
  }
}

function incomplete(message: string): AnswerError {
  return { status: 502, type: undefined, message, code: 'upstream-failed', param: undefined }
}
