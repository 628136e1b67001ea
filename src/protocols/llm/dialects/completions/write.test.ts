import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { NO_TOKENS } from '#exchange/llm-facts.ts'
import { AnswerEnd } from '../../chat/answer-end.ts'
import type { AnswerSink } from '../../chat/answer-sink.ts'
import type { AnswerContext } from '../../chat/dialect.ts'
import { JsonValue, parseDocument } from '../../json/json-document.ts'
import { writeAnswer } from './write-answer.ts'
import { writeStream } from './write-stream.ts'

// Whole answers are in `test/llm/completions`. Here the vendor's own client reads them.

const decoder = new TextDecoder()
const TOOLS = [{ type: 'custom' as const, custom: { name: 'shell' } }]

function context(includesUsage = true, asked: object = { tools: TOOLS }): AnswerContext {
  const request = parseDocument(
    new TextEncoder().encode(JSON.stringify({ ...asked, stream_options: { include_usage: includesUsage } })),
  )
  if (!(request instanceof JsonValue)) throw new Error('not JSON')
  return {
    request,
    model: 'm',
    createdSeconds: 1,
    provider: 'messages',
    newId: (prefix) => `${prefix}1`,
  }
}

function tellIn(sink: AnswerSink, tell: (sink: AnswerSink) => void): void {
  const end = new AnswerEnd(sink, { claim: undefined, maxKept: 0 })
  tell(end)
  end.end()
}

function whole(tell: (sink: AnswerSink) => void): string {
  let text = ''
  const done = (body: Uint8Array) => {
    text = decoder.decode(body)
  }
  tellIn(writeAnswer(context(), done), tell)
  return text
}

function streamed(tell: (sink: AnswerSink) => void, includesUsage = true): string {
  let text = ''
  const write = (events: string) => {
    text += events
  }
  tellIn(writeStream(context(includesUsage), write), tell)
  return text
}

function client(body: string, contentType: string): OpenAI {
  const fetch = async () => new Response(body, { headers: { 'content-type': contentType } })
  return new OpenAI({ apiKey: 'k', baseURL: 'http://127.0.0.1/v1', maxRetries: 0, fetch })
}

const QUESTION = { model: 'm', messages: [{ role: 'user' as const, content: 'q' }] }

function tellAll(sink: AnswerSink): void {
  sink.start('chatcmpl-7', 'model-7')
  sink.thinking(0, 'Hm. ')
  sink.signature(0, 'sig')
  sink.close(0)
  sink.redacted(1, 'hidden')
  sink.close(1)
  sink.text(2, 'Hel')
  sink.text(2, 'lo')
  sink.close(2)
  sink.call(3, 'call_a', 'now')
  sink.call(4, '', 'shell')
  sink.arguments(3, '{"zone":')
  sink.arguments(4, '{"input": "ls \\"a')
  sink.arguments(3, '"utc"}')
  sink.arguments(4, '\\"\\n"}')
  sink.close(3)
  sink.close(4)
  sink.call(5, 'call_c', 'now')
  sink.finish('calls')
  sink.usage({ ...NO_TOKENS, inputTokens: 7, outputTokens: 3, cachedInputTokens: 4, serviceTier: 'flex' })
}

const CALLS = [
  { id: 'call_a', type: 'function', function: { name: 'now', arguments: '{"zone":"utc"}' } },
  { id: 'call_1', type: 'custom', custom: { name: 'shell', input: 'ls "a"\n' } },
  { id: 'call_c', type: 'function', function: { name: 'now', arguments: '{}' } },
]
const USAGE = {
  prompt_tokens: 7,
  completion_tokens: 3,
  total_tokens: 10,
  prompt_tokens_details: { cached_tokens: 4 },
}
const SIGNATURE = '[{"length":4,"signature":"sig"},{"redacted":"hidden"}]'

test('a whole answer has everything that was told', async () => {
  const answer = await client(whole(tellAll), 'application/json').chat.completions.create(QUESTION)
  expect(answer).toMatchObject({ id: 'chatcmpl-7', object: 'chat.completion', created: 1, model: 'model-7' })
  expect(answer.choices).toEqual([
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'Hello',
        refusal: null,
        reasoning_content: 'Hm. ',
        reasoning_signature: SIGNATURE,
        tool_calls: CALLS,
      },
      logprobs: null,
      finish_reason: 'tool_calls',
    },
  ])
  expect([answer.usage, answer.service_tier]).toEqual([USAGE, 'flex'])
})

test('the chunks of a stream add up to the same', async () => {
  const chunks = await client(streamed(tellAll), 'text/event-stream').chat.completions.create({
    ...QUESTION,
    stream: true,
    stream_options: { include_usage: true },
  })
  const calls: Record<string, unknown>[] = []
  const said: Record<string, string> = {}
  const roles: unknown[] = []
  const reasons: unknown[] = []
  let usage: unknown
  for await (const chunk of chunks) {
    expect(chunk).toMatchObject({ id: 'chatcmpl-7', object: 'chat.completion.chunk', created: 1, model: 'model-7' })
    usage = chunk.usage
    const [choice] = chunk.choices
    if (choice === undefined) continue
    const { role, content, refusal: _, tool_calls, ...rest } = choice.delta
    if (role !== undefined) roles.push(role)
    if (choice.finish_reason !== null) reasons.push(choice.finish_reason)
    for (const [name, text] of Object.entries({ content, ...rest })) {
      if (typeof text === 'string') said[name] = (said[name] ?? '') + text
    }
    for (const { index, id, type, ...called } of tool_calls ?? []) {
      if (id !== undefined) calls[index] = { id, type, ...called }
      else add(calls[index]!, called)
    }
  }
  expect(said).toEqual({ content: 'Hello', reasoning_content: 'Hm. ', reasoning_signature: SIGNATURE })
  expect(calls).toEqual(CALLS)
  expect([roles, reasons, usage]).toEqual([['assistant'], ['tool_calls'], USAGE])
})

function add(call: Record<string, unknown>, called: object): void {
  for (const [kind, members] of Object.entries(called)) {
    const whole = call[kind] as Record<string, string>
    for (const [name, text] of Object.entries(members as Record<string, string>))
      whole[name] = (whole[name] ?? '') + text
  }
}

test("the client's own helper accepts a stream", async () => {
  const tell = (sink: AnswerSink) => {
    sink.start('', '')
    sink.text(0, 'Hello')
    sink.citation(0, { url: 'https://a.example', title: 'A', text: undefined, start: undefined, end: undefined })
    sink.call(1, 'call_a', 'now')
    sink.finish('calls')
  }
  const stream = client(streamed(tell, false), 'text/event-stream').chat.completions.stream(QUESTION)
  const { choices, usage, model, id } = await stream.finalChatCompletion()
  expect([id, model, usage]).toEqual(['chatcmpl-1', 'm', undefined])
  expect(choices[0]?.message).toMatchObject({ role: 'assistant', content: 'Hello' })
  expect(choices[0]?.message.tool_calls).toMatchObject([{ id: 'call_a', function: { name: 'now', arguments: '{}' } }])
})

test('an error in a stream is an error of the client, with its code', async () => {
  const tell = (sink: AnswerSink) => {
    sink.text(0, 'a')
    sink.fail({ status: 529, type: 'overloaded_error', message: 'Busy', code: undefined, param: undefined })
  }
  const text = streamed(tell)
  expect(
    text.endsWith(
      'data: {"error":{"message":"Busy","type":"server_error","param":null,"code":"overloaded_error"}}\n\n',
    ),
  ).toBe(true)
  const chunks = await client(text, 'text/event-stream').chat.completions.create({ ...QUESTION, stream: true })
  const read = async () => {
    for await (const _ of chunks);
  }
  await expect(read()).rejects.toThrow('Busy')
})

test('usage is a chunk only if the client asked for it', () => {
  expect(streamed(tellAll, false)).not.toContain('usage')
})

test('a client of functions gets one function call', async () => {
  const tell = (sink: AnswerSink) => {
    sink.start('i', 'm')
    sink.call(0, 'c1', 'now')
    sink.arguments(0, '{"zone":')
    sink.arguments(0, '"utc"}')
    sink.call(1, 'c2', 'now')
    sink.arguments(1, '{"zone":"cet"}')
    sink.finish('calls')
  }
  let [whole, events] = ['', '']
  const asked = context(false, { functions: [{ name: 'now' }] })
  tellIn(
    writeAnswer(asked, (body) => (whole = decoder.decode(body))),
    tell,
  )
  tellIn(
    writeStream(asked, (written) => (events += written)),
    tell,
  )
  const answer = await client(whole, 'application/json').chat.completions.create(QUESTION)
  const stream = client(events, 'text/event-stream').chat.completions.stream(QUESTION)
  const function_call = { name: 'now', arguments: '{"zone":"utc"}' }
  const expected = { message: { content: null, function_call }, finish_reason: 'function_call' }
  expect([answer.choices[0], (await stream.finalChatCompletion()).choices[0]]).toMatchObject([expected, expected])
  expect(whole + events).not.toContain('tool_calls')
})

test.each([
  ['default', 'default'],
  ['standard', 'default'],
  ['batch', undefined],
  ['constructor', undefined],
])('the tier %s of a provider is %s', (tier, expected) => {
  const text = streamed((sink) => {
    sink.finish('end')
    sink.usage({ ...NO_TOKENS, serviceTier: tier })
  })
  const usage = text.split('\n\n').at(-3)!
  expect(JSON.parse(usage.slice(6))).toEqual(
    expect.objectContaining({ choices: [], ...(expected !== undefined && { service_tier: expected }) }),
  )
  expect(usage.includes('service_tier')).toBe(expected !== undefined)
})

/** The arguments and inputs in the chunks of a stream. */
function inputs(text: string): unknown[] {
  const chunks = text.split('\n\n').filter((each) => each.startsWith('data: {'))
  return chunks.flatMap((chunk) => {
    const [choice] = JSON.parse(chunk.slice(6)).choices
    return (choice?.delta.tool_calls ?? []).map((call: OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall) => {
      return call.function?.arguments ?? (call as unknown as { custom: { input: string } }).custom.input
    })
  })
}

test.each<[name: string, pieces: readonly string[], written: readonly string[]]>([
  ['now', [], ['', '{}']],
  ['now', ['', '{"a":', '', '1}'], ['', '{"a":', '1}']],
  ['shell', [], ['']],
  ['shell', ['{"inp', 'ut":"', 'ls', '"}'], ['', 'ls']],
  ['shell', ['ls'], ['', 'ls']],
])('a call of %s with the arguments %j', (name, pieces, written) => {
  const text = streamed((sink) => {
    sink.call(0, 'c', name)
    for (const piece of pieces) sink.arguments(0, piece)
    sink.finish('calls')
  })
  expect(inputs(text)).toEqual(written)
})

test('stream options without a wish for usage', () => {
  let text = ''
  const { request: _, ...rest } = context()
  for (const asked of ['{}', '{"stream_options":{}}', '{"stream_options":null}']) {
    const request = parseDocument(new TextEncoder().encode(asked)) as JsonValue
    tellIn(
      writeStream({ ...rest, request }, (events) => (text += events)),
      tellAll,
    )
  }
  expect(text).not.toContain('usage')
  expect(text.split('data: [DONE]\n\n')).toHaveLength(4)
})

test('nothing follows the end of a stream or its error', () => {
  const done = streamed((sink) => sink.finish('end'))
  expect(done.match(/"finish_reason":"stop"/g)).toHaveLength(1)
  expect(done.match(/"role"/g)).toHaveLength(1)
  const error = { status: 500, type: undefined, message: 'x', code: undefined, param: undefined }
  expect(streamed((sink) => sink.fail(error))).not.toContain('[DONE]')
})
