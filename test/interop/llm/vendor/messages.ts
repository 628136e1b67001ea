import { REFUSAL, type Reply, type Seen, USAGE } from '../replies.ts'
import type { Body } from './body.ts'
import { Events, halves, named, type Vendor } from './vendor.ts'

const REASONS = { stop: 'end_turn', length: 'max_tokens', calls: 'tool_use', refusal: 'refusal' } as const
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/** The messages API, as Anthropic, Azure and Google Cloud serve it. */
export const messages: Vendor = {
  streamType: 'text/event-stream; charset=utf-8',
  read,
  answer: (reply, model) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: blocksOf(reply),
    ...endOf(reply),
    usage: usage(USAGE.output),
  }),
  stream(reply, model) {
    const events = new Events()
    const start = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [] }
    events.add(
      named({
        type: 'message_start',
        ...{ message: { ...start, stop_reason: null, stop_sequence: null, usage: usage(1) } },
      }),
    )
    events.add(named({ type: 'ping' }))
    for (const [index, block] of blocksOf(reply).entries()) {
      const delta = (delta: object) => named({ type: 'content_block_delta', ...{ index, delta } })
      events.add(named({ type: 'content_block_start', ...{ index, content_block: emptied(block) } }))
      if (block.type === 'thinking') {
        for (const thinking of halves(block.thinking)) events.add(delta({ type: 'thinking_delta', thinking }))
        events.add(delta({ type: 'signature_delta', signature: block.signature }))
      } else if (block.type === 'text') {
        for (const text of reply.texts!) events.addText(delta({ type: 'text_delta', text }))
      } else {
        const pieces = ['', ...halves(JSON.stringify(block.input))]
        for (const partial_json of pieces) events.add(delta({ type: 'input_json_delta', partial_json }))
      }
      events.add(named({ type: 'content_block_stop', ...{ index } }))
    }
    events.add(named({ type: 'message_delta', ...{ delta: endOf(reply), usage: { output_tokens: USAGE.output } } }))
    events.add(named({ type: 'message_stop' }))
    return events
  },
  error: (status, message) => ({
    type: 'error',
    error: { type: TYPES[status] ?? 'api_error', message },
    request_id: 'req_1',
  }),
  errorHeaders: () => ({ 'request-id': 'req_1' }),
  streamError: (message) => Buffer.from(named({ type: 'error', ...{ error: { type: 'overloaded_error', message } } })),
}

type Block =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: object }

function blocksOf({ thought, texts, calls = [] }: Reply): readonly Block[] {
  const blocks: Block[] = []
  if (thought) blocks.push({ type: 'thinking', thinking: thought.text, signature: thought.signature })
  if (texts) blocks.push({ type: 'text', text: texts.join('') })
  return [...blocks, ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }) as const)]
}

function emptied(block: Block): object {
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' }
  return block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} }
}

function endOf({ end }: Reply): object {
  const details = { type: 'refusal', category: null, explanation: REFUSAL }
  return { stop_reason: REASONS[end], stop_sequence: null, ...(end === 'refusal' && { stop_details: details }) }
}

function usage(output: number): object {
  return {
    input_tokens: USAGE.input - USAGE.cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: USAGE.cached,
    output_tokens: output,
  }
}

function read(body: Body, path: string): Seen {
  const turns = body.get('messages').list
  const blocks = turns.flatMap((turn) => turn.get('content').list)
  const ofType = (type: string) => blocks.filter((block) => block.get('type').text === type)
  return {
    streamed: body.get('stream').value === true,
    limit: body.get('max_tokens').number,
    tools: body.get('tools').list.map((tool) => tool.get('name').text ?? '?'),
    results: ofType('tool_result').map((block) => ({
      id: block.get('tool_use_id').text ?? '?',
      text: block.get('content').joined,
    })),
    schema: body.get('output_config', 'format', 'schema').value ?? body.get('output_format', 'schema').value,
    images: ofType('image').map((block) => block.get('source', 'data').text ?? ''),
    signatures: ofType('thinking').map((block) => block.get('signature').text ?? ''),
    stores: body.get('thread').isThere,
    faults: [...requestFaults(body, path), ...turnFaults(turns, body)],
  }
}

function* requestFaults(body: Body, path: string): Generator<string> {
  if (body.get('max_tokens').number === undefined) yield 'max_tokens: Field required'
  const inPath = path.includes(':')
  if (inPath && body.get('anthropic_version').text !== 'vertex-2023-10-16') yield 'anthropic_version: Field required'
  if (inPath && body.get('model').isThere) yield 'model: Extra inputs are not permitted'
  if (inPath && path.includes(':streamRawPredict') !== (body.get('stream').value === true)) yield `stream at ${path}`
  const isNew = /opus-4-[78]/.test(body.get('model').text ?? path)
  const refused = ['temperature', 'top_p', 'top_k'].filter((name) => body.get(name).isThere)
  if (isNew && refused.length > 0) yield `${refused}: deprecated for this model`
  if (isNew && body.get('thinking', 'type').text === 'enabled')
    yield '"thinking.type.enabled" is not supported for this model'
  const budget = body.get('thinking', 'budget_tokens').number
  if (budget !== undefined && budget >= (body.get('max_tokens').number ?? 0)) yield 'max_tokens must be greater'
  for (const tool of body.get('tools').list) {
    if (tool.get('input_schema', 'type').text !== 'object') yield 'tools: input_schema.type: Field required'
  }
}

/** Roles alternate, results stand first in the turn after their calls, and thoughts that belong to calls must be there. */
function* turnFaults(turns: readonly Body[], body: Body): Generator<string> {
  if (turns[0]?.get('role').text !== 'user') yield 'the first turn is not of the user'
  let open: string[] = []
  for (const [at, turn] of turns.entries()) {
    const blocks = turn.get('content').list
    if (at > 0 && turn.get('role').text === turns[at - 1]!.get('role').text) yield 'roles do not alternate'
    const results = blocks.filter((block) => block.get('type').text === 'tool_result')
    const ids = results.map((block) => block.get('tool_use_id').text ?? '?')
    if (ids.join() !== open.join()) yield `results of ${ids} follow calls ${open}`
    if (blocks.slice(0, results.length).some((block) => block.get('type').text !== 'tool_result')) {
      yield 'results do not stand first'
    }
    const calls = blocks.filter((block) => block.get('type').text === 'tool_use')
    open = calls.map((block) => block.get('id').text ?? '?')
    const thinks = body.get('thinking', 'type').text === 'enabled'
    const isOfLastCalls = at === turns.length - 2 && calls.length > 0
    if (thinks && isOfLastCalls && !/thinking/.test(blocks[0]?.get('type').text ?? '')) {
      yield 'Expected `thinking` or `redacted_thinking`, but found something else'
    }
  }
  if (open.length > 0) yield `calls without results: ${open}`
}
