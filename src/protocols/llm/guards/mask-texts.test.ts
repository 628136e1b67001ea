import { expect, test } from 'vitest'
import { JsonValue, parseDocument } from '../json/json-document.ts'
import { REQUEST_TEXTS } from '../texts/dialect-texts.ts'
import { GuardedTexts } from './guarded-texts.ts'
import { findInTexts, maskTexts } from './mask-texts.ts'
import { compileRules } from './rules/compile-rules.ts'

const RULES = compileRules({ matches: ['k-\\d+'] }, (_, message) => {
  throw new Error(message)
})

test('a body with many short texts does not hold the worker', () => {
  const call = { id: 'c', function: { name: 'f', arguments: JSON.stringify(new Array(1_000).fill('a')) } }
  const messages = [...new Array(1_000).fill({ role: 'user', content: 'a' }), { role: 'assistant', tool_calls: [call] }]
  const body = Buffer.from(JSON.stringify({ model: 'm', messages }))
  const document = parseDocument(body)
  if (!(document instanceof JsonValue)) throw new Error('not JSON')
  const places = REQUEST_TEXTS.Completions(document)
  expect(stepsOf(GuardedTexts.readInSteps(body, places))).toBeGreaterThan(10)
  const texts = GuardedTexts.read(body, places)
  if ('unreadable' in texts) throw new Error(texts.unreadable)
  expect(stepsOf(maskTexts(RULES, texts))).toBeGreaterThan(20)
  expect(stepsOf(findInTexts(RULES, texts))).toBeGreaterThan(20)
})

function stepsOf(work: Generator<undefined, unknown>): number {
  let steps = 0
  while (work.next().done !== true) steps++
  return steps
}
