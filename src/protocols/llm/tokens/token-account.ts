import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import type { Head } from '#net/http/head.ts'
import type { BodySink } from '#net/stream.ts'
import { decodeLatin1, decodeText } from '../json/native.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import { estimateRequest } from './estimate-request.ts'
import { AUDIO_PER_TOKEN, estimateTokens } from './estimate-tokens.ts'

/** Of a longer answer, the rest is assumed to be like the beginning. */
const MAX_SAMPLE_BYTES = 64 * 1024

/** An output that is estimated at so many tokens is not one of one token. */
const MIN_UNREPORTED = 20

/** Bytes of an answer of which there is no sample, for each token. */
const BYTES_PER_TOKEN = 8

/**
 * The tokens of one attempt that limits or expressions read. If the provider does not report them, or the client leaves before it does, they
 * are estimated from the prompt and from the text that has arrived, so that no limit is passed by leaving (decision B38).
 */
export class TokenAccount {
  readonly #type: RouteType
  readonly #facts: LlmFacts
  readonly #request: Uint8Array | undefined
  #answer: SampledAnswer | undefined
  /** Reads what is still unread of an answer that did not come to its end. */
  #readRest: (() => void) | undefined

  /** @param request its body, before a translation; undefined if it was not read */
  constructor(type: RouteType, facts: LlmFacts, request: Uint8Array | undefined) {
    this.#type = type
    this.#facts = facts
    this.#request = request
  }

  /** The sink for a successful answer, as the provider sends it without its coding. */
  sample(sink: BodySink, claim: BodyClaim): BodySink {
    this.#answer = new SampledAnswer(sink, claim)
    return this.#answer
  }

  /** So many bytes of the answer cannot be read. */
  missed(length: number): void {
    this.#answer?.missed(length)
  }

  /** @param readRest called by `settle` */
  readsLater(readRest: () => void): void {
    this.#readRest = readRest
  }

  /** The attempt is over. @param isUnanswered the provider has the request, and its answer will not be read */
  settle(isUnanswered: boolean): void {
    this.#readRest?.()
    const answer = this.#answer
    if ((answer === undefined && !isUnanswered) || this.#type === 'MessagesTokenCount') return
    const facts = this.#facts
    const isComplete = answer?.isEnded === true && facts.errorType === undefined
    const estimated = isComplete && !this.#mayBeStart() ? 0 : this.#estimateOutput()
    if (isComplete && facts.totalTokens !== undefined && estimated < MIN_UNREPORTED) return
    const output = Math.max(facts.outputTokens ?? 0, estimated)
    facts.inputTokens ??= this.#estimateInput()
    facts.outputTokens = this.#type === 'Embeddings' ? facts.outputTokens : output
    facts.totalTokens = Math.max(facts.totalTokens ?? 0, facts.inputTokens + output)
    facts.areTokensEstimated = true
  }

  /** The usage that an answer begins with, when no output has been made. It is all that some providers report. */
  #mayBeStart(): boolean {
    return (this.#facts.outputTokens ?? 0) <= 1
  }

  #estimateInput(): number {
    return this.#request === undefined ? 0 : estimateRequest(this.#request)
  }

  #estimateOutput(): number {
    return this.#type === 'Embeddings' ? 0 : (this.#answer?.estimate() ?? 0)
  }
}

/** Keeps the beginning of the output of an answer as it passes. */
class SampledAnswer extends ForwardingSink {
  readonly #sample: HeldBytes
  #length = 0
  /** Bytes before the sample, without output: a stream of the responses API begins with all instructions and tools of its request. */
  #skipped = 0
  #isResponses = false
  isEnded = false

  constructor(sink: BodySink, claim: BodyClaim) {
    super(sink)
    this.#sample = new HeldBytes(claim, MAX_SAMPLE_BYTES)
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    // The sample is without holes: no later piece is added after one that did not fit.
    let at = this.#length === this.#skipped + this.#sample.length ? start : end
    while (at < end) {
      const next = Math.min(end, at + MAX_SAMPLE_BYTES - this.#sample.length)
      if (next === at || !this.#sample.appendWithin(buffer, at, next)) break
      at = next
      if (this.#sample.length === MAX_SAMPLE_BYTES && this.#hasNoOutput()) {
        this.#skipped += MAX_SAMPLE_BYTES
        this.#sample.length = 0
      }
    }
    this.#length += end - start
    super.bytes(buffer, start, end)
  }

  #hasNoOutput(): boolean {
    return this.#outputInSample() === '' && this.#audioInSample() === 0
  }

  /** In tokens. */
  #audioInSample(): number {
    const { bytes } = this.#sample
    return audioIn(decodeLatin1(bytes, 0, bytes.length))
  }

  #outputInSample(): string {
    const { bytes } = this.#sample
    const text = decodeText(bytes, 0, bytes.length)
    this.#isResponses ||= text.includes('"response.')
    return outputIn(text, this.#isResponses)
  }

  override end(trailers?: Head): void {
    this.isEnded = true
    super.end(trailers)
  }

  missed(length: number): void {
    this.#length += length
  }

  /** The tokens of the output that has arrived. */
  estimate(): number {
    const { length } = this.#sample
    const rest = this.#length - this.#skipped
    if (length === 0) return Math.ceil(rest / BYTES_PER_TOKEN)
    const sampled = estimateTokens(this.#outputInSample()) + this.#audioInSample()
    return Math.ceil((sampled * rest) / length)
  }
}

/** Members with output of a model, in answers and streams of all dialects: text, thoughts, refusals, spoken words and arguments of calls. */
const OUTPUT =
  /"(?:content|text|transcript|delta|refusal|thinking|reasoning|reasoning_content|arguments|partial_json|input|name)"\s*:\s*"((?:[^"\\]|\\.)*)/gs
/** In streams of the responses API all other members repeat the text of the deltas. */
const DELTAS = /"delta"\s*:\s*"((?:[^"\\]|\\.)*)/gs

/** What a model says in chat completions, in base64. */
const AUDIO = /"audio"\s*:\s*\{[^{}]*?"data"\s*:\s*"([^"]*)/g

/** The tokens of the audio in the beginning of an answer. */
function audioIn(answer: string): number {
  let length = 0
  for (const [, data = ''] of answer.matchAll(AUDIO)) length += data.length
  return length / AUDIO_PER_TOKEN
}

/** The output of the model in the beginning of an answer, which may be cut off anywhere. */
function outputIn(answer: string, isResponses: boolean): string {
  const texts = isResponses ? DELTAS : OUTPUT
  return Array.from(answer.matchAll(texts), (match) => unescaped(match[1]!)).join('')
}

/** Escapes are not exact: the text is counted, and never shown. */
function unescaped(text: string): string {
  return text
    .replaceAll(/\\u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/\\[nrt]/g, '\n')
    .replaceAll(/\\(.)/g, '$1')
}
