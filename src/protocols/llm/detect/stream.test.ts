import { expect, test } from 'vitest'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import { pass } from '../testing.ts'
import { DetectStream } from './stream.ts'

const data = (event: object) => `data: ${JSON.stringify(event)}\n\n`
const IMAGE = 'x'.repeat(3 * 1024 * 1024)

const USAGE = { input_tokens: 4, output_tokens: 9, total_tokens: 13 }
const output = [{ type: 'image_generation_call', result: IMAGE, usage: { input_tokens: 99 } }]
const completed = () => ({
  type: 'response.completed',
  response: { id: 'r', model: 'gpt-5-x', output, usage: USAGE },
})

test.each<[event: object, finishReasons: string[]]>([
  [{ ...completed(), response: { ...completed().response, status: 'completed' } }, ['completed']],
  [
    { type: 'response.incomplete', response: { output, status: 'incomplete', incomplete_details: { reason: 'cut' } } },
    ['cut'],
  ],
  [{ type: 'message_delta', delta: { stop_reason: 'end_turn', x: IMAGE } }, ['end_turn']],
  [{ stopReason: 'end_turn', x: IMAGE }, ['end_turn']],
])('an event of any size of an unknown format says why the model stopped: %#', (last, finishReasons) => {
  const { text, facts } = pass(data(last), { type: 'Detect', cuts: [1_000_000, 1_500_000] })
  expect([text === data(last), facts.finishReasons]).toEqual([true, finishReasons])
})

test.each<[event: object, facts: Partial<LlmFacts>]>([
  [completed(), { responseId: 'r', responseModel: 'gpt-5-x', inputTokens: 4, totalTokens: 13 }],
  [
    {
      message: { id: 'i', model: 'm', service_tier: 's', content: IMAGE, usage: { input_tokens: 4, output_tokens: 1 } },
    },
    { responseId: 'i', responseModel: 'm', serviceTier: 's', totalTokens: 5 },
  ],
  [
    { metadata: { model: 'm', service_tier: 's', usage: { prompt_tokens: 1 }, x: IMAGE } },
    { responseModel: 'm', serviceTier: 's', inputTokens: 1 },
  ],
  [
    { response: { responseId: 'i', modelVersion: 'v', usageMetadata: { promptTokenCount: 2 }, x: IMAGE } },
    { responseId: 'i', responseModel: 'v', inputTokens: 2 },
  ],
  [
    { x: IMAGE, id: 'i', modelVersion: 'v', usageMetadata: { promptTokenCount: 3 }, service_tier: 's' },
    { responseId: 'i', responseModel: 'v', serviceTier: 's', inputTokens: 3 },
  ],
  [
    { x: IMAGE, responseId: 'i', model: 'm', usage: { prompt_tokens: 1 } },
    { responseId: 'i', responseModel: 'm', inputTokens: 1 },
  ],
])('an event of any size of an unknown format has facts: %#', (last, expected) => {
  const { text, facts } = pass(data(last), { type: 'Detect', cuts: [1_000_000, 1_500_000] })
  expect(text === data(last)).toBe(true)
  expect(facts).toMatchObject(expected)
})

test('an error in an event of any size of an unknown format is one', () => {
  const failed = { type: 'response.failed', response: { output, error: { code: 'server_error' } } }
  for (const last of [failed, { x: IMAGE, error: { type: 'server_error' } }]) {
    const { text, facts } = pass(data(last), { type: 'Detect', cuts: [1_000_000, 1_500_000] })
    expect([text === data(last), facts.errorType]).toEqual([true, 'server_error'])
  }
})

test.each<[event: object, is: boolean]>([
  [{ type: 'content_block_delta' }, true],
  [{ type: 'message_start', delta: {} }, false],
  [{ choices: [{ delta: { content: 'x' } }] }, true],
  [{ choices: [{ delta: { role: 'assistant' } }] }, false],
  [{ candidates: [] }, true],
  [{ delta: {} }, true],
  [{ id: 'i' }, false],
])('%j is output of a model: %j', (event, is) => {
  expect(new DetectStream().isOutput(event)).toBe(is)
})

test('a stream of unknown format has no end, and nothing is added to it', () => {
  const format = new DetectStream()
  expect([format.isEnd(), format.formatBreak(), format.finishMember, format.readsAll]).toEqual([false, '', '', true])
})
