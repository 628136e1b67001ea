import { clock } from '#base/clock.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import type { EventFrame } from '#net/event-stream/event-frame.ts'
import { EventReader } from '#net/event-stream/event-reader.ts'
import type { Head } from '#net/http/head.ts'
import type { BodySink } from '#net/stream.ts'
import type { KeptAnswer } from '../facts/kept-answer.ts'
import { classifyError, type StreamError } from '../facts/stream-error.ts'
import { countAt, objectAt, parseValue, textAt } from '../json/read-value.ts'
import { DetectStream } from './stream.ts'

export interface FrameAnswerOptions {
  readonly facts: LlmFacts
  readonly kept: KeptAnswer | undefined
  readonly claim: BodyClaim
  /** Of one frame. After a longer one, nothing is read. */
  readonly maxBytes: number
  readonly startMonotonicMs: number
  /** Gets the JSON of the events; undefined: nothing counts their text. */
  readonly seen: BodySink | undefined
  readonly onError: (error: StreamError) => void
}

/**
 * Forwards the frames of a stream of providerSeven (Amazon Bedrock) unchanged, and reads facts from their events: the payload itself, or what
 * its member `bytes` contains in base64.
 */
export class FrameAnswer extends ForwardingSink {
  readonly #options: FrameAnswerOptions
  readonly #frames: EventReader
  readonly #format = new DetectStream()

  constructor(sink: BodySink, options: FrameAnswerOptions) {
    super(sink)
    this.#options = options
    this.#frames = new EventReader(options.claim, options.maxBytes, (frame) => this.#read(frame))
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    this.#frames.read(buffer, start, end)
    super.bytes(buffer, start, end)
  }

  override end(trailers?: Head): void {
    this.#options.seen?.end()
    super.end(trailers)
  }

  #read(frame: EventFrame): void {
    const exception = frame.text(':exception-type') ?? frame.text(':error-code')
    if (exception !== undefined) this.#options.onError(classifyError({ type: exception }))
    const outer = parseValue(frame.payload)
    const inner = textAt(outer, 'bytes')
    const json = inner === undefined ? frame.payload : decodeBase64(inner)
    const event = inner === undefined ? outer : parseValue(json)
    if (event === undefined) return
    const { facts, kept, seen, startMonotonicMs } = this.#options
    if (seen !== undefined) seen.bytes(asBuffer(json), 0, json.length)
    if (facts.timeToFirstTokenMs === undefined && this.#format.isOutput(event)) {
      facts.timeToFirstTokenMs = clock.monotonic() - startMonotonicMs
    }
    if (kept !== undefined && !kept.isFull) this.#format.keep(event, kept)
    this.#format.read(event, facts)
    readInvocation(event, facts)
  }
}

/** The counts of the service itself, for models whose events have none. */
function readInvocation(event: unknown, facts: LlmFacts): void {
  if (facts.totalTokens !== undefined) return
  const metrics = objectAt(event, 'amazon-bedrock-invocationMetrics')
  const input = countAt(metrics, 'inputTokenCount')
  const output = countAt(metrics, 'outputTokenCount')
  if (input === undefined || output === undefined) return
  facts.inputTokens = facts.providerInputTokens = input
  facts.outputTokens = output
  facts.totalTokens = facts.providerTotalTokens = input + output
}

/** Empty if it is malformed. */
function decodeBase64(text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text)
  } catch {
    return new Uint8Array(0)
  }
}
