import { clock } from '#base/clock.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { AnswerError, AnswerSink, AnswerUsage, Citation, StopReason } from '../chat/answer-sink.ts'
import { STOP_REASONS } from '../chat/stop-reasons.ts'
import type { TargetNames } from '../chat/target-names.ts'
import { noteFinish } from '../facts/finish-reasons.ts'
import type { KeptAnswer } from '../facts/kept-answer.ts'
import { noteNames, noteTier } from '../facts/note-names.ts'

export interface ObservedAnswerOptions {
  readonly facts: LlmFacts
  /** Keeps output of the model; undefined: nothing reads it. */
  readonly kept: KeptAnswer | undefined
  readonly names: TargetNames
  /** Of an answer whose body has none. */
  readonly id?: string | undefined
  readonly startMonotonicMs: number
  /** Called with the first content. */
  readonly begun: () => void
}

/** Reads facts from a translated answer, and gives tools the names that the client knows. */
export class ObservedAnswer implements AnswerSink {
  readonly #sink: AnswerSink
  readonly #options: ObservedAnswerOptions
  #hasOutput = false

  constructor(sink: AnswerSink, options: ObservedAnswerOptions) {
    this.#sink = sink
    this.#options = options
  }

  start(id: string, model: string): void {
    noteNames(id || this.#options.id, model || undefined, this.#options.facts)
    this.#sink.start(id, model)
  }

  text(block: number, text: string): void {
    this.#outputs()
    this.#options.kept?.addText(block, text)
    this.#sink.text(block, text)
  }

  refusal(block: number, text: string): void {
    this.#outputs()
    this.#options.kept?.addText(block, text)
    this.#sink.refusal(block, text)
  }

  thinking(block: number, text: string): void {
    this.#outputs()
    this.#sink.thinking(block, text)
  }

  signature(block: number, text: string): void {
    this.#sink.signature(block, text)
  }

  redacted(block: number, data: string): void {
    this.#outputs()
    this.#sink.redacted(block, data)
  }

  call(block: number, id: string, name: string): void {
    this.#outputs()
    const given = this.#options.names.given(name)
    this.#options.kept?.beginCall(block, id, given)
    this.#sink.call(block, id, given)
  }

  arguments(block: number, text: string): void {
    this.#options.kept?.addArguments(block, text)
    this.#sink.arguments(block, text)
  }

  citation(block: number, citation: Citation): void {
    this.#sink.citation(block, citation)
  }

  close(block: number): void {
    this.#sink.close(block)
  }

  finish(reason: StopReason, stopSequence?: string): void {
    noteFinish(STOP_REASONS.completions.written[reason], this.#options.facts)
    this.#sink.finish(reason, stopSequence)
  }

  usage(usage: AnswerUsage): void {
    const { serviceTier, ...counts } = usage
    Object.assign(this.#options.facts, counts)
    noteTier(serviceTier, this.#options.facts)
    this.#sink.usage(usage)
  }

  fail(error: AnswerError): void {
    this.#sink.fail(error)
  }

  end(): void {
    this.#sink.end()
  }

  #outputs(): void {
    if (this.#hasOutput) return
    this.#hasOutput = true
    const { facts, startMonotonicMs, begun } = this.#options
    if (facts.streaming) facts.timeToFirstTokenMs = clock.monotonic() - startMonotonicMs
    begun()
  }
}
