import { runAtOnce, type Steps } from '#base/in-slices.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import type { BodySink } from '#net/stream.ts'
import type { AnswerFailure, AnswerFilter } from '../../backend-protocol.ts'
import { Untranslatable } from '../chat/untranslatable.ts'
import { formatRefusal } from '../dialects/refuse.ts'
import { unusableAnswer } from '../facts/stream-error.ts'
import { JsonValue, parseInSteps } from '../json/json-document.ts'
import { writeJson } from '../json/write-json.ts'
import type { AnswerSurroundings } from './answer-surroundings.ts'
import type { AnswerTranslation, BodyTranslation } from './translate-request.ts'

/** What exactly is text of the provider, which must not get into logs. */
const UNREADABLE = 'it cannot be translated'

const NO_BYTES = new Uint8Array(0)

/** An answer that is translated as a whole. */
export class BodyAnswer implements AnswerFilter {
  readonly changesLength = true
  readonly whole = true
  readonly #plan: BodyTranslation
  readonly #around: AnswerSurroundings
  refusal: Refusal | undefined
  failure: AnswerFailure | undefined

  constructor(plan: BodyTranslation, around: AnswerSurroundings) {
    this.#plan = plan
    this.#around = around
  }

  into(sink: BodySink): BodySink {
    const { exchange, facts, claim, maxBytes } = this.#around
    const head = exchange.response!
    return new WholeBodySink(sink, claim, maxBytes, (body, isCut) => {
      try {
        if (isCut) throw new Untranslatable(undefined, 'the response is too large')
        return writeJson(this.#plan.answer(parseAnswer(body), head, facts))
      } catch (error) {
        if (!(error instanceof Untranslatable)) throw error
        this.refusal = refuseAnswer(this.#plan, 502, error.message)
        this.failure = unusableAnswer(UNREADABLE)
        return NO_BYTES
      }
    })
  }
}

/** Throws `Untranslatable`. */
function parseAnswer(body: Uint8Array): JsonValue {
  return runAtOnce(parseAnswerInSteps(body))
}

/** The same for a body that may be long. */
export function* parseAnswerInSteps(body: Uint8Array): Steps<JsonValue> {
  const value = yield* parseInSteps(body)
  if (value instanceof JsonValue) return value
  if (value.fault === 'too-many-parts') throw new Untranslatable(undefined, 'the response has too many parts')
  throw new Untranslatable(undefined, `the response is not JSON at byte ${value.at}`)
}

/** @param isCut the body is larger than what was kept of it */
type Translate = (body: Uint8Array, isCut: boolean) => Uint8Array

/** Sends at the end what is made of the whole body. */
export class WholeBodySink extends ForwardingSink {
  readonly #held: HeldBytes
  readonly #maxBytes: number
  readonly #translate: Translate
  #isTooLarge = false

  constructor(sink: BodySink, claim: BodyClaim, maxBytes: number, translate: Translate) {
    super(sink)
    this.#held = new HeldBytes(claim, maxBytes)
    this.#maxBytes = maxBytes
    this.#translate = translate
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#isTooLarge || this.#held.appendWithin(buffer, start, end)) return
    this.#isTooLarge = true
    this.#held.appendWithin(buffer, start, Math.min(end, start + this.#maxBytes - this.#held.length))
  }

  override end(): void {
    const body = asBuffer(this.#translate(this.#held.bytes, this.#isTooLarge))
    this.#held.drop()
    this.sink.bytes(body, 0, body.length)
    this.sink.end()
  }
}

/** An answer that cannot be read at all. */
export class RefusedAnswer implements AnswerFilter {
  readonly changesLength = true
  readonly whole = true
  readonly refusal: Refusal
  readonly failure: AnswerFailure

  constructor(plan: Pick<AnswerTranslation, 'type'>, detail: string) {
    this.refusal = refuseAnswer(plan, 502, detail)
    this.failure = unusableAnswer(detail)
  }

  into(sink: BodySink): BodySink {
    return new DroppingSink(sink)
  }
}

class DroppingSink extends ForwardingSink {
  override bytes(): void {}
}

/** The refusal of an answer that cannot be used. */
export function refuseAnswer({ type }: Pick<AnswerTranslation, 'type'>, status: number, detail: string): Refusal {
  return formatRefusal(type, reject('llm-response-invalid', { status, detail }), detail)
}

/** An error that the provider reports instead of an answer. */
export interface ReportedError {
  readonly status: number
  /** In the words of the provider. */
  readonly message: string
  /** In those of the gateway. */
  readonly failure: AnswerFailure
}

/** The refusal of an error that a provider reports. If guards check its answers, only the client gets its words. */
export function refuseReported(
  plan: Pick<AnswerTranslation, 'type'>,
  { status, message, failure }: ReportedError,
  { isGuarded }: Pick<LlmFacts, 'isGuarded'>,
): Refusal {
  const refusal = refuseAnswer(plan, status, message)
  return isGuarded ? { ...refusal, detail: failure.detail } : refusal
}
