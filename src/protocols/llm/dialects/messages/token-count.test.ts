import { expect, test } from 'vitest'
import { parseExactJson } from '#base/exact-json.ts'
import { NO_LLM } from '#exchange/llm-facts.ts'
import { readTokenCount } from './token-count.ts'

test.each<[json: string, count: number | undefined]>([
  ['0', 0],
  ['12', 12],
  ['12.0', 12],
  ['-1', undefined],
  ['1.5', undefined],
  ['1e400', undefined],
  ['1e13', undefined],
  ['"12"', undefined],
  ['[12]', undefined],
  ['null', undefined],
])('the count %s is %s', (json, count) => {
  const facts = { ...NO_LLM }
  readTokenCount('input_tokens', parseExactJson(json), facts)
  expect(facts.countTokens).toBe(count)
})
