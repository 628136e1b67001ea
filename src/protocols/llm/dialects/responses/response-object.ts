import type { Response, ResponseError, ResponseOutputItem, ResponseUsage } from 'openai/resources/responses/responses'
import type { AnswerUsage } from '../../chat/answer-sink.ts'
import type { AnswerContext } from '../../chat/dialect.ts'
import { asIs } from '../../json/write-json.ts'
import { writeTier } from '../completions/usage.ts'

/** `output_text` is made by the vendor's client. A response in progress has no usage. */
export type WrittenResponse = Omit<Response, 'output_text' | 'usage' | 'status'> & {
  usage: ResponseUsage | null
  status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
}

/** What changes while a response is made. */
interface Progress {
  readonly status: WrittenResponse['status']
  readonly output: ResponseOutputItem[]
  readonly usage: AnswerUsage | undefined
  readonly error?: ResponseError
  /** Why it is incomplete. */
  readonly reason?: 'max_output_tokens' | 'content_filter' | undefined
}

/** Writes the object of a response, which repeats the settings of the request. Values of the client are JSON text: see `asIs`. */
export class ResponseObject {
  readonly #context: AnswerContext
  readonly #id: string
  readonly #model: string

  constructor(model: string, context: AnswerContext) {
    this.#context = context
    this.#id = context.newId('resp_')
    this.#model = model === '' ? context.model : model
  }

  write({ status, output, usage, error, reason }: Progress): WrittenResponse {
    const tier = usage && writeTier(usage)
    return {
      id: this.#id,
      object: 'response',
      created_at: this.#context.createdSeconds,
      status,
      background: false,
      error: error ?? null,
      incomplete_details: reason === undefined ? null : { reason },
      instructions: this.#given('instructions') ?? null,
      max_output_tokens: this.#given('max_output_tokens') ?? null,
      max_tool_calls: this.#given('max_tool_calls') ?? null,
      model: this.#model,
      output,
      parallel_tool_calls: this.#given('parallel_tool_calls') ?? true,
      previous_response_id: null,
      prompt_cache_key: this.#given('prompt_cache_key') ?? null,
      reasoning: { effort: this.#within('reasoning', 'effort'), summary: this.#within('reasoning', 'summary') },
      safety_identifier: this.#given('safety_identifier') ?? null,
      ...(tier !== undefined && { service_tier: tier }),
      temperature: this.#given('temperature') ?? null,
      text: {
        format: this.#within('text', 'format') ?? { type: 'text' },
        verbosity: this.#within('text', 'verbosity'),
      },
      tool_choice: this.#given('tool_choice') ?? 'auto',
      tools: this.#given('tools') ?? [],
      top_logprobs: this.#given('top_logprobs') ?? null,
      top_p: this.#given('top_p') ?? null,
      truncation: this.#given('truncation') ?? 'disabled',
      usage: usage === undefined ? null : writeUsage(usage),
      metadata: this.#given('metadata') ?? {},
      access_programs: null,
    }
  }

  #given<Name extends keyof Response>(name: Name): NonNullable<Response[Name]> | undefined {
    const value = this.#context.request.get(name)
    return value && asIs(value.json)
  }

  #within<Value>(object: 'reasoning' | 'text', name: string): Value | null {
    const value = this.#context.request.get(object)?.get(name)
    return value === undefined ? null : asIs<Value>(value.json)
  }
}

/** Counts of input include cached tokens. */
function writeUsage(usage: AnswerUsage): ResponseUsage {
  const { inputTokens = 0, outputTokens = 0 } = usage
  return {
    input_tokens: inputTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedInputTokens ?? 0,
      cache_write_tokens: usage.cacheCreationInputTokens ?? 0,
    },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: usage.totalTokens ?? inputTokens + outputTokens,
  }
}
