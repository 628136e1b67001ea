import { expect, test } from 'vitest'
import { type Setup, sent } from '#test/support/prepare-llm.ts'
import type { RouteType } from '../settings/policy-schema.ts'

const BETAS = 'effort-2025-11-24,web-search-2025-03-05,context-management-2025-06-27'
const FOUR = { providerFour: {} }
const SIX = { providerSix: { projectId: 'p' } }
const ONE = { providerOne: {} }
const SEVEN = { providerSeven: {} }
const CLAUDE = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
const MARK = { cache_control: { type: 'ephemeral' } }

function request(type: RouteType, provider: object, body: object, more: Setup = {}) {
  const setup = { ai: { routes: { '*': type } }, provider, ...more } as Setup
  const prepared = sent(JSON.stringify({ messages: [{ role: 'user', content: 'u' }], ...body }), setup)
  return { ...prepared, body: JSON.parse(prepared.text ?? '') }
}

test.each<[provider: object, model: string, query: string, betas: string | undefined]>([
  [ONE, 'gpt-4.1', '', undefined],
  [{ providerFive: {} }, 'gemini-2.5-pro', '', undefined],
  [SIX, 'gemini-2.5-pro', '', undefined],
  [SEVEN, CLAUDE, '', undefined],
  [SIX, 'claude-sonnet-4-5', '', 'web-search-2025-03-05,context-management-2025-06-27'],
  [FOUR, 'claude-sonnet-4-5', '?beta=true', BETAS],
])('query and beta features of the messages API for %j with %s', (provider, model, query, betas) => {
  const headers = { 'anthropic-beta': BETAS }
  const { path, headers: edits } = request(
    'Messages',
    provider,
    { model, max_tokens: 5 },
    { target: '/v1/messages?beta=true', headers },
  )
  expect(path.replace(/^[^?]*/, '')).toBe(query)
  const isRemoved = edits.remove.includes('anthropic-beta')
  const written = edits.set.find(([name]) => name === 'anthropic-beta')?.[1]
  expect(isRemoved ? undefined : (written ?? BETAS)).toBe(betas)
})

test.each<[type: RouteType, wanted: string, sent: string]>([
  [
    'Messages',
    'web-search-2025-03-05,effort-2025-11-24,compact-2026-09-04',
    'web-search-2025-03-05,compact-2026-09-04',
  ],
  ['MessagesTokenCount', 'web-search-2025-03-05,context-1m-2025-08-07', 'context-1m-2025-08-07'],
])('provider six gets the beta features that it takes for %s', (type, wanted, sent) => {
  const { headers } = request(type, SIX, { model: 'claude-sonnet-4-5' }, { headers: { 'anthropic-beta': wanted } })
  expect(headers.set).toContainEqual(['anthropic-beta', sent])
})

test('tools that other vendors cannot run are removed by a transformation', () => {
  const tool = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }
  const asked = { model: 'claude-sonnet-4-5', input: 'q', tools: [{ type: 'code_interpreter' }, tool] }
  const ai = { routes: { '*': 'Responses' }, transformations: [{ field: 'tools', expression: 'kept' }] }
  const { body } = request('Responses', FOUR, asked, { ai, results: { kept: [tool] } } as unknown as Setup)
  expect(body.tools).toMatchObject([{ name: 'f' }])
})

test.each<[given: object, sent: object]>([
  [{ type: 'object' }, { type: 'object', properties: {} }],
  [{ description: 'd' }, { type: 'object', properties: {}, description: 'd' }],
  [
    { type: 'object', properties: { a: {} } },
    { type: 'object', properties: { a: {} } },
  ],
])('the schema %j of a tool has its properties', (input_schema, expected) => {
  const { body } = request('Messages', ONE, { model: 'gpt-4.1', max_tokens: 5, tools: [{ name: 'now', input_schema }] })
  expect(body.tools[0].function.parameters).toEqual(expected)
})

test.each<[title: string | undefined, mediaType: string, name: string]>([
  [undefined, 'application/pdf', 'document.pdf'],
  ['Report', 'application/pdf', 'Report.pdf'],
  ['a.PDF', 'application/pdf', 'a.PDF'],
  [undefined, 'text/csv', 'document.csv'],
  [undefined, 'application/x-own', 'document'],
])('the file with the title %s of the type %s has the name %s', (title, media_type, name) => {
  const document = { type: 'document', source: { type: 'base64', media_type, data: 'AAAA' }, title }
  const messages = [{ role: 'user', content: [document] }]
  const { body } = request('Messages', ONE, { model: 'gpt-4.1', max_tokens: 5, messages })
  expect(body.messages[0].content[0].file.filename).toBe(name)
})

const text = (text: string) => ({ type: 'text', text, ...MARK })
const MARKED = {
  model: CLAUDE,
  messages: [
    { role: 'system', content: [text('s')] },
    { role: 'user', content: [text('a'), text('b')] },
    { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c', content: [text('r')] },
    { role: 'user', content: [text('d')] },
  ],
  tools: [{ type: 'function', function: { name: 'f' }, ...MARK }],
}

test('the last four marks of chat clients are sent to providers of messages', () => {
  const { body } = request('Completions', FOUR, { ...MARKED, model: 'claude-sonnet-4-5' })
  expect(body.tools[0].cache_control).toBeUndefined()
  expect(body.system[0].cache_control).toBeUndefined()
  const marked = body.messages.flatMap(({ content }: { content: { cache_control?: object }[] }) =>
    content.filter((block) => block.cache_control !== undefined),
  )
  const result = { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'r' }], ...MARK }
  expect(marked).toEqual([text('a'), text('b'), result, text('d')])
})

test('and to Converse', () => {
  const { body } = request('Completions', SEVEN, MARKED)
  expect(body.toolConfig.tools).toHaveLength(1)
  expect(body.system).toHaveLength(1)
  expect(JSON.stringify(body.messages).match(/cachePoint/g)).toHaveLength(4)
})

test('a limit that the client does not set is left to Converse, and thinking still fits', () => {
  expect(request('Completions', SEVEN, { model: CLAUDE, reasoning_effort: 'high' }).body).toEqual({
    messages: [{ role: 'user', content: [{ text: 'u' }] }],
    additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 4096, display: 'summarized' } },
  })
})

const ENDPOINT = { endpoint: 'r.openai.azure.com' }
const RESOURCE = { resourceType: 'ResourceTypeOne', resourceName: 'r' }

test.each<[provider: object, model: string, limit: string]>([
  [ONE, 'ft:own', 'max_completion_tokens'],
  [{ ...ONE, host: 'localhost', port: 1 }, 'own', 'max_tokens'],
  [{ ...ONE, host: 'localhost', port: 1 }, 'gpt-5', 'max_completion_tokens'],
  [{ providerTwo: ENDPOINT, host: 'private.test' }, 'assistant-prod', 'max_completion_tokens'],
  [
    { providerTwo: { ...ENDPOINT, deploymentName: 'assistant-prod', apiVersion: '2025-04-01-preview' } },
    'assistant-prod',
    'max_completion_tokens',
  ],
  [
    { providerTwo: { ...ENDPOINT, deploymentName: 'assistant-prod', apiVersion: '2024-06-01' } },
    'assistant-prod',
    'max_tokens',
  ],
  [{ providerTwo: ENDPOINT }, 'mistral-large', 'max_tokens'],
  [{ providerThree: RESOURCE }, 'assistant-prod', 'max_completion_tokens'],
  [{ providerFive: {} }, 'own', 'max_tokens'],
])('the limit of tokens in a translated request to %j with %s is %s', (provider, model, limit) => {
  const { body } = request('Messages', provider, { model, max_tokens: 5 })
  expect(Object.keys(body).filter((name) => name.startsWith('max_'))).toEqual([limit])
})
