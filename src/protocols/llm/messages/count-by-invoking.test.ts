import { expect, test } from 'vitest'
import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import { Head } from '#net/http/head.ts'
import { JsonValue, parseDocument } from '../json/json-document.ts'
import { Losses } from '../translation/losses.ts'
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

test('the count of the provider is the answer', () => {
  const [answer, { countTokens }] = counted('{"inputTokens":7}')
  expect([answer, countTokens]).toEqual([{ input_tokens: 7 }, 7])
})

test.each(['-1', '1.5', '1e400', '"7"', 'null'])('%s is no count', (count) => {
  expect(() => counted(`{"inputTokens":${count}}`)).toThrow('the response has no inputTokens')
})
