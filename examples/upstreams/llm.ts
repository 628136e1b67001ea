import { setTimeout as sleep } from 'node:timers/promises'
import { answerWith } from './answer-with.ts'
import { buildReply, type ChatReply, parseChatRequest, toChunks, toCompletion } from './chat-completion.ts'
import { listen, type Upstream, type UpstreamOptions } from './listen.ts'
import { runAlone } from './run-alone.ts'

export interface LlmOptions extends UpstreamOptions {
  /** When set, requests without `Authorization: Bearer <key>` are answered 401. */
  readonly key?: string
}

/** What `GET /state` answers. */
export interface LlmState {
  readonly name: string
  /** Chat completions asked for so far, refused ones included. */
  readonly requests: number
  /** The status it was told to fail with, or null. */
  readonly failing: number | null
  /** The last body as it arrived, or null. */
  readonly lastRequest: unknown
}

/** Like a real provider it knows its own models and no others. */
const MODELS = ['mock-small', 'mock-large']

const PIECE_PAUSE_MS = 15

/**
 * Starts a mock LLM provider in the chat-completions format: `POST /v1/chat/completions` (streamed or not) and
 * `GET /v1/models`. It repeats what it heard and says who it is, in the text and in the header `x-served-by`.
 * `POST /fail?status=503` makes it fail until `POST /heal`; `GET /state` tells what it saw ({@link LlmState}).
 */
export function startLlm({ port, name = 'llm', key }: LlmOptions): Promise<Upstream> {
  const provider = new MockProvider(name, key)
  return listen({ port, name }, () => answerWith((request) => provider.answer(request)))
}

class MockProvider {
  readonly #name: string
  readonly #key: string | undefined
  #requests = 0
  #failing: number | null = null
  #lastRequest: unknown = null

  constructor(name: string, key: string | undefined) {
    this.#name = name
    this.#key = key
  }

  async answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    switch (`${request.method} ${pathname}`) {
      case 'POST /v1/chat/completions':
        return this.#chat(request)
      case 'GET /v1/models':
        return this.#refusal(request) ?? this.#json(200, { object: 'list', data: MODELS.map((id) => this.#model(id)) })
      case 'POST /fail':
        return this.#fail(searchParams.get('status') ?? '503')
      case 'POST /heal':
        this.#failing = null
        return this.#json(200, this.#state())
      case 'GET /state':
        return this.#json(200, this.#state())
      default:
        return this.#error(404, 'invalid_request_error', null, `unknown URL: ${request.method} ${pathname}`)
    }
  }

  async #chat(request: Request): Promise<Response> {
    this.#requests++
    const body = parseJson(await request.text())
    this.#lastRequest = body ?? null
    const refusal = this.#refusal(request)
    if (refusal !== undefined) return refusal

    const chat = parseChatRequest(body)
    if (typeof chat === 'string') return this.#error(400, 'invalid_request_error', null, chat)
    if (!MODELS.includes(chat.model)) {
      const message = `the model \`${chat.model}\` does not exist`
      return this.#error(404, 'invalid_request_error', 'model_not_found', message)
    }
    const reply = buildReply(this.#name, chat)
    if (!chat.stream) return this.#json(200, toCompletion(reply))
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-served-by': this.#name }
    return new Response(ReadableStream.from(toEvents(reply, chat.includeUsage)), { headers })
  }

  /** The answer of a provider that fails or does not know the caller. */
  #refusal(request: Request): Response | undefined {
    if (this.#failing !== null) {
      return this.#error(this.#failing, 'server_error', null, `${this.#name} was told to fail`)
    }
    if (this.#key !== undefined && request.headers.get('authorization') !== `Bearer ${this.#key}`) {
      return this.#error(401, 'invalid_request_error', 'invalid_api_key', 'incorrect API key provided')
    }
    return undefined
  }

  #fail(status: string): Response {
    if (!/^[45]\d\d$/.test(status)) {
      return this.#error(400, 'invalid_request_error', null, 'status is a number from 400 to 599')
    }
    this.#failing = Number(status)
    return this.#json(200, this.#state())
  }

  #state(): LlmState {
    return { name: this.#name, requests: this.#requests, failing: this.#failing, lastRequest: this.#lastRequest }
  }

  #model(id: string): object {
    return { id, object: 'model', created: 1_767_225_600, owned_by: this.#name }
  }

  #error(status: number, type: string, code: string | null, message: string): Response {
    return this.#json(status, { error: { message, type, param: null, code } })
  }

  #json(status: number, value: unknown): Response {
    return Response.json(value, { status, headers: { 'x-served-by': this.#name } })
  }
}

async function* toEvents(reply: ChatReply, includeUsage: boolean): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for (const chunk of toChunks(reply, includeUsage)) {
    yield encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`)
    await sleep(PIECE_PAUSE_MS)
  }
  yield encoder.encode('data: [DONE]\n\n')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

if (import.meta.main) await runAlone(startLlm, { port: 9111, name: 'alpha' })
