import { REFUSAL, type Reply, type Seen, USAGE } from '../replies.ts'
import { type Body, dataOf } from './body.ts'
import { completions } from './completions.ts'
import { Events, halves, named, type Vendor } from './vendor.ts'

/** The responses API, as OpenAI and Azure serve it. */
export const responses: Vendor = {
  streamType: 'text/event-stream; charset=utf-8',
  read,
  answer: (reply, model) => responseOf(reply, model, 'end'),
  stream(reply, model) {
    const events = new Events()
    let sequence_number = 0
    const event = (type: string, members: object) =>
      named({ type, ...{ sequence_number: sequence_number++, ...members } })
    for (const type of ['response.created', 'response.in_progress']) {
      events.add(event(type, { response: responseOf(reply, model, 'start') }))
    }
    for (const [output_index, item] of itemsOf(reply).entries()) {
      const of = { item_id: item.id, output_index }
      events.add(event('response.output_item.added', { output_index, item: emptied(item) }))
      if (item.type === 'message') {
        const part = { ...of, content_index: 0 }
        const content = item.content[0]!
        const isText = content.type === 'output_text'
        const kind = isText ? 'output_text' : 'refusal'
        const full = isText ? { text: content.text } : { refusal: REFUSAL }
        const empty = isText ? { ...content, text: '' } : { ...content, refusal: '' }
        events.add(event('response.content_part.added', { ...part, part: empty }))
        for (const delta of isText ? reply.texts! : halves(REFUSAL)) {
          events.addText(event(`response.${kind}.delta`, { ...part, delta, ...(isText && { logprobs: [] }) }))
        }
        events.add(event(`response.${kind}.done`, { ...part, ...full, ...(isText && { logprobs: [] }) }))
        events.add(event('response.content_part.done', { ...part, part: content }))
      } else if (item.type === 'function_call') {
        for (const delta of halves(item.arguments)) {
          events.add(event('response.function_call_arguments.delta', { ...of, delta }))
        }
        const { name, arguments: all } = item
        events.add(event('response.function_call_arguments.done', { ...of, name, arguments: all }))
      }
      events.add(event('response.output_item.done', { output_index, item }))
    }
    const last = reply.end === 'length' ? 'response.incomplete' : 'response.completed'
    events.add(event(last, { response: responseOf(reply, model, 'end') }))
    return events
  },
  error: completions.error,
  streamError: (message) =>
    Buffer.from(named({ type: 'error', ...{ code: 'server_error', message, param: null, sequence_number: 9 } })),
}

/** The response that `retrieve` gives. */
export const STORED = responseOf({ texts: ['Stored.'], end: 'stop' }, 'gpt-5.1', 'end')

function responseOf(reply: Reply, model: string, when: 'start' | 'end'): object {
  const isLong = reply.end === 'length'
  const ended = when === 'end'
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    status: ended ? (isLong ? 'incomplete' : 'completed') : 'in_progress',
    error: null,
    incomplete_details: ended && isLong ? { reason: 'max_output_tokens' } : null,
    instructions: null,
    metadata: {},
    model,
    output: ended ? itemsOf(reply) : [],
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage: ended ? usage() : null,
  }
}

function usage(): object {
  return {
    input_tokens: USAGE.input,
    input_tokens_details: { cached_tokens: USAGE.cached },
    output_tokens: USAGE.output,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: USAGE.input + USAGE.output,
  }
}

type Part =
  | { readonly type: 'output_text'; readonly text: string; readonly annotations: readonly object[] }
  | { readonly type: 'refusal'; readonly refusal: string }
type Item =
  | {
      readonly type: 'reasoning'
      readonly id: string
      readonly summary: readonly { readonly type: 'summary_text'; readonly text: string }[]
      readonly encrypted_content: string
    }
  | {
      readonly type: 'message'
      readonly id: string
      readonly role: 'assistant'
      readonly status: string
      readonly content: readonly Part[]
    }
  | {
      readonly type: 'function_call'
      readonly id: string
      readonly call_id: string
      readonly name: string
      readonly arguments: string
      readonly status: string
    }

function itemsOf({ thought, texts, calls = [], end }: Reply): readonly Item[] {
  const items: Item[] = []
  if (thought) {
    const summary = [{ type: 'summary_text', text: thought.text }] as const
    items.push({ type: 'reasoning', id: 'rs_1', summary, encrypted_content: thought.signature })
  }
  const content: Part[] = []
  if (texts) content.push({ type: 'output_text', text: texts.join(''), annotations: [] })
  if (end === 'refusal') content.push({ type: 'refusal', refusal: REFUSAL })
  const status = end === 'length' ? 'incomplete' : 'completed'
  if (content.length > 0) items.push({ type: 'message', id: 'msg_1', role: 'assistant', status, content })
  for (const [at, { id, name, input }] of calls.entries()) {
    const call = { call_id: id, name, arguments: JSON.stringify(input), status: 'completed' }
    items.push({ type: 'function_call', id: `fc_${at}`, ...call })
  }
  return items
}

function emptied(item: Item): object {
  if (item.type === 'message') return { ...item, status: 'in_progress', content: [] }
  return item.type === 'function_call' ? { ...item, status: 'in_progress', arguments: '' } : { ...item, summary: [] }
}

function read(body: Body): Seen {
  const input = body.get('input')
  const items = input.list
  const ofType = (type: string) => items.filter((item) => item.get('type').text === type)
  const parts = items.flatMap((item) => item.get('content').list)
  const calls = ofType('function_call').map((call) => call.get('call_id').text)
  const results = ofType('function_call_output').map((item) => ({
    id: item.get('call_id').text ?? '?',
    text: item.get('output').joined,
  }))
  const faults = results.filter(({ id }) => !calls.includes(id)).map(({ id }) => `a result ${id} without its call`)
  if (input.text === undefined && items.length === 0) faults.push('no input')
  return {
    streamed: body.get('stream').value === true,
    limit: body.get('max_output_tokens').number,
    tools: body.get('tools').list.map((tool) => tool.get('name').text ?? '?'),
    results,
    schema: body.get('text', 'format', 'schema').value,
    images: parts.flatMap((part) => dataOf(part.get('image_url').text)),
    signatures: ofType('reasoning').map((item) => item.get('encrypted_content').text ?? ''),
    encrypts: true,
    faults,
  }
}
