import { expect, test } from 'vitest'
import { NO_LLM } from '#exchange/llm-facts.ts'
import { describeLlm } from './explain-llm.ts'

const facts = { ...NO_LLM, provider: 'aws.bedrock', requestModel: 'm' }

test('explain shows the type, the provider, and what a translation lost', () => {
  expect(describeLlm(undefined, undefined)).toEqual(['llm       no route type'])
  expect(describeLlm('Messages', undefined)).toEqual(['llm       Messages'])
  expect(describeLlm('Passthrough', { ...facts, requestModel: '' })).toEqual(['llm       Passthrough to aws.bedrock'])
  const translation = { from: 'completions', to: 'converse', dropped: ['n', 'messages[0].name'] }
  expect(describeLlm('Completions', { ...facts, translation })).toEqual([
    'llm       Completions to aws.bedrock, model m',
    '          translated from completions to converse',
    '          left out: n, messages[0].name',
  ])
})
