import { expect, test } from 'vitest'
import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import { Head } from '#net/http/head.ts'
import { Losses } from '../../chat/losses.ts'
import { JsonValue, parseDocument } from '../../json/json-document.ts'
import { COUNT_BY_INVOKING } from './count-by-invoking.ts'

function parsed(text: string): JsonValue {
  const value = parseDocument(Buffer.from(text))
  if (!(value instanceof JsonValue)) throw new Error('not JSON')
  return value
}

function counted(answer: string): [answer: unknown, facts: LlmFacts] {
  const facts = { ...NO_LLM }
  const { answer: read } = COUNT_BY_INVOKING.translate(parsed('{"model":"m"}'), Head.request('POST', '/'), new Losses())
  return [read(parsed(answer), Head.response(200), facts), facts]
}

/** What is counted. */
function sent(request: string, version?: string): unknown {
  const head = Head.request('POST', '/')
  if (version !== undefined) head.set('anthropic-version', version)
  const { body } = COUNT_BY_INVOKING.translate(parsed(request), head, new Losses())
  const { input } = JSON.parse(JSON.stringify(body)) as { input: { invokeModel: { body: string } } }
  return JSON.parse(Buffer.from(input.invokeModel.body, 'base64').toString())
}

const LATEST = { anthropic_version: '2023-06-01' }

test.each<[request: string, version: string | undefined, given: object]>([
  ['{"model":"m","messages":[]}', undefined, { messages: [], max_tokens: 1, ...LATEST }],
  ['{"model":"m","max_tokens":5}', undefined, { max_tokens: 5, ...LATEST }],
  ['{"model":"m"}', '2024-01-01', { max_tokens: 1, anthropic_version: '2024-01-01' }],
  [
    '{"anthropic_version":"bedrock-2023-05-31"}',
    '2024-01-01',
    { max_tokens: 1, anthropic_version: 'bedrock-2023-05-31' },
  ],
])('of %s and version %s, %j is counted', (request, version, given) => {
  expect(sent(request, version)).toEqual(given)
})

test('the count of the provider is the answer', () => {
  const [answer, { countTokens }] = counted('{"inputTokens":7}')
  expect([answer, countTokens]).toEqual([{ input_tokens: 7 }, 7])
})

test.each(['-1', '1.5', '1e400', '"7"', 'null'])('%s is no count', (count) => {
  expect(() => counted(`{"inputTokens":${count}}`)).toThrow('the response has no inputTokens')
})
