import { heapOfJson } from '#base/heap-of-json.ts'
import { decodeMessage, encodeMessage } from '#base/protobuf/message.ts'
import { backendName } from '#exchange/backend-name.ts'
import { CallStream, type MessageReceiver } from '#exchange/call-stream.ts'
import type { Callout, Exchange } from '#exchange/exchange.ts'
import type { FailedCall } from '#exchange/failed-call.ts'
import { type Outcome, type Refusal, reject } from '#exchange/outcome.ts'
import { CALLOUT_DEADLINE_MS, recordCallout } from '../../shared/callout.ts'
import { describeQuestion } from './describe-question.ts'
import { Half } from './half.ts'
import { immediateAnswer } from './immediate-response.ts'
import {
  type ImmediateResponse,
  PROCESS_PATH,
  PROCESSING_REQUEST,
  PROCESSING_RESPONSE,
  type ProcessingRequest,
  type ProcessingResponse,
} from './messages.ts'
import { type MessageModes, type Modes, overrideModes, protocolConfig } from './modes.ts'
import type { Processed, Talk } from './talk.ts'

/** Bytes of a body that may wait for a slow receiver while the processor has to answer about the other message. */
const MAX_WAITING_BYTES = 1024 * 1024

type Said = Pick<Callout, 'detail'> & Partial<Pick<Callout, 'status'>>

/** A compiled policy. */
export interface Processor {
  /** Key of the backend; empty: its reference is not permitted, which is as if it failed. */
  readonly backend: string
  readonly modes: Modes
  readonly allowModeOverride: boolean
}

/**
 * The conversation with the processor about one request and its response: one gRPC stream (`envoy.service.ext_proc.v3`), which begins with the
 * first part that the processor sees.
 */
export class Conversation implements Talk, MessageReceiver {
  readonly exchange: Exchange
  readonly #processor: Processor
  #modes: Modes
  #stream: CallStream | undefined
  readonly #request: Half
  readonly #response: Half
  /** The processor has ended the stream. */
  isOver = false
  failure: Refusal | undefined
  /** Nothing more is sent; answers do not matter. */
  #isComplete = false
  /** Continues to read. */
  #readOn: (() => void) | undefined

  constructor(processor: Processor, exchange: Exchange) {
    this.exchange = exchange
    this.#processor = processor
    this.#modes = processor.modes
    this.#request = new Half(this, 'request')
    this.#response = new Half(this, 'response')
    exchange.context.whenOver(() => this.#leave())
  }

  processRequest(): Outcome | Promise<Outcome> {
    return this.#request.start()
  }

  processResponse(): Outcome | Promise<Outcome> {
    return this.#response.start()
  }

  // For the halves.

  get modes(): Modes {
    return this.#modes
  }

  get backed(): boolean {
    return this.#stream?.backed === true
  }

  send(part: ProcessingRequest): void {
    if (this.#stream === undefined) this.#begin(part)
    else this.#stream.send(encodeMessage(PROCESSING_REQUEST, part))
    this.changed()
  }

  #begin(part: ProcessingRequest): void {
    const { exchange } = this
    const { backend, modes } = this.#processor
    const first = { ...part, protocolConfig: protocolConfig(modes) }
    const message = encodeMessage(PROCESSING_REQUEST, first)
    if (exchange.trace !== undefined) {
      const question = describeQuestion(first, message.length)
      exchange.trace.callout({ policy: 'extProc', backend: backendName(backend), question })
    }
    const streamed = { purpose: 'processing', path: PROCESS_PATH, defaultMessageMs: CALLOUT_DEADLINE_MS } as const
    this.#stream = new CallStream(exchange.context.call, backend, streamed, this)
    this.#stream.send(message)
  }

  headersAnswered(message: keyof Modes, answer: ProcessingResponse): string | undefined {
    const { dynamicMetadata, modeOverride } = answer
    const { exchange } = this
    // Without a prototype, because the server chooses the names.
    if (dynamicMetadata !== undefined) {
      const unkept = exchange.bodies[message].keep(heapOfJson(dynamicMetadata))
      if (unkept !== undefined) return unkept.detail ?? unkept.code
      exchange.extproc = Object.assign(Object.create(null), exchange.extproc, dynamicMetadata)
    }
    if (modeOverride === undefined || !this.#processor.allowModeOverride) return undefined
    const modes = overrideModes(this.#modes, modeOverride, message)
    if (modes === undefined) return 'a mode override with an unknown mode'
    this.#modes = modes
    return undefined
  }

  fail(why: string, status?: string): void {
    if (this.isOver || this.#isComplete || this.failure !== undefined) return
    const failure = reject('ext-proc-failed', { detail: `processor ${backendName(this.#processor.backend)}: ${why}` })
    this.failure = failure
    this.#stream?.cancel()
    this.#endActive(failure, 'failed', { detail: why, status })
    this.#readOn?.()
  }

  /** Whether the processor is waited for, and whether it can be read, may have changed. */
  changed(isProgress = false): void {
    const deadline = this.#stream?.deadline
    if (deadline === undefined || this.isOver || this.failure !== undefined) return
    if (!this.#isComplete && !this.#request.due && !this.#response.due) deadline.stop()
    else if (isProgress || !deadline.runs) deadline.start()
    if (!this.#mustWait) this.#readOn?.()
  }

  settled(about: Processed, outcome: Outcome): void {
    if (outcome === undefined && about.isAsked) this.#record(about, 'allowed')
  }

  finished(): void {
    const { response } = this.#modes
    if (!this.#request.isActive && (this.#response.isOver || !wantsAny(response))) this.#complete()
    else this.changed()
  }

  abandon(): void {
    this.isOver = true
    this.#stream?.cancel()
    this.#request.drop()
    this.#response.drop()
    this.#readOn?.()
  }

  // For the stream.

  message(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#isComplete) return undefined
    const answer = decodeMessage(PROCESSING_RESPONSE, bytes)
    if (answer === undefined) this.fail('response-invalid: the message is not a ProcessingResponse')
    // It asks for more time than it has, which the configuration does not allow.
    else if (answer.overrideMessageTimeout !== undefined) return undefined
    else this.#take(answer)
    this.changed(true)
    if (this.failure !== undefined || !this.#mustWait) return undefined
    return new Promise((resolve) => {
      this.#readOn = () => {
        this.#readOn = undefined
        resolve()
      }
    })
  }

  drained(): void {
    this.#request.resume()
    this.#response.resume()
    this.changed(true)
  }

  ended(failed: FailedCall | undefined): void {
    if (this.#isComplete || this.isOver || this.failure !== undefined) return
    if (failed !== undefined && failed.failure !== 'not-made') return this.fail(failed.text, failed.status)
    this.isOver = true
    // Nobody was asked (`explain`).
    if (failed !== undefined) for (const half of this.#halves) half.skip()
    else if (!this.#halves.every((half) => half.release())) {
      this.isOver = false
      this.fail('it ended the stream before it returned the body')
    }
  }

  broke(error: unknown): void {
    this.isOver = true
    this.#endActive(error instanceof Error ? error : new Error(String(error)))
  }

  get #halves(): readonly Half[] {
    return [this.#response, this.#request]
  }

  #take(answer: ProcessingResponse): void {
    const { requestHeaders, requestBody, requestTrailers, immediateResponse } = answer
    const { responseHeaders, responseBody, responseTrailers } = answer
    if (immediateResponse !== undefined) this.#respond(immediateResponse)
    else if (requestHeaders !== undefined) this.#request.answerHead(answer, requestHeaders.response)
    else if (requestBody !== undefined) this.#request.answerBody(requestBody.response)
    else if (requestTrailers !== undefined) this.#request.answerTrailers(requestTrailers.headerMutation)
    else if (responseHeaders !== undefined) this.#response.answerHead(answer, responseHeaders.response)
    else if (responseBody !== undefined) this.#response.answerBody(responseBody.response)
    else if (responseTrailers !== undefined) this.#response.answerTrailers(responseTrailers.headerMutation)
    else this.fail('response-invalid: an answer without content')
  }

  /** The processor responds to the client itself. */
  #respond(response: ImmediateResponse): void {
    if (!this.#halves.some((half) => half.awaits)) return this.fail('an immediate response that it was not asked for')
    const answer = immediateAnswer(response, this.exchange)
    if (answer === undefined) return this.fail('an immediate response with an invalid status')
    this.#complete()
    this.#endActive(answer, 'answered', { detail: response.details })
  }

  /** Ends what is in progress with one outcome. Nothing is: it ends the next step if that needs the processor. */
  #endActive(outcome: NonNullable<Outcome> | Error, verdict?: Callout['verdict'], more?: Said): void {
    const half = this.#halves.find((one) => one.isWaiting) ?? this.#halves.find((one) => one.isActive)
    for (const one of this.#halves) if (one !== half) one.drop()
    if (half === undefined) return
    if (verdict !== undefined) this.#record(half, verdict, more)
    half.end(outcome)
  }

  #record({ startMs }: Processed, verdict: Callout['verdict'], more?: Said): void {
    const { backend } = this.#processor
    recordCallout(this.exchange, { policy: 'extProc', backend, startMs }, verdict, more)
  }

  /** The processor has seen everything. It may take its time to end the stream, within the limit. */
  #complete(): void {
    if (this.#isComplete) return
    this.#isComplete = true
    this.#stream?.end()
    this.changed(true)
    this.#readOn?.()
  }

  /** The request is over for all policies. */
  #leave(): void {
    if (this.isOver || this.failure !== undefined) return
    if (this.#halves.some((half) => half.isActive)) this.abandon()
    else this.#complete()
  }

  /** A slow receiver of a body slows the processor down, unless it must answer about the other message meanwhile. */
  get #mustWait(): boolean {
    if (this.#isComplete || this.isOver || this.failure !== undefined) return false
    return waitsFor(this.#request, this.#response) || waitsFor(this.#response, this.#request)
  }
}

function waitsFor(half: Half, other: Half): boolean {
  return half.full && !(other.awaits && half.queuedBytes < MAX_WAITING_BYTES)
}

function wantsAny({ headers, body, trailers }: MessageModes): boolean {
  return headers || body !== 'None' || trailers
}
