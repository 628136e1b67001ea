import { expect, test } from 'vitest'
import { NO_LLM } from '#exchange/llm-facts.ts'
import { reject } from '#exchange/outcome.ts'
import { describeLlm } from './explain-llm.ts'
import type { Guard } from './guards/guard.ts'
import { compileRules } from './guards/rules/compile-rules.ts'

const facts = { ...NO_LLM, provider: 'aws.bedrock', requestModel: 'm' }

test('explain shows the type, the provider, what a translation lost, and what was removed', () => {
  expect(describeLlm(undefined, undefined, undefined)).toEqual(['llm       no route type'])
  expect(describeLlm('Messages', undefined, undefined)).toEqual(['llm       Messages'])
  expect(describeLlm('Passthrough', { ...facts, requestModel: '' }, undefined)).toEqual([
    'llm       Passthrough to aws.bedrock',
  ])
  const translation = { from: 'completions', to: 'converse', dropped: ['n', 'messages[0].name'] }
  expect(describeLlm('Completions', { ...facts, translation }, undefined)).toEqual([
    'llm       Completions to aws.bedrock, model m',
    '          translated from completions to converse',
    '          left out: n, messages[0].name',
  ])
  const misread = { end: '/messages', type: 'Messages' } as const
  expect(describeLlm('Completions', { ...facts, misread }, undefined)).toEqual([
    'llm       Completions to aws.bedrock, model m',
    '          /messages is handled as a chat completion, because backend.ai.routes is unset: set { /chat/completions: Completions, /messages: Messages } (llm-path-not-completions)',
  ])
  expect(describeLlm('Completions', { ...facts, removedFields: ['n', 'user'] }, undefined)).toEqual([
    'llm       Completions to aws.bedrock, model m',
    '          dropped because their transformations failed: n, user',
  ])
})

test('explain shows the guards of the response where they apply', () => {
  const common = { phase: 'response' as const, refusal: reject('prompt-guard-rejected') }
  const judge = () => Promise.resolve({ kind: 'pass' as const })
  const response: Guard[] = [
    {
      ...{ ...common, index: 0, kind: 'regex', rejects: false },
      rules: compileRules({ matches: ['x', 'y'], builtins: ['Email'] }, () => {}),
    },
    {
      ...{ ...common, index: 1, kind: 'webhook' },
      service: { kind: 'webhook', destination: 'ProxyBackend/default/judge', masks: true, judge },
    },
  ]
  const guards = { closed: false, request: [], response } as const
  expect(describeLlm('Messages', facts, guards)).toEqual([
    'llm       Messages to aws.bedrock, model m',
    '          promptGuard.response[0], regex, masks matches[0], matches[1], Email',
    '          promptGuard.response[1], webhook default/judge',
  ])
  expect(describeLlm('Embeddings', facts, guards)).toEqual(['llm       Embeddings to aws.bedrock, model m'])
  for (const type of ['Passthrough', 'Detect'] as const) {
    for (const known of [facts, undefined]) {
      const [, line] = describeLlm(type, known, guards)
      expect(line).toBe('          no prompt guard checks requests and answers of this type')
    }
  }
})
