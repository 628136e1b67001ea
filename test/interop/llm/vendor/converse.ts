import { encodeEvent } from '#net/event-stream/event-frame.ts'
import { encodeHeaders } from '#net/event-stream/event-header.ts'
import { type Reply, type Seen, USAGE } from '../replies.ts'
import type { Body } from './body.ts'
import { Events, halves, type Vendor } from './vendor.ts'

const REASONS = { stop: 'end_turn', length: 'max_tokens', calls: 'tool_use', refusal: 'content_filtered' } as const
const EXCEPTIONS: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  401: 'UnrecognizedClientException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  529: 'ModelNotReadyException',
}
const USED = {
  inputTokens: USAGE.input - USAGE.cached,
  cacheReadInputTokens: USAGE.cached,
  cacheWriteInputTokens: 0,
  outputTokens: USAGE.output,
  totalTokens: USAGE.input + USAGE.output,
}

/** Converse of Amazon Bedrock. */
export const converse: Vendor = {
  streamType: 'application/vnd.amazon.eventstream',
  read,
  answer: (reply) => ({
    output: { message: { role: 'assistant', content: blocksOf(reply) } },
    stopReason: REASONS[reply.end],
    usage: USED,
    metrics: { latencyMs: 5 },
  }),
  stream(reply) {
    const events = new Events()
    events.add(frame('event', 'messageStart', { role: 'assistant' }))
    for (const [contentBlockIndex, block] of blocksOf(reply).entries()) {
      const delta = (delta: object) => frame('event', 'contentBlockDelta', { contentBlockIndex, delta })
      if ('text' in block) for (const text of reply.texts!) events.addText(delta({ text }))
      else if ('reasoningContent' in block) {
        const { text, signature } = block.reasoningContent.reasoningText
        for (const half of halves(text)) events.add(delta({ reasoningContent: { text: half } }))
        if (signature !== undefined) events.add(delta({ reasoningContent: { signature } }))
      } else {
        const { input, ...toolUse } = block.toolUse
        events.add(frame('event', 'contentBlockStart', { contentBlockIndex, start: { toolUse } }))
        for (const half of halves(JSON.stringify(input))) events.add(delta({ toolUse: { input: half } }))
      }
      events.add(frame('event', 'contentBlockStop', { contentBlockIndex }))
    }
    events.add(frame('event', 'messageStop', { stopReason: REASONS[reply.end] }))
    events.add(frame('event', 'metadata', { usage: USED, metrics: { latencyMs: 5 } }))
    return events
  },
  error: (_, message) => ({ message }),
  errorHeaders: (status) => ({ 'x-amzn-errortype': EXCEPTIONS[status] ?? 'ServiceUnavailableException' }),
  streamError: (message) => frame('exception', 'serviceUnavailableException', { message }),
}

/** Padding hides the lengths of texts. */
function frame(kind: 'event' | 'exception', type: string, payload: object): Uint8Array {
  const headers = [
    [`:${kind}-type`, type],
    [':content-type', 'application/json'],
    [':message-type', kind],
  ].map(([name, value]) => ({ name: name!, type: 'text' as const, value: value! }))
  return encodeEvent(encodeHeaders(headers), Buffer.from(JSON.stringify({ ...payload, p: 'abcdefgh' })))
}

type Block =
  | { readonly text: string }
  | { readonly reasoningContent: { readonly reasoningText: { readonly text: string; readonly signature?: string } } }
  | { readonly toolUse: { readonly toolUseId: string; readonly name: string; readonly input: object } }

function blocksOf({ thought, texts, calls = [] }: Reply): readonly Block[] {
  const blocks: Block[] = []
  if (thought) {
    const { text, signature } = thought
    blocks.push({ reasoningContent: { reasoningText: signature === '' ? { text } : { text, signature } } })
  }
  if (texts) blocks.push({ text: texts.join('') })
  return [...blocks, ...calls.map(({ id, name, input }) => ({ toolUse: { toolUseId: id, name, input } }))]
}

function read(body: Body, path: string): Seen {
  const turns = body.get('messages').list
  const blocks = turns.flatMap((turn) => turn.get('content').list)
  const format = body.get('outputConfig', 'textFormat', 'structure', 'jsonSchema', 'schema').text
  return {
    streamed: path.endsWith('/converse-stream'),
    limit: body.get('inferenceConfig', 'maxTokens').number,
    tools: body.get('toolConfig', 'tools').list.map((tool) => tool.get('toolSpec', 'name').text ?? '?'),
    results: blocks
      .filter((block) => block.get('toolResult').isThere)
      .map((block) => ({
        id: block.get('toolResult', 'toolUseId').text ?? '?',
        text: block.get('toolResult', 'content').joined,
      })),
    schema: format === undefined ? undefined : JSON.parse(format),
    images: blocks.map((block) => block.get('image', 'source', 'bytes').text ?? ''),
    signatures: blocks.map((block) => block.get('reasoningContent', 'reasoningText', 'signature').text ?? ''),
    faults: [...turnFaults(turns, body)],
  }
}

function* turnFaults(turns: readonly Body[], body: Body): Generator<string> {
  if (turns[0]?.get('role').text !== 'user') yield 'A conversation must start with a user message.'
  if (body.get('model').isThere) yield 'model: extraneous key'
  let open: string[] = []
  for (const [at, turn] of turns.entries()) {
    const blocks = turn.get('content').list
    if (blocks.length === 0) yield 'The content field is empty.'
    if (at > 0 && turn.get('role').text === turns[at - 1]!.get('role').text) yield 'roles must alternate'
    const ids = blocks.flatMap((block) => block.get('toolResult', 'toolUseId').text ?? [])
    if (ids.join() !== open.join()) yield `results of ${ids} follow calls ${open}`
    open = blocks.flatMap((block) => block.get('toolUse', 'toolUseId').text ?? [])
    if (open.length > 0 && !body.get('toolConfig').isThere) yield 'The toolConfig field must be defined.'
  }
}
