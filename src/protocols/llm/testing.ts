import { clock } from '#base/clock.ts'
import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import { type LlmReads, READS_NOTHING } from '#exchange/llm-reads.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { RESPONSE_DECODING } from '#net/body/response-decoding.ts'
import { Head } from '#net/http/head.ts'
import type { Abort, BodySink, BodySource } from '#net/stream.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { inOneTurn } from '#test/support/in-one-turn.ts'
import { observeResponse } from './answer/read-response.ts'
import type { NativeRequest } from './answer/response-plan.ts'
import type { AnswerSink } from './chat/answer-sink.ts'
import type { ClientDialect, WireDialect } from './chat/dialect.ts'
import { FORMATS } from './dialects/index.ts'
import { KeptAnswer } from './facts/kept-answer.ts'
import type { Guard } from './guards/guard.ts'
import type { RouteType } from './settings/policy-schema.ts'
import { TokenAccount } from './tokens/token-account.ts'

/** What clients of chats speak, by the name of the dialect. */
export const CLIENT_DIALECTS: { readonly [Name in WireDialect]?: ClientDialect } = Object.fromEntries(
  Object.values(FORMATS).flatMap(({ dialect, client }) => (client === undefined ? [] : [[dialect, client]])),
)

/** What the client gets. */
export class Collector implements BodySink {
  readonly backed = false
  readonly takesFramed = true
  source: BodySource | null = null
  text = ''
  calls = 0
  ended = 0
  aborted: Abort | undefined
  trailers: Head | undefined

  bytes(buffer: Buffer, start: number, end: number): void {
    this.text += buffer.toString('latin1', start, end)
    this.calls++
  }

  end(trailers?: Head): void {
    this.ended++
    this.trailers = trailers
  }

  abort(why: Abort): void {
    this.aborted = why
  }
}

/** An answer as the calls that a reader makes, each as its name and arguments. */
export function toldAnswer(): { readonly sink: AnswerSink; readonly told: unknown[][] } {
  const told: unknown[][] = []
  const sink = new Proxy({} as AnswerSink, {
    get:
      (_, name) =>
      (...given: unknown[]) =>
        void told.push([name, ...given]),
  })
  return { sink, told }
}

export interface Answer {
  readonly type?: RouteType
  readonly hidesUsage?: boolean
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly trailers?: Readonly<Record<string, string>>
  readonly status?: number
  /** Sizes of the pieces in which the body arrives; the rest comes in one. */
  readonly cuts?: readonly number[]
  readonly breaks?: Abort
  /** The response has not ended. */
  readonly stays?: boolean
  /** What of the answer is kept. */
  readonly reads?: Partial<LlmReads>
  readonly maxKept?: number
  readonly claim?: BodyClaim
  /** A limit reads tokens. */
  readonly counts?: boolean
  readonly coding?: string
  readonly request?: string
  /** The request; its provider speaks the dialect of the client. */
  readonly native?: NativeRequest
  readonly guards?: readonly Guard[]
  /** That of the gateway. */
  readonly credential?: string
}

function writeFields(head: Head, fields: Readonly<Record<string, string>> = {}): Head {
  for (const [name, value] of Object.entries(fields)) head.set(name, value)
  return head
}

/** Runs an answer through the filter as the wire would: all pieces in the same memory, which is overwritten afterwards. */
export function pass(body: string | Buffer, answer: Answer = {}) {
  const exchange = exchangeWith()
  const kept = answer.reads && new KeptAnswer({ ...READS_NOTHING, ...answer.reads }, answer.maxKept ?? 10_000)
  const facts: LlmFacts = {
    ...NO_LLM,
    answer: kept,
    isGuarded: answer.guards !== undefined && answer.guards.length > 0,
  }
  exchange.llm = facts
  exchange.startMonotonicMs = clock.monotonic()
  exchange.sentCredential = answer.credential
  exchange.response = Head.response(answer.status ?? 200)
  exchange.response.set('content-type', answer.contentType ?? 'text/event-stream; charset=utf-8')
  writeFields(exchange.response, answer.headers)
  if (answer.coding !== undefined) exchange.response.set('content-encoding', answer.coding)
  const collector = new Collector()
  const account = answer.counts
    ? new TokenAccount(answer.type ?? 'Completions', facts, Buffer.from(answer.request ?? '{}'))
    : undefined
  const plan = {
    wire: answer.type ?? 'Completions',
    hidesUsage: answer.hidesUsage ?? false,
    kept,
    translation: undefined,
    native: answer.native,
    guards: answer.guards ?? [],
    account,
    maxBytes: 2 ** 21,
  }
  const filter = observeResponse(plan, exchange, {
    claim: answer.claim ?? roomFor(0).claim,
    decoding: RESPONSE_DECODING,
  })
  const sink = filter?.into(collector) ?? collector
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const shared = Buffer.alloc(bytes.length + 20)
  inOneTurn(() => {
    let at = 0
    for (const size of [...(answer.cuts ?? []), bytes.length]) {
      const end = Math.min(at + size, bytes.length)
      if (end === at) continue
      bytes.copy(shared, 7, at, end)
      sink.bytes(shared, 7, 7 + end - at)
      shared.fill('#')
      at = end
    }
    const trailers = answer.trailers && writeFields(Head.response(200), answer.trailers)
    if (answer.breaks !== undefined) sink.abort(answer.breaks)
    else if (answer.stays !== true) sink.end(trailers)
  })
  account?.settle(false)
  return {
    facts,
    collector,
    exchange,
    filter,
    failure: filter?.failure,
    refusal: filter?.refusal,
    text: Buffer.from(collector.text, 'latin1').toString(),
  }
}
