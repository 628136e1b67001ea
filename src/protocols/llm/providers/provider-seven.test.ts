import { expect, test } from 'vitest'
import { refused, type Setup, sent } from '#test/support/prepare-llm.ts'
import { verifies } from '#test/support/verifies.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import { providerDestination } from './providers.ts'

const CLAUDE = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
const PROFILE = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/ab%c'

const as = (type: RouteType, more: Setup = {}): Setup => ({
  ai: { routes: { '*': type } },
  provider: { providerSeven: {} },
  ...more,
})
const chat = (model: string, more: object = {}) =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 9, ...more })
const bodyOf = (body: string, setup: Setup) => JSON.parse(sent(body, setup).text ?? '')

const paths: [type: RouteType, model: string, streamed: boolean, path: string][] = [
  ['Completions', CLAUDE, false, `/model/${CLAUDE}/converse`],
  ['Completions', CLAUDE, true, `/model/${CLAUDE}/converse-stream`],
  ['Messages', 'us.amazon.nova-2-lite-v1:0', true, '/model/us.amazon.nova-2-lite-v1:0/converse-stream'],
  [
    'Completions',
    PROFILE,
    false,
    '/model/arn:aws:bedrock:us-east-1:123456789012:application-inference-profile%2Fab%25c/converse',
  ],
]
verifies('backend.ai.provider/providerSeven', 'chats go to the path of the model, which is one segment', () => {
  for (const [type, model, stream, path] of paths) expect(sent(chat(model, { stream }), as(type)).path).toBe(path)
})

test.each(['.', '..', ''])('%j cannot be the path of a model', (model) => {
  expect(refused(chat(model), as('Completions')).code).toBe('llm-body-invalid')
})

verifies(['backend.ai.providerSeven/region', 'backend.ai.providerSeven/region-default'], 'the host of a region', () => {
  expect(providerDestination({ providerSeven: { region: 'us-east-1' } })).toMatchObject({
    host: 'bedrock-runtime.us-east-1.amazonaws.com',
    signing: { service: 'bedrock', region: 'us-east-1' },
  })
  expect(providerDestination({ providerSeven: { region: 'eu-central-1' } })).toMatchObject({
    host: 'bedrock-runtime.eu-central-1.amazonaws.com',
    signing: { service: 'bedrock', region: 'eu-central-1' },
  })
})

verifies('backend.ai.providerSeven/model', 'a pinned model is in the path', () => {
  const setup = as('Completions', { provider: { providerSeven: { model: CLAUDE } } })
  expect(sent(chat('other'), setup).path).toBe(`/model/${CLAUDE}/converse`)
})

verifies('backend.ai.providerSeven/guardrail', 'the guardrail is in every chat', () => {
  const provider = { providerSeven: { guardrail: { identifier: 'gr1', version: '3' } } }
  for (const type of ['Completions', 'Messages'] as const) {
    expect(bodyOf(chat(CLAUDE), as(type, { provider })).guardrailConfig).toEqual({
      guardrailIdentifier: 'gr1',
      guardrailVersion: '3',
      trace: 'enabled',
    })
  }
})

verifies('backend.ai.providerSeven/guardrail-absent', 'nothing is added unasked', () => {
  expect(bodyOf(chat(CLAUDE), as('Completions'))).toEqual({
    messages: [{ role: 'user', content: [{ text: 'Hi.' }] }],
    inferenceConfig: { maxTokens: 9 },
  })
})

const metadata: [header: string, requestMetadata: object | undefined][] = [
  [
    '{"team":"a","n":12345678901234567890,"on":true,"none":null,"deep":{"x":1},"list":[1]}',
    { team: 'a', n: '12345678901234567890', on: 'true' },
  ],
  ['{"deep":{}}', undefined],
  ['["a"]', undefined],
  ['"a"', undefined],
  ['{', undefined],
  ['{"__proto__":"x"}', JSON.parse('{"__proto__":"x"}')],
]
test.each(metadata)('metadata of the header %s', (header, expected) => {
  const setup = as('Completions', { headers: { 'x-bedrock-metadata': header } })
  expect(bodyOf(chat(CLAUDE), setup).requestMetadata).toEqual(expected)
})

const WANTED = 'context-1m-2025-08-07, unknown-2020-01-01,,interleaved-thinking-2025-05-14,context-1m-2025-08-07'
const betas: [type: RouteType, model: string, fields: object | undefined][] = [
  ['Messages', CLAUDE, { anthropic_beta: ['context-1m-2025-08-07', 'interleaved-thinking-2025-05-14'] }],
  ['Messages', PROFILE, { anthropic_beta: ['context-1m-2025-08-07', 'interleaved-thinking-2025-05-14'] }],
  ['Messages', 'amazon.nova-pro-v1:0', undefined],
  ['Completions', CLAUDE, undefined],
]
test.each(betas)('beta features of %s requests to %s', (type, model, fields) => {
  const setup = as(type, { headers: { 'anthropic-beta': WANTED } })
  expect(bodyOf(chat(model), setup).additionalModelRequestFields).toEqual(fields)
})

test('beta features stand beside what the body asks for', () => {
  const setup = as('Messages', { headers: { 'anthropic-beta': 'context-1m-2025-08-07' } })
  expect(bodyOf(chat(CLAUDE, { top_k: 5 }), setup).additionalModelRequestFields).toEqual({
    top_k: 5,
    anthropic_beta: ['context-1m-2025-08-07'],
  })
})
