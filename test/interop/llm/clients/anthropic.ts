import { equal, ok } from 'node:assert/strict'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import type {
  Message,
  MessageCreateParamsNonStreaming,
  MessageParam,
} from '@anthropic-ai/sdk/resources/messages/messages'
import { type Answer, type Client, type Connection, type Question, reasonFrom, type Target } from '../client.ts'
import { PARAMETERS, PROMPT, TEXTS, TOOL } from '../replies.ts'
import { ALIAS, OWN_MODEL, withoutThoughts } from '../upstreams.ts'

const REASONS = {
  end_turn: 'stop',
  max_tokens: 'length',
  tool_use: 'calls',
  refusal: 'refusal',
} as const

function clientOf({ url, headers }: Target, maxRetries = 0): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: 'k', maxRetries, defaultHeaders: headers })
}

/** Messages: `create`, the helper for streams, `parse`, and the tool runner. */
export const anthropicMessages: Client = {
  name: 'anthropic messages',
  losesThoughts: withoutThoughts,
  errors: {
    400: 'BadRequestError',
    401: 'AuthenticationError',
    403: 'PermissionDeniedError',
    422: 'UnprocessableEntityError',
    429: 'RateLimitError',
    500: 'InternalServerError',
    503: 'ServiceUnavailableError',
    529: 'OverloadedError',
  },
  connect: (target) => messages(target),
}

function messages(target: Target): Connection {
  const client = clientOf(target)
  const { model, adaptive } = target.upstream
  const thinking = adaptive ? ({ type: 'adaptive' } as const) : ({ type: 'enabled', budget_tokens: 1024 } as const)
  const paramsOf = (question: Question): MessageCreateParamsNonStreaming => ({
    model,
    max_tokens: question.limit ?? 4096,
    system: 'Be brief.',
    messages: turnsOf(question),
    ...(question.offersTools && {
      tools: [{ name: TOOL.name, description: TOOL.description, input_schema: { ...PARAMETERS, required: ['city'] } }],
    }),
    ...(question.thinks && { thinking }),
  })
  return {
    faultOf(error) {
      if (!(error instanceof Anthropic.APIError)) return undefined
      const { status, message, headers } = error
      return { status, message, retryAfter: headers?.get('retry-after') ?? undefined, kind: error.constructor.name }
    },
    async ask(question) {
      const params = paramsOf(question)
      return answerOf(await client.messages.create(params, { signal: question.signal ?? null }), params.messages)
    },
    async stream(question, onText) {
      const params = paramsOf(question)
      const stream = client.messages.stream(params, { signal: question.signal ?? null })
      stream.on('text', onText)
      return answerOf(await stream.finalMessage(), params.messages)
    },
    async parse(question, schema) {
      const format = { type: 'json_schema' as const, schema: { ...schema } }
      const message = await client.messages.parse({ ...paramsOf(question), output_config: { format } })
      return JSON.parse(textOf(message))
    },
    async runTools(question, run, isStream) {
      const tool = betaTool({
        name: TOOL.name,
        description: TOOL.description,
        inputSchema: PARAMETERS,
        run: ({ city }) => run(city),
      })
      const message = await client.beta.messages.toolRunner({
        model,
        max_tokens: 4096,
        messages: [{ role: 'user', content: question.prompt! }],
        tools: [tool],
        stream: isStream,
      })
      return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    },
  }
}

function turnsOf({ history, prompt, image, results = [] }: Question): MessageParam[] {
  const turns = [...((history as MessageParam[]) ?? [])]
  if (results.length > 0) {
    const content = results.map(({ id, text }) => ({ type: 'tool_result', tool_use_id: id, content: text }) as const)
    return [...turns, { role: 'user', content }]
  }
  const source = { type: 'base64', media_type: 'image/png', data: image ?? '' } as const
  const picture = image === undefined ? [] : [{ type: 'image', source } as const]
  return [...turns, { role: 'user', content: [...picture, { type: 'text', text: prompt! }] }]
}

function textOf({ content }: Pick<Message, 'content'>): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

function answerOf(message: Message, turns: MessageParam[]): Answer {
  const { content, stop_reason, usage } = message
  const reason = reasonFrom(REASONS, stop_reason)
  const cached = usage.cache_read_input_tokens ?? undefined
  return {
    // Another API may have a text where this one has a refusal.
    text: textOf(message),
    calls: content.flatMap((block) => (block.type === 'tool_use' ? [block] : [])),
    reason,
    usage: { input: usage.input_tokens + (cached ?? 0), cached, output: usage.output_tokens },
    history: [...turns, { role: 'assistant', content }],
  }
}

/** Token counts, models, and retries. */
export const anthropicOthers: Client = {
  name: 'anthropic others',
  checks: {
    async retried(target) {
      const params = { model: target.upstream.model, max_tokens: 64 }
      const messages: MessageParam[] = [{ role: 'user', content: PROMPT }]
      const message = await clientOf(target, 1).messages.create({ ...params, messages })
      equal(textOf(message), TEXTS.join(''))
    },
    async count(target) {
      const { model } = target.upstream
      const { input_tokens } = await clientOf(target).messages.countTokens({
        model,
        messages: [{ role: 'user', content: 'How many tokens are these?' }],
      })
      // Providers of other APIs do not count: the gateway estimates.
      if (!model.includes('claude')) ok(input_tokens > 3 && input_tokens < 20, `${input_tokens} tokens`)
      else equal(input_tokens, 42)
    },
    async models(target) {
      const ids: string[] = []
      for await (const { id, type } of clientOf(target).models.list()) {
        equal(type, 'model')
        ids.push(id)
      }
      const expected = target.upstream.lists ? [ALIAS, OWN_MODEL] : [ALIAS]
      ok(
        expected.every((id) => ids.includes(id)),
        `the models are ${ids}`,
      )
    },
  },
}
