import { expect, test } from 'vitest'
import { refused, type Setup, sent } from '#test/support/prepare-llm.ts'
import { verifies } from '#test/support/verifies.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import { editMessagesBody } from './edit-messages-body.ts'

const provider = { providerSix: { projectId: 'my proj', region: 'europe-west1' } }
const BASE = '/v1/projects/my%20proj/locations/europe-west1'
const MODELS = `${BASE}/publishers/anthropic/models`
const as = (type: RouteType, more: Setup = {}): Setup => ({ ai: { routes: { '*': type } }, provider, ...more })

const messagesPaths: [model: string, streamed: boolean, path: string][] = [
  ['claude-x', false, `${MODELS}/claude-x:rawPredict`],
  ['claude-x', true, `${MODELS}/claude-x:streamRawPredict`],
  ['claude-x-20251001', false, `${MODELS}/claude-x@20251001:rawPredict`],
  ['claude-x@20251001', false, `${MODELS}/claude-x@20251001:rawPredict`],
  ['anthropic/claude-x-20251001', false, `${MODELS}/claude-x@20251001:rawPredict`],
  ['publishers/anthropic/models/claude-x', false, `${MODELS}/claude-x:rawPredict`],
  ['projects/p/locations/l/publishers/anthropic/models/x', true, `${MODELS}/x:streamRawPredict`],
]

verifies(
  ['backend.ai.provider/providerSix', 'backend.ai.providerSix/projectId'],
  'paths of the messages family',
  () => {
    for (const [model, stream, path] of messagesPaths) {
      expect(sent(JSON.stringify({ model, stream, messages: [] }), as('Messages')).path).toBe(path)
    }
  },
)

test('the path follows the final body, not that of the client', () => {
  const overridden = { routes: { '*': 'Messages' }, overrides: [{ field: 'stream', value: true }] } as const
  expect(sent('{"model":"claude-x"}', as('Messages', { ai: overridden })).path).toBe(
    `${MODELS}/claude-x:streamRawPredict`,
  )
})

test('bodies of the messages family lose what the platform refuses, and keep the rest byte for byte', () => {
  const body =
    '{"model":"claude-x","anthropic_version":"2023-06-01","max_tokens":12345678901234567890, "output_format":{},"output_config":{"effort":"low"},' +
    '"system":[{"type":"text","text":"a\\u00e9","cache_control":{"type":"ephemeral","scope":"global"}}],' +
    '"messages":[{"role":"user","content":[{"type":"text","text":"scope","cache_control":{"scope":"x"},"scope":1}]}]}'
  expect(sent(body, as('Messages')).text).toBe(
    '{"anthropic_version":"vertex-2023-10-16","max_tokens":12345678901234567890, "output_config":{"effort":"low"},' +
      '"system":[{"type":"text","text":"a\\u00e9","cache_control":{"type":"ephemeral"}}],' +
      '"messages":[{"role":"user","content":[{"type":"text","text":"scope","cache_control":{},"scope":1}]}]}',
  )
})

test.each(['"scope"', String.raw`"sc\u006fpe"`])(
  'bodies of the messages family lose a scope whose key is written as %s',
  (key) => {
    const body = (mark: string) =>
      `"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":${mark}}]}]}`
    const given = `{"model":"claude-x","anthropic_version":"v",${body(`{${key}:"x"}`)}`
    expect(sent(given, as('Messages')).text).toBe(`{"anthropic_version":"vertex-2023-10-16",${body('{}')}`)
  },
)

test.each<[mark: string, edited: string]>([
  ['{"type":"ephemeral", "scope":null }', '{"type":"ephemeral" }'],
  ['{"type":"ephemeral"}', '{"type":"ephemeral"}'],
  ['{"ttl":{"scope":1}}', '{"ttl":{"scope":1}}'],
  ['"scope"', '"scope"'],
  ['[{"cache_control":{"scope":1}}]', '[{"cache_control":{"scope":1}}]'],
])('of a mark for the cache %s, the platform gets %s', (mark, edited) => {
  const body = (given: string) => `"tools":[{"input_schema":{"a":[[{"cache_control":${given}}]]}}],"messages":[]}`
  expect(sent(`{"model":"claude-x","anthropic_version":"v",${body(mark)}`, as('Messages')).text).toBe(
    `{"anthropic_version":"vertex-2023-10-16",${body(edited)}`,
  )
})

test('a long body is edited in many steps', () => {
  const part = (mark: string) => `{"type":"text","text":"a","cache_control":{"type":"ephemeral"${mark}}}`
  const body = (mark: string) => `{"messages":[{"content":[${Array(10_000).fill(part(mark)).join(',')}]}]`
  const steps = editMessagesBody(new TextEncoder().encode(`${body(',"scope":"x"')}}`), {
    version: 'v',
    model: undefined,
  })
  let count = 0
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) count++
  expect(new TextDecoder().decode(step.value)).toBe(`${body('')},"anthropic_version":"v"}`)
  expect(count).toBeGreaterThan(40)
})

verifies(['backend.ai.providerSix/model'], 'a configured model replaces that of the request', () => {
  const pinned = { providerSix: { projectId: 'p', model: 'gemini-2.5-pro' } }
  const { text, facts } = sent('{"model":"m","messages":[]}', as('Completions', { provider: pinned }))
  expect([JSON.parse(text!).model, facts?.requestModel]).toEqual(['google/gemini-2.5-pro', 'gemini-2.5-pro'])
})

verifies(
  ['backend.ai.providerSix/region-default'],
  'the body of a token count names the model, also a pinned one',
  () => {
    const pinned = { providerSix: { projectId: 'p', model: 'claude-y-20250101' } }
    const { path, text } = sent('{"model":"m","messages":[]}', as('MessagesTokenCount', { provider: pinned }))
    expect(path).toBe('/v1/projects/p/locations/global/publishers/anthropic/models/count-tokens:rawPredict')
    expect(text).toBe('{"model":"claude-y@20250101","messages":[],"anthropic_version":"vertex-2023-10-16"}')
  },
)

verifies(
  ['backend.ai.providerSix/region'],
  'other models use the endpoint for chat completions, with their publisher',
  () => {
    const models: [given: string, sent: string][] = [
      ['gemini-2.5-pro', 'google/gemini-2.5-pro'],
      ['google/gemini-2.5-pro', 'google/gemini-2.5-pro'],
      ['models/gemini-2.5-pro', 'google/gemini-2.5-pro'],
      ['projects/p/locations/l/publishers/google/models/gemini-x', 'google/gemini-x'],
      ['google/other', 'google/other'],
      ['meta/llama-4', 'meta/llama-4'],
    ]
    for (const [given, model] of models) {
      const { path, text, facts } = sent(JSON.stringify({ model: given, messages: [] }), as('Completions'))
      expect([path, JSON.parse(text!).model, facts?.requestModel]).toEqual([
        `${BASE}/endpoints/openapi/chat/completions`,
        model,
        given,
      ])
    }
  },
)

test.each(['embed-1', 'google/embed-1', 'models/embed-1', 'publishers/google/models/embed-1'])(
  'texts are embedded at the path of the model, without the publisher: %s',
  (model) => {
    const { path } = sent(JSON.stringify({ model, input: 'x' }), as('Embeddings'))
    expect(path).toBe(`${BASE}/publishers/google/models/embed-1:predict`)
  },
)

test('a model of the messages family cannot lead out of its path', () => {
  const prepared = (model: string) => [JSON.stringify({ model, messages: [] }), as('Messages')] as const
  expect(refused(...prepared('anthropic/..')).code).toBe('llm-body-invalid')
  expect(refused(...prepared('anthropic/')).code).toBe('llm-body-invalid')
  expect(refused(...prepared('claude-a/../b')).code).toBe('llm-body-invalid')
  expect(sent(...prepared('claude-a/b')).path).toBe(`${MODELS}/claude-a%2Fb:rawPredict`)
})
