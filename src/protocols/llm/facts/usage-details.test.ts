import { expect, test } from 'vitest'
import { NO_LLM } from '#exchange/llm-facts.ts'
import { readUsage } from '../dialects/converse/read-blocks.ts'
import { SessionEvents } from '../realtime/session-events.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import { pass, toldAnswer } from '../testing.ts'
import { hourlyCacheWrites, readInputDetails, readOutputDetails, totalOf } from './usage-details.ts'

// Charged tokens if the counts of a provider are missing, invalid, or contradict each other: never less than the valid counts of input and output together.

const data = (event: object | string) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`
const event = (type: string, rest: object) => `event: ${type}\n${data({ type, ...rest })}`

/** About 170 tokens. */
const TEXT = 'The gateway counts all of these words, because somebody has paid for them. '.repeat(10)
const request = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'one two three' }] })
/** Names, role and text of the request. */
const PROMPT = 10

/** A whole answer and a stream with a usage. */
type Forms = (usage: object) => readonly [json: object, stream: string]

const chat: Forms = (usage) => [
  { model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }], usage },
  data({ choices: [{ index: 0, delta: { content: TEXT }, finish_reason: 'stop' }] }) +
    data({ choices: [], usage }) +
    data('[DONE]'),
]
const response: Forms = (usage) => {
  const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: TEXT }] }]
  const ended = { id: 'r', status: 'completed', model: 'm', output, usage }
  return [
    ended,
    event('response.output_text.delta', { delta: TEXT }) + event('response.completed', { response: ended }),
  ]
}
const message: Forms = (usage) => [
  { type: 'message', model: 'm', content: [{ type: 'text', text: TEXT }], stop_reason: 'end_turn', usage },
  event('message_start', { message: { model: 'm', usage: {} } }) +
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: TEXT } }) +
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage }) +
    event('message_stop', {}),
]
const generated: Forms = (usageMetadata) => {
  const answer = { candidates: [{ content: { parts: [{ text: TEXT }] } }], usageMetadata }
  return [answer, data(answer)]
}

const FORMS = { chat, response, message, generated } as const

/** The least that is charged, or that all or the output is estimated. */
type Charge = number | 'estimated' | `${number} and the output`

test.each<[name: keyof typeof FORMS, type: RouteType, usage: object, charge: Charge]>([
  ...(['Completions', 'Detect'] as const).flatMap((type): [keyof typeof FORMS, RouteType, object, Charge][] => [
    ['chat', type, { prompt_tokens: 30, completion_tokens: 200, total_tokens: 230 }, 230],
    ['chat', type, { prompt_tokens: 30, completion_tokens: 200 }, 230],
    // The total of some providers has the thoughts, their output does not.
    ['chat', type, { prompt_tokens: 30, completion_tokens: 200, total_tokens: 700 }, 700],
    ['chat', type, { prompt_tokens: 30, completion_tokens: 200, total_tokens: 1 }, 230],
    ['chat', type, { prompt_tokens: 30, completion_tokens: 200, total_tokens: -1 }, 230],
    ['chat', type, { prompt_tokens: -30, completion_tokens: 200, total_tokens: 1 }, 200],
    ['chat', type, { prompt_tokens: 1.5, completion_tokens: 200, total_tokens: '1' }, 200 + PROMPT],
    ['chat', type, { prompt_tokens: 30, completion_tokens: -200, total_tokens: 500 }, 500],
    ['chat', type, { prompt_tokens: 30, completion_tokens: null, total_tokens: 1 }, '30 and the output'],
    ['chat', type, { prompt_tokens: 1e300, completion_tokens: [], total_tokens: 0.5 }, 'estimated'],
    ['chat', type, { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, '0 and the output'],
  ]),
  ...(['Responses', 'Detect'] as const).flatMap((type): [keyof typeof FORMS, RouteType, object, Charge][] => [
    ['response', type, { input_tokens: 30, output_tokens: 200, total_tokens: 1 }, 230],
    ['response', type, { input_tokens: 30, output_tokens: 200 }, 230],
    ['response', type, { input_tokens: '30', output_tokens: 200, total_tokens: 1 }, 200],
    ['response', type, { input_tokens: 30, output_tokens: 2.5, total_tokens: 1 }, '30 and the output'],
    ['response', type, { input_tokens: {}, output_tokens: -1, total_tokens: -1 }, 'estimated'],
  ]),
  ...(['Messages', 'Detect'] as const).flatMap((type): [keyof typeof FORMS, RouteType, object, Charge][] => [
    ['message', type, { input_tokens: 30, output_tokens: 200, cache_read_input_tokens: 5 }, 235],
    ['message', type, { input_tokens: -30, output_tokens: 200, cache_read_input_tokens: 5 }, 200 + PROMPT],
    ['message', type, { input_tokens: 30, output_tokens: -1, cache_read_input_tokens: '5' }, '30 and the output'],
    ['message', type, { input_tokens: 0.5, output_tokens: null }, 'estimated'],
  ]),
  ['generated', 'Detect', { promptTokenCount: 30, candidatesTokenCount: 200, totalTokenCount: 1 }, 230],
  ['generated', 'Detect', { promptTokenCount: 30, candidatesTokenCount: 200, thoughtsTokenCount: 7 }, 237],
  ['generated', 'Detect', { promptTokenCount: -3, candidatesTokenCount: 200, totalTokenCount: 1 }, 200],
  ['generated', 'Detect', { promptTokenCount: -3, candidatesTokenCount: 200 }, 200 + PROMPT],
  ['generated', 'Detect', { promptTokenCount: 30, candidatesTokenCount: -5 }, '30 and the output'],
])('%s on a route of the type %s with the usage %j is charged %s', (name, type, usage, charge) => {
  const [json, stream] = FORMS[name](usage)
  for (const [body, contentType] of [
    [JSON.stringify(json), 'application/json'],
    [stream, 'text/event-stream'],
  ] as const) {
    const { facts } = pass(body, { type, request, contentType, counts: true })
    const input = charge === 'estimated' ? PROMPT : typeof charge === 'number' ? charge : Number.parseInt(charge, 10)
    if (typeof charge === 'number') expect(facts.totalTokens).toBe(charge)
    else {
      expect(facts.totalTokens! - input).toBeGreaterThan(130)
      expect(facts.totalTokens! - input).toBeLessThan(220)
      expect(facts.areTokensEstimated).toBe(true)
    }
  }
})

test.each<[usage: Readonly<Record<string, number>>, total: number | undefined]>([
  [{ inputTokens: 30, outputTokens: 200, totalTokens: 1 }, 230],
  [{ inputTokens: 30, outputTokens: 200, totalTokens: 700 }, 700],
  [{ inputTokens: 30, outputTokens: 200, totalTokens: -1, cacheReadInputTokens: 5, cacheWriteInputTokens: -5 }, 235],
  [{ inputTokens: -30, outputTokens: 200, totalTokens: 1 }, 200],
  [{ inputTokens: -30, outputTokens: 200 }, undefined],
  [{ inputTokens: 30, outputTokens: 0.5 }, undefined],
])('usage of Converse %j is a total of %s', (usage, total) => {
  const { sink, told } = toldAnswer()
  readUsage({ usage }, sink)
  expect(told).toMatchObject([['usage', { totalTokens: total, providerTotalTokens: countOf(usage.totalTokens) }]])
  const { facts } = pass(JSON.stringify({ output: {}, usage }), { type: 'Detect', contentType: 'application/json' })
  expect(facts.totalTokens).toBe(usage.outputTokens === 0.5 ? 30 : total)
})

const countOf = (count: number | undefined) => (count !== undefined && count >= 0 ? count : undefined)

test.each<[usage: object, total: number | undefined]>([
  [{ input_tokens: 30, output_tokens: 200, total_tokens: 230 }, 230],
  [{ input_tokens: 30, output_tokens: 200, total_tokens: 1 }, 230],
  [{ input_tokens: -1, output_tokens: 200 }, 200],
  [{ input_tokens: 30, output_tokens: '200' }, 30],
  [{ input_tokens: 0.5, output_tokens: -1, total_tokens: 7 }, 7],
  [{ input_tokens: 0.5, output_tokens: -1, total_tokens: null }, undefined],
  [{}, undefined],
])('a response of a session with the usage %j is charged %s', (usage, total) => {
  const facts = { ...NO_LLM }
  const read = new SessionEvents(facts, { estimates: true }).read(
    Buffer.from(JSON.stringify({ type: 'response.done', response: { usage } })),
  )
  expect([read, facts.totalTokens]).toEqual([total !== undefined, total])
})

test.each<
  [reported: number | undefined, input: number | undefined, output: number | undefined, total: number | undefined]
>([
  [undefined, undefined, undefined, undefined],
  [undefined, 1, undefined, undefined],
  [undefined, undefined, 2, undefined],
  [undefined, 1, 2, 3],
  [undefined, 0, 0, 0],
  [0, undefined, undefined, 0],
  [5, 1, 2, 5],
  [2, 1, 2, 3],
  [2, 3, undefined, 3],
  [2, undefined, 3, 3],
])('of a total of %j, an input of %j and an output of %j, %j tokens are charged', (reported, input, output, total) => {
  expect(totalOf(reported, input, output)).toBe(total)
})

test('details of usage are read one by one, and what is absent stays', () => {
  const facts = { ...NO_LLM }
  readInputDetails({ cached_tokens: 1, cache_write_tokens: 2, text_tokens: 3, image_tokens: 4, audio_tokens: 5 }, facts)
  readOutputDetails({ reasoning_tokens: 6, text_tokens: 7, image_tokens: 8, audio_tokens: 9 }, facts)
  const read = {
    ...{ cachedInputTokens: 1, cacheCreationInputTokens: 2, inputTextTokens: 3, inputImageTokens: 4 },
    ...{ inputAudioTokens: 5, reasoningTokens: 6, outputTextTokens: 7, outputImageTokens: 8, outputAudioTokens: 9 },
  }
  expect(facts).toEqual({ ...NO_LLM, ...read })
  for (const details of [undefined, {}, { cached_tokens: -1, reasoning_tokens: '1', text_tokens: null }]) {
    readInputDetails(details, facts)
    readOutputDetails(details, facts)
    expect(facts).toEqual({ ...NO_LLM, ...read })
  }
})

test.each<[usage: unknown, hourly: number | undefined]>([
  [{}, undefined],
  [{ cacheDetails: {} }, undefined],
  [{ cacheDetails: [] }, 0],
  [{ cacheDetails: [{ ttl: '5m', inputTokens: 1 }] }, 0],
  [{ cacheDetails: [{ ttl: '1h', inputTokens: 2 }, { ttl: '1h' }, { ttl: '1h', inputTokens: 3 }, null] }, 5],
])('the usage %j has %j tokens that the cache keeps for an hour', (usage, hourly) => {
  expect(hourlyCacheWrites(usage)).toBe(hourly)
})
