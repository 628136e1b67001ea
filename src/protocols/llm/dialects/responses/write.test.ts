import { expect, test } from 'vitest'
import { NO_TOKENS } from '#exchange/llm-facts.ts'
import { AnswerEnd } from '../../chat/answer-end.ts'
import type { AnswerSink } from '../../chat/answer-sink.ts'
import type { AnswerContext } from '../../chat/dialect.ts'
import { JsonValue, parseDocument } from '../../json/json-document.ts'
import { writeAnswer, writeStream } from './response-writer.ts'

// Most responses are in `test/llm`; there, requests say nothing.

const decoder = new TextDecoder()

function context(request: object): AnswerContext {
  // As some clients write it, with line ends.
  const value = parseDocument(new TextEncoder().encode(JSON.stringify(request, null, 2)))
  if (!(value instanceof JsonValue)) throw new Error('not JSON')
  let ids = 0
  return {
    request: value,
    model: 'asked',
    createdSeconds: 1,
    provider: 'messages',
    newId: (prefix) => `${prefix}${++ids}`,
  }
}

type Tell = (sink: AnswerSink) => void

function tellIn(sink: AnswerSink, tell: Tell): void {
  const end = new AnswerEnd(sink, { claim: undefined, maxKept: 0 })
  tell(end)
  end.end()
}

function whole(tell: Tell, request: object = {}) {
  let text = ''
  const done = (body: Uint8Array) => {
    text = decoder.decode(body)
  }
  tellIn(writeAnswer(context(request), done), tell)
  return JSON.parse(text)
}

interface WrittenEvent {
  readonly type: string
  readonly sequence_number: number
  readonly [member: string]: unknown
}

function streamed(tell: Tell, request: object = {}): readonly WrittenEvent[] {
  let text = ''
  const write = (events: string) => {
    text += events
  }
  tellIn(writeStream(context(request), write), tell)
  const events = text.split('\n\n').slice(0, -1)
  return events.map((event) => {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(event)!
    const parsed = JSON.parse(data!)
    expect(parsed.type).toBe(name)
    return parsed
  })
}

const types = (events: readonly WrittenEvent[]) => events.map(({ type }) => type.replace('response.', ''))

test('the response repeats the settings of the request, in every event that has it', () => {
  const settings = {
    instructions: 'Be\nbrief.',
    max_output_tokens: 9,
    max_tool_calls: 3,
    metadata: { a: 'b' },
    parallel_tool_calls: false,
    prompt_cache_key: 'k',
    safety_identifier: 's',
    temperature: 0.5,
    tool_choice: { type: 'function', name: 'f' },
    tools: [{ type: 'function', name: 'f', parameters: {}, strict: true }],
    top_logprobs: 2,
    top_p: 0.25,
    truncation: 'auto',
  }
  const request = { ...settings, reasoning: { effort: 'low' }, text: { verbosity: 'high' } }
  const repeated = {
    ...settings,
    reasoning: { effort: 'low', summary: null },
    text: { format: { type: 'text' }, verbosity: 'high' },
  }
  const tell: Tell = (to) => to.finish('end')
  expect(whole(tell, request)).toMatchObject(repeated)
  const events = streamed(tell, request)
  expect(types(events)).toEqual(['created', 'in_progress', 'completed'])
  for (const event of events) expect(event.response).toMatchObject(repeated)
})

test('the response repeats the form of its text and of its thoughts', () => {
  const request = { reasoning: { summary: 'auto' }, text: { format: { type: 'json_object' } } }
  expect(whole((to) => to.finish('end'), request)).toMatchObject({
    reasoning: { effort: null, summary: 'auto' },
    text: { format: { type: 'json_object' }, verbosity: null },
  })
})

test('events are numbered from 0', () => {
  const events = streamed((to) => {
    to.text(0, 'a')
    to.text(0, 'b')
    to.finish('end')
  })
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index))
})

test('texts that follow each other are one part, with citations at their places', () => {
  const tell: Tell = (to) => {
    to.text(0, 'Grass')
    to.close(0)
    to.text(1, ' is green')
    to.citation(1, { url: 'https://a', title: undefined, text: undefined, start: undefined, end: undefined })
    to.close(1)
    to.text(2, '.')
    to.close(2)
    to.finish('end')
  }
  const annotations = [{ type: 'url_citation', start_index: 5, end_index: 14, title: '', url: 'https://a' }]
  const content = [{ type: 'output_text', text: 'Grass is green.', annotations, logprobs: [] }]
  expect(whole(tell).output).toMatchObject([{ type: 'message', content }])
  const events = streamed(tell)
  expect(types(events).slice(2, -1)).toEqual([
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.delta',
    'output_text.annotation.added',
    'output_text.delta',
    'output_text.done',
    'content_part.done',
    'output_item.done',
  ])
  expect(events.at(-1)?.response).toMatchObject({ output: [{ content }] })
})

test('a refusal beside a text is a part of the same message', () => {
  const tell: Tell = (to) => {
    to.text(0, 'Well.')
    to.refusal(1, 'No')
    to.refusal(1, '.')
    to.finish('refusal')
  }
  expect(whole(tell)).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'content_filter' },
    output: [
      {
        status: 'incomplete',
        content: [
          { type: 'output_text', text: 'Well.' },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
    ],
  })
  const events = streamed(tell)
  expect(events.find(({ type }) => type === 'response.refusal.done')).toMatchObject({
    content_index: 1,
    refusal: 'No.',
  })
  expect(events.at(-1)?.type).toBe('response.incomplete')
})

test('only the last item is incomplete', () => {
  const { output } = whole((to) => {
    to.text(0, 'I look.')
    to.call(1, 'x', 'f')
    to.arguments(1, '{"a":')
    to.finish('length')
  })
  expect(output).toMatchObject([{ status: 'completed' }, { status: 'incomplete', arguments: '{"a":' }])
})

test('a tool that takes a text is called with it', () => {
  const tools = [{ type: 'custom', name: 'run' }]
  const tell: Tell = (to) => {
    to.call(0, 'x', 'run')
    to.arguments(0, '{"input": "a\\')
    to.arguments(0, 'nb"}')
    to.close(0)
    to.call(1, '', 'f')
    to.finish('calls')
  }
  expect(whole(tell, { tools }).output).toEqual([
    { id: 'ctc_2', type: 'custom_tool_call', call_id: 'x', input: 'a\nb', name: 'run' },
    { id: 'fc_4', type: 'function_call', status: 'completed', arguments: '{}', call_id: 'call_3', name: 'f' },
  ])
  const events = streamed(tell, { tools })
  expect(events.filter(({ type }) => type.includes('custom_tool_call_input'))).toMatchObject([
    { delta: 'a', item_id: 'ctc_2', output_index: 0 },
    { delta: '\nb' },
    { type: 'response.custom_tool_call_input.done', input: 'a\nb' },
  ])
})

test('a tool that takes a text begins as an item, and may get a text that is no JSON', () => {
  const tell: Tell = (to) => {
    to.call(0, 'x', 'run')
    to.arguments(0, 'ls')
    to.close(0)
    to.finish('calls')
  }
  const events = streamed(tell, { tools: [{ type: 'custom', name: 'run' }] })
  const item = { id: 'ctc_2', type: 'custom_tool_call', call_id: 'x', name: 'run' }
  expect(events.slice(2, -1)).toMatchObject([
    { type: 'response.output_item.added', output_index: 0, item: { ...item, input: '' } },
    { type: 'response.custom_tool_call_input.delta', delta: 'ls' },
    { type: 'response.custom_tool_call_input.done', input: 'ls' },
    { type: 'response.output_item.done', output_index: 0, item: { ...item, input: 'ls' } },
  ])
})

test('each thought is an item, with what only its provider understands', () => {
  const { output } = whole((to) => {
    to.thinking(0, 'Hm')
    to.thinking(0, '.')
    to.signature(0, 's1')
    to.signature(0, 's2')
    to.close(0)
    to.redacted(1, 'd')
    to.close(1)
    to.thinking(2, 'So.')
    to.finish('end')
  })
  expect(output).toMatchObject([
    { summary: [{ text: 'Hm.' }], encrypted_content: 'gatewright:messages:signature:s1s2' },
    { summary: [], encrypted_content: 'gatewright:messages:redacted:d' },
    { summary: [{ text: 'So.' }] },
  ])
  expect(output[2]).not.toHaveProperty('encrypted_content')
})

test.each<[status: number, code: string]>([
  [400, 'invalid_prompt'],
  [429, 'rate_limit_exceeded'],
  [529, 'server_error'],
])('a stream that fails with %d is a failed response with what arrived', (status, code) => {
  const events = streamed((to) => {
    to.call(0, 'x', 'f')
    to.close(0)
    to.text(1, 'Hel')
    to.fail({ status, type: 'x', message: 'Sorry.', code: 'y', param: undefined })
  })
  expect(events.at(-1)).toMatchObject({
    type: 'response.failed',
    response: {
      status: 'failed',
      error: { code, message: 'Sorry.' },
      output: [{ type: 'function_call' }, { type: 'message', status: 'incomplete', content: [{ text: 'Hel' }] }],
    },
  })
})

test('a whole answer that fails is an error', () => {
  const error = { status: 429, type: 'rate_limit_error', message: 'Slow.', code: undefined, param: undefined }
  expect(whole((to) => to.fail(error))).toEqual({
    error: { message: 'Slow.', type: 'rate_limit_error', param: null, code: null },
  })
})

test('usage includes cached tokens', () => {
  const tell: Tell = (to) => {
    to.usage({
      ...NO_TOKENS,
      inputTokens: 10,
      outputTokens: 5,
      cachedInputTokens: 4,
      reasoningTokens: 3,
      serviceTier: 'flex',
    })
    to.finish('end')
  }
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 3 },
    total_tokens: 15,
  }
  expect(whole(tell)).toMatchObject({ usage, service_tier: 'flex' })
  expect(whole((to) => to.finish('end')).usage).toBeNull()
  const unknown = whole((to) => {
    to.usage({ ...NO_TOKENS, serviceTier: undefined })
    to.finish('end')
  })
  expect(unknown.usage).toMatchObject({ input_tokens: 0, output_tokens: 0, total_tokens: 0 })
})
