import { REFUSAL, type Reply, type Seen, USAGE } from '../replies.ts'
import { type Body, dataOf } from './body.ts'
import { Events, halves, type Vendor } from './vendor.ts'

const REASONS = { stop: 'stop', length: 'length', calls: 'tool_calls', refusal: 'stop' } as const
const TYPES: Readonly<Record<number, string>> = { 401: 'authentication_error', 429: 'rate_limit_error' }

/** Chat completions, as OpenAI, Azure and the compatible endpoints of Gemini serve them. */
export const completions: Vendor = {
  streamType: 'text/event-stream',
  read,
  answer: (reply, model) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.texts?.join('') ?? null,
          refusal: reply.end === 'refusal' ? REFUSAL : null,
          ...(reply.calls && { tool_calls: reply.calls.map((_, at) => toolCall(reply, at, model)) }),
        },
        logprobs: null,
        finish_reason: REASONS[reply.end],
      },
    ],
    usage: usage(),
  }),
  stream(reply, model, body) {
    const events = new Events()
    const chunk = (choices: readonly object[], more: object = {}) =>
      `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model, choices, ...more })}\n\n`
    const delta = (delta: object, reason: string | null = null) =>
      chunk([{ index: 0, delta, logprobs: null, finish_reason: reason }])
    events.add(delta({ role: 'assistant', content: '', refusal: null }))
    for (const content of reply.texts ?? []) events.addText(delta({ content }))
    if (reply.end === 'refusal') for (const refusal of halves(REFUSAL)) events.addText(delta({ refusal }))
    for (const at of (reply.calls ?? []).keys()) {
      const call = toolCall(reply, at, model)
      const { arguments: all, name } = call.function
      events.add(delta({ tool_calls: [{ index: at, ...call, function: { name, arguments: '' } }] }))
      for (const piece of halves(all))
        events.add(delta({ tool_calls: [{ index: at, function: { arguments: piece } }] }))
    }
    events.add(delta({}, REASONS[reply.end]))
    if (body.get('stream_options', 'include_usage').value === true) events.add(chunk([], { usage: usage() }))
    events.add('data: [DONE]\n\n')
    return events
  },
  error: (status, message) => ({
    error: {
      message,
      type: TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error'),
      param: null,
      code: status === 401 ? 'invalid_api_key' : null,
    },
  }),
  streamError: (message) =>
    Buffer.from(`data: ${JSON.stringify({ error: { message, type: 'server_error', param: null, code: null } })}\n\n`),
}

/** Models of Gemini sign the first call of a turn. */
function toolCall({ calls, thought }: Reply, at: number, model: string) {
  const { id, name, input } = calls![at]!
  const signed = thought !== undefined && at === 0 && model.includes('gemini')
  return {
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
    ...(signed && { extra_content: { google: { thought_signature: thought.signature } } }),
  }
}

function usage() {
  return {
    prompt_tokens: USAGE.input,
    completion_tokens: USAGE.output,
    total_tokens: USAGE.input + USAGE.output,
    prompt_tokens_details: { cached_tokens: USAGE.cached },
    completion_tokens_details: { reasoning_tokens: 2 },
  }
}

function read(body: Body): Seen {
  const messages = body.get('messages').list
  const parts = messages.flatMap((message) => message.get('content').list)
  const calls = messages.flatMap((message) => message.get('tool_calls').list)
  return {
    streamed: body.get('stream').value === true,
    limit: body.get('max_completion_tokens').number ?? body.get('max_tokens').number,
    tools: body.get('tools').list.map((tool) => tool.get('function', 'name').text ?? '?'),
    results: messages
      .filter((message) => message.get('role').text === 'tool')
      .map((message) => ({ id: message.get('tool_call_id').text ?? '?', text: message.get('content').joined })),
    schema: body.get('response_format', 'json_schema', 'schema').value,
    images: parts.flatMap((part) => dataOf(part.get('image_url', 'url').text)),
    signatures: calls.map((call) => call.get('extra_content', 'google', 'thought_signature').text ?? ''),
    faults: [...orderFaults(messages)],
  }
}

/** Messages of the role tool must follow the calls that they answer, and answer them all. */
function* orderFaults(messages: readonly Body[]): Generator<string> {
  if (messages.length === 0) yield 'no messages'
  let open: string[] = []
  for (const message of messages) {
    const role = message.get('role').text
    if (role === 'tool') {
      const id = message.get('tool_call_id').text
      if (id === undefined || !open.includes(id)) yield `a result ${id} without its call`
      open = open.filter((other) => other !== id)
      continue
    }
    if (open.length > 0) yield `calls without results: ${open}`
    open = message.get('tool_calls').list.map((call) => call.get('id').text ?? '?')
    if (role !== 'assistant' && !message.get('content').isThere) yield `a message of ${role} without content`
  }
  if (open.length > 0) yield `calls without results: ${open}`
}
