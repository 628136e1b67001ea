import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import { type Refusal, refusalStatus } from '#exchange/outcome.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { RESPONSE_DECODING } from '#net/body/response-decoding.ts'
import { Head } from '#net/http/head.ts'
import type { BodySink, BodySource } from '#net/stream.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { observeResponse } from '#protocols/llm/answer/read-response.ts'
import { type Setup, sent } from './prepare-llm.ts'

/** What a provider answers. */
export interface ProviderAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** A value other than text and bytes is sent as JSON. */
  readonly body: unknown
}

/** A request of a client, the request that its provider gets, and the response that the client gets. */
export interface TranslatedExchange {
  readonly path: string
  /** Parsed. */
  readonly request: unknown
  readonly dropped: readonly string[]
  readonly status: number
  readonly contentType: string | undefined
  readonly text: string
  readonly facts: LlmFacts
}

/** Sends a request through the gateway's translation to a provider that answers as given. Throws if the request is refused. */
export function translated(body: object, setup: Setup, answer: ProviderAnswer): TranslatedExchange {
  const { path, text, facts = { ...NO_LLM }, response } = sent(JSON.stringify(body), setup)
  const exchange = exchangeWith()
  exchange.llm = facts
  exchange.response = Head.response(answer.status ?? 200)
  exchange.response.set('content-type', 'application/json')
  for (const [name, value] of Object.entries(answer.headers ?? {})) exchange.response.set(name, value)
  const client = new Client()
  const filter = observeResponse(response, exchange, {
    claim: new BodyClaim(new BodyMemory(2 ** 24)),
    decoding: RESPONSE_DECODING,
  })
  const sink = filter?.into(client) ?? client
  const bytes = bytesOf(answer.body)
  sink.bytes(bytes, 0, bytes.length)
  sink.end()
  const refusal: Refusal | undefined = filter?.refusal
  return {
    path,
    request: JSON.parse(text ?? 'null'),
    dropped: facts.translation?.dropped ?? [],
    status: refusal === undefined ? exchange.response.status : refusalStatus(refusal),
    contentType: exchange.response.joined('content-type'),
    text: typeof refusal?.body === 'string' ? refusal.body : client.text,
    facts,
  }
}

function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

class Client implements BodySink {
  readonly backed = false
  source: BodySource | null = null
  readonly takesFramed = false
  text = ''

  bytes(buffer: Buffer, start: number, end: number): void {
    this.text += buffer.toString('utf8', start, end)
  }

  end(): void {}

  abort(): void {}
}
