import type { Steps } from '#base/in-slices.ts'
import { REJECTIONS } from '#base/rejections.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Refusal, refusalStatus, refusalText, reject } from '#exchange/outcome.ts'
import { refuseLargeBody } from '#exchange/refuse-large-body.ts'
import type { Head } from '#net/http/head.ts'
import type { BodySink } from '#net/stream.ts'
import { InsertingSink } from '#net/websocket/inserting-sink.ts'
import {
  type Gatekeeper,
  MessageGate,
  type MessageGateOptions,
  type Passed,
  type Textless,
} from '#net/websocket/message-gate.ts'
import { writeServerClose, writeTextFrame } from '#net/websocket/write-frame.ts'
import type { AnswerFailure, TunnelFilter } from '../../backend-protocol.ts'
import { readRequestTexts } from '../dialects/responses/realtime-texts.ts'
import { forgetVerdicts } from '../guards/ask-service.ts'
import type { Guard } from '../guards/guard.ts'
import { guardBody, type ReadBody } from '../guards/guard-body.ts'
import { GUARD_CODE } from '../guards/guard-refusals.ts'
import { GuardedTexts } from '../guards/texts/guarded-texts.ts'
import { JsonValue, parseInSteps } from '../json/json-document.ts'
import { encode } from '../json/splice.ts'

/** Close codes (RFC 6455, 7.4.1). */
const PROTOCOL_ERROR = 1002
const INTERNAL_ERROR = 1011

/** The vendor documents this limit for the ids of events. */
const MAX_ID = 512

/** What guards check the events of a client with. */
export interface EventGuards {
  readonly guards: readonly Guard[]
  /** The head of the request that opened the session, without the credential of the provider. */
  readonly head: Head
}

export interface GuardedSessionOptions extends EventGuards, MessageGateOptions {
  readonly exchange: Exchange
}

/**
 * Runs the request guards on each event of the client (decision B42). An event that is rejected, or that cannot be checked, does not reach the
 * provider: the client gets an error event, and the session goes on.
 */
export class GuardedSession implements TunnelFilter, Gatekeeper {
  readonly changesLength = true
  readonly #inner: TunnelFilter
  readonly #options: GuardedSessionOptions
  /** The two directions. */
  #client!: InsertingSink
  #gate!: MessageGate
  #problem: string | undefined

  /** @param inner reads what the provider says */
  constructor(inner: TunnelFilter, options: GuardedSessionOptions) {
    this.#inner = inner
    this.#options = options
  }

  get failure(): AnswerFailure | undefined {
    if (this.#problem === undefined) return this.#inner.failure
    return { detail: this.#problem, unhealthy: false, status: undefined, cut: undefined }
  }

  into(sink: BodySink): BodySink {
    this.#client = new InsertingSink(sink, () => this.#gate.serverClosed())
    return this.#inner.into(this.#client)
  }

  fromClient(sink: BodySink): BodySink {
    this.#gate = new MessageGate(sink, this.#options, this)
    return this.#gate
  }

  judge(message: Uint8Array | Textless): Passed | Promise<Passed> {
    if (typeof message === 'string') return this.#refuse(refuseTextless(message, this.#options.maxBytes))
    const { exchange, guards, head } = this.#options
    // Each event is a request of its own, with its own time for services.
    forgetVerdicts(exchange)
    const about: EventFacts = { id: undefined }
    const conclude = (outcome: Uint8Array | Refusal): Passed | Promise<Passed> =>
      'kind' in outcome ? this.#refuse(outcome, about.id) : outcome
    const outcome = guardBody({ guards, exchange, head, read: readMessage(message, about) })
    return outcome instanceof Promise ? outcome.then(conclude) : conclude(outcome)
  }

  broken(why: string): void {
    this.#end(PROTOCOL_ERROR, `the session was ended, because the guards cannot read the client: ${why}`)
  }

  /** The next event of the client waits until the error has been sent. */
  #refuse(refusal: Refusal, eventId?: string): Promise<undefined> {
    const { exchange } = this.#options
    // What a guard has rejected counts most.
    if (exchange.reason !== 'Guardrail') {
      exchange.reason = REJECTIONS[refusal.code].reason
      exchange.decidedBy = refusal.decidedBy
    }
    const error = writeTextFrame('server', encode(formatErrorEvent(refusal, eventId, exchange.context.uuid())))
    return new Promise((resolve) => {
      this.#client.insert(error, (isSent) => {
        if (!isSent)
          this.#end(
            INTERNAL_ERROR,
            'the session was ended, because the frames of the provider leave no place for an error event',
          )
        resolve(undefined)
      })
    })
  }

  #end(code: number, problem: string): void {
    this.#problem = problem
    this.#client.endWith(writeServerClose(code))
  }
}

interface EventFacts {
  id: string | undefined
}

/** @param about receives the id of the event as soon as it has been read */
function* readMessage(message: Uint8Array, about: EventFacts): Steps<ReadBody | Refusal> {
  const event = yield* parseInSteps(message)
  if (!(event instanceof JsonValue) || event.kind !== 'object') {
    return reject('llm-body-invalid', { body: 'the event is not a JSON object with unique keys' })
  }
  yield
  about.id = event.get('event_id')?.text
  const texts = yield* GuardedTexts.read(message, yield* readRequestTexts(event))
  if ('unreadable' in texts) return reject('llm-body-invalid', { body: texts.unreadable })
  return { texts, write: () => texts.apply() }
}

function refuseTextless(why: Textless, maxBytes: number): Refusal {
  switch (why) {
    case 'binary':
      return reject('llm-body-invalid', { body: 'events are text messages' })
    case 'too-large':
      return refuseLargeBody('body-too-large', maxBytes)
    case 'no-memory':
      return reject('body-memory-exhausted')
  }
}

/** An error event of the API; `event_id` in it is that of the event which caused it. */
function formatErrorEvent(refusal: Refusal, eventId: string | undefined, id: string): string {
  const isGuard = refusal.code === 'prompt-guard-rejected' || refusal.code === 'prompt-guard-failed'
  const error = {
    type: refusalStatus(refusal) < 500 ? 'invalid_request_error' : 'server_error',
    code: isGuard ? GUARD_CODE : refusal.code,
    message: refusal.body ?? refusalText(refusal),
    param: null,
    event_id: eventId === undefined || eventId === '' || eventId.length > MAX_ID ? null : eventId,
  }
  return JSON.stringify({ type: 'error', event_id: `event_${id}`, error })
}
