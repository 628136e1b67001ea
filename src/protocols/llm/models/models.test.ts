import { expect, test } from 'vitest'
import { modelOf } from './models.ts'

test.each<[name: string, listed: string | undefined]>([
  ['gpt-4o', 'gpt-4o'],
  ['GPT-4o', 'gpt-4o'],
  ['gpt-4o-2024-08-06', 'gpt-4o'],
  ['gpt-4-0613', 'gpt-4'],
  ['gpt-4-1106-preview', 'gpt-4-1106-preview'],
  ['openai/gpt-5.1', 'gpt-5.1'],
  ['ft:gpt-4o-mini-2024-07-18:acme::AbC123', 'gpt-4o-mini'],
  ['openai.gpt-oss-120b-1:0', 'gpt-oss-120b-1'],
  ['o3-mini-2025-01-31', 'o3-mini'],
  ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
  ['claude-sonnet-4-5@20250929', 'claude-sonnet-4-5'],
  ['claude-opus-4-8@default', 'claude-opus-4-8'],
  ['claude-3-5-sonnet-v2@20241022', 'claude-3-5-sonnet'],
  ['claude-3-7-sonnet-latest', 'claude-3-7-sonnet'],
  ['publishers/anthropic/models/claude-opus-4-1', 'claude-opus-4-1'],
  ['anthropic.claude-3-5-sonnet-20241022-v2:0', 'claude-3-5-sonnet'],
  ['anthropic.claude-v2:1', 'claude-v2:1'],
  ['us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
  [
    'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'claude-sonnet-4-5',
  ],
  ['arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0', 'nova-pro'],
  ['global.amazon.nova-2-lite-v1:0', 'nova-2-lite'],
  ['amazon.titan-embed-text-v2:0', 'titan-embed-text-v2'],
  ['cohere.embed-v4:0', 'embed-v4'],
  ['meta.llama3-3-70b-instruct-v1:0', 'llama3-3-70b-instruct'],
  ['mistral.mistral-large-2407-v1:0', 'mistral-large'],
  ['models/gemini-2.5-flash', 'gemini-2.5-flash'],
  ['google/gemini-2.5-pro-preview-05-06', 'gemini-2.5-pro'],
  ['gemini-2.0-flash-001', 'gemini-2.0-flash'],
  ['gpt-99', undefined],
  ['claude-next-9', undefined],
  ['my-deployment', undefined],
  ['', undefined],
  [`gpt-4o${'-2024'.repeat(10_000)}`, undefined],
])('%s is listed as %s', (name, listed) => {
  expect(modelOf(name).name).toBe(listed)
})

test.each([
  ['claude-next-9', { family: 'claude', thinking: 'adaptive', refused: ['temperature', 'top_p', 'top_k'] }],
  ['eu.anthropic.claude-next-9-20290101-v1:0', { family: 'claude', thinking: 'adaptive' }],
  ['gpt-99', { family: 'gpt', thinking: 'effort', efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'] }],
  ['o9', { family: 'o-series', thinking: 'effort' }],
  ['amazon.nova-9-v1:0', { family: 'nova', thinking: 'effort' }],
  // Nothing is known: nothing may be left out.
  ['my-deployment', { family: 'other', refused: [], refusedWithThinking: [], contextTokens: undefined }],
])('%s is like the newest of its family', (name, facts) => {
  expect(modelOf(name)).toMatchObject(facts)
})

test.each([
  // Decision B24: tokens up to 4.5, efforts from 4.6 on.
  ['claude-sonnet-4-5', { thinking: 'budget', efforts: [], refused: [] }],
  ['claude-opus-4-6', { thinking: 'adaptive', efforts: ['low', 'medium', 'high', 'max'], refused: [] }],
  ['claude-opus-4-7', { thinking: 'adaptive', efforts: ['low', 'medium', 'high', 'xhigh', 'max'] }],
  [
    'claude-opus-4-7',
    { refused: ['temperature', 'top_p', 'top_k'], contextTokens: 1_000_000, maxOutputTokens: 128_000 },
  ],
  ['claude-opus-5-5', { alwaysThinks: true, cacheMinimumTokens: 512 }],
  ['claude-3-haiku-20240307', { thinking: 'none', cacheMinimumTokens: 2048, maxOutputTokens: 4096 }],
  ['claude-haiku-4-5', { thinking: 'budget', cacheMinimumTokens: 4096 }],
  ['gpt-4o', { thinking: 'none', efforts: [], refused: [], contextTokens: 128_000, maxOutputTokens: 16_384 }],
  ['deepseek-chat', { thinking: 'none', contextTokens: 128_000, maxOutputTokens: 8192 }],
  ['gpt-5', { efforts: ['minimal', 'low', 'medium', 'high'], alwaysThinks: true }],
  ['gpt-5.1', { efforts: ['none', 'low', 'medium', 'high'], refused: [], alwaysThinks: false }],
  ['gpt-5-pro', { efforts: ['high'] }],
  ['gemini-2.5-flash', { thinking: 'effort', contextTokens: 1_048_576 }],
  ['nova-pro', { thinking: 'none', cacheMinimumTokens: 1000 }],
])('%s: %o', (name, facts) => {
  expect(modelOf(name)).toMatchObject(facts)
})

test('any number of invented names leaves the facts as they are', () => {
  for (let i = 0; i < 1000; i++) expect(modelOf(`gpt-4o-mini-${i}x`).family).toBe('gpt')
  const long = `claude-${'x'.repeat(300)}`
  expect([modelOf(long), modelOf(long).name]).toEqual([modelOf(''), undefined])
  expect([modelOf('gpt-4o-mini-1x'), modelOf('gpt-4o-mini-1x').name]).toEqual([modelOf('gpt-4o-mini-2x'), undefined])
})
