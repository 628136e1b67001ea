/** A request body in the chat-completions format, as far as the mock provider reads it. */
export interface ChatRequest {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly stream: boolean
  readonly includeUsage: boolean
  /** In words: the mock counts a word as a token. */
  readonly maxTokens: number | undefined
}

interface ChatMessage {
  readonly role: string
  readonly text: string
}

/** What the mock provider answers, before it is put on the wire whole or in pieces. */
export interface ChatReply {
  readonly id: string
  readonly model: string
  /** Each with its leading space, as providers send them. */
  readonly pieces: readonly string[]
  readonly finishReason: 'stop' | 'length'
  readonly usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
}

/** Reads a chat-completions body. The text says what is wrong with it, in the manner of the provider. */
export function parseChatRequest(body: unknown): ChatRequest | string {
  if (!isObject(body)) return 'the body must be a JSON object'
  if (typeof body.model !== 'string') return 'you must provide a model parameter'
  if (!Array.isArray(body.messages) || body.messages.length === 0) return 'messages must be a list of at least one'
  if (!body.messages.every(isObject)) return 'each message must be an object'
  const limit = body.max_completion_tokens ?? body.max_tokens
  return {
    model: body.model,
    messages: body.messages.map((message) => ({ role: String(message.role), text: textOf(message.content) })),
    stream: body.stream === true,
    includeUsage: isObject(body.stream_options) && body.stream_options.include_usage === true,
    maxTokens: typeof limit === 'number' ? limit : undefined,
  }
}

/** The mock has one thing to say: who it is and what it heard last. */
export function buildReply(name: string, request: ChatRequest): ChatReply {
  const heard = request.messages.findLast((message) => message.role === 'user')?.text ?? ''
  const all = splitWords(`${name} here: you said "${heard}"`)
  const kept = all.slice(0, request.maxTokens)
  const promptTokens = request.messages.reduce((sum, message) => sum + splitWords(message.text).length, 0)
  return {
    id: `chatcmpl-${crypto.randomUUID()}`,
    model: request.model,
    pieces: kept.map((word, index) => (index === 0 ? word : ` ${word}`)),
    finishReason: kept.length < all.length ? 'length' : 'stop',
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: kept.length,
      total_tokens: promptTokens + kept.length,
    },
  }
}

/** The reply as one `chat.completion` object. */
export function toCompletion(reply: ChatReply): object {
  const message = { role: 'assistant', content: reply.pieces.join(''), refusal: null }
  return {
    ...frame(reply, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: reply.finishReason }],
    usage: reply.usage,
  }
}

/** The reply as `chat.completion.chunk` objects: the role, the pieces, the reason for the end, then usage if asked for. */
export function toChunks(reply: ChatReply, includeUsage: boolean): object[] {
  const chunk = (delta: object, finish: string | null) => ({
    ...frame(reply, 'chat.completion.chunk'),
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...(includeUsage && { usage: null }),
  })
  const chunks: object[] = [
    chunk({ role: 'assistant', content: '' }, null),
    ...reply.pieces.map((content) => chunk({ content }, null)),
    chunk({}, reply.finishReason),
  ]
  if (includeUsage) chunks.push({ ...frame(reply, 'chat.completion.chunk'), choices: [], usage: reply.usage })
  return chunks
}

function frame(reply: ChatReply, object: string) {
  return { id: reply.id, object, created: 1_767_225_600, model: reply.model }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

function splitWords(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
