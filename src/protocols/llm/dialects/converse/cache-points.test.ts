import { expect, test } from 'vitest'
import { specFrom } from '#policies/shared/testing.ts'
import { compile, sent } from '#test/support/prepare-llm.ts'
import { verifies } from '#test/support/verifies.ts'
import { backendAi, type RouteType } from '../../settings/policy-schema.ts'

const CLAUDE = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
const WEATHER = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }

interface Asked {
  readonly caching?: object
  readonly model?: string
  readonly type?: RouteType
  readonly body?: object
}

const CONVERSATION = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'One.' },
  { role: 'assistant', content: 'Two.' },
  { role: 'user', content: 'Three.' },
]

const settings = (type: RouteType, caching: object) =>
  specFrom(backendAi, { routes: { '*': type }, promptCaching: caching })

/** Where a request has cache points. */
function pointsOf({ caching = {}, model = CLAUDE, type = 'Completions', body }: Asked): string[] {
  const given = { model, max_tokens: 9, ...(body ?? { messages: CONVERSATION, tools: [WEATHER] }) }
  const provider = { providerSeven: {} }
  const { text } = sent(JSON.stringify(given), { provider, ai: settings(type, { minTokens: 0, ...caching }) })
  const { system = [], messages, toolConfig } = JSON.parse(text ?? '')
  const places: [string, unknown[]][] = [
    ['tools', toolConfig?.tools ?? []],
    ['system', system],
    ...messages.map(({ content }: { content: unknown[] }, index: number) => [`message ${index}`, content]),
  ]
  return places.filter(([, blocks]) => JSON.stringify(blocks.at(-1)) === POINT).map(([place]) => place)
}
const POINT = '{"cachePoint":{"type":"default"}}'

verifies(
  [
    'backend.ai.promptCaching/cache-points',
    'backend.ai.promptCaching/cacheSystem-default',
    'backend.ai.promptCaching/cacheMessages-default',
    'backend.ai.promptCaching/cacheTools-default',
    'backend.ai.promptCaching/cacheMessageOffset-default',
    'backend.ai.promptCaching/cacheMessageOffset-zero',
  ],
  'points after system and the second-to-last message',
  () => expect(pointsOf({})).toEqual(['system', 'message 1']),
)

verifies('backend.ai.promptCaching/cacheSystem', 'the point after system texts', () => {
  expect(pointsOf({ caching: { cacheSystem: false } })).toEqual(['message 1'])
  expect(pointsOf({ body: { messages: CONVERSATION.slice(1) } })).toEqual(['message 1'])
})

verifies('backend.ai.promptCaching/cacheMessages', 'the point among messages, of which there must be two', () => {
  expect(pointsOf({ caching: { cacheMessages: false } })).toEqual(['system'])
  expect(pointsOf({ body: { messages: CONVERSATION.slice(0, 2) } })).toEqual(['system'])
})

verifies('backend.ai.promptCaching/cacheTools', 'the point after tools', () => {
  expect(pointsOf({ caching: { cacheTools: true } })).toEqual(['tools', 'system', 'message 1'])
  expect(pointsOf({ caching: { cacheTools: true }, body: { messages: CONVERSATION } })).toEqual(['system', 'message 1'])
})

verifies(
  ['backend.ai.promptCaching/cacheMessageOffset-earlier', 'backend.ai.promptCaching/cacheMessageOffset-clamped'],
  'the point moves earlier, not beyond the first message',
  () => {
    for (const cacheMessageOffset of [1, 2, 1_000_000]) {
      expect(pointsOf({ caching: { cacheMessageOffset } })).toEqual(['system', 'message 0'])
    }
  },
)

const words = (count: number) => ({ messages: [{ role: 'system', content: 'word '.repeat(count) }] })

verifies(
  ['backend.ai.promptCaching/minTokens', 'backend.ai.promptCaching/minTokens-estimate'],
  'an estimate of 1.3 tokens for each word decides about all points',
  () => {
    expect(pointsOf({ caching: { minTokens: 130 }, body: words(99) })).toEqual([])
    expect(pointsOf({ caching: { minTokens: 130 }, body: words(100) })).toEqual(['system'])
  },
)

verifies('backend.ai.promptCaching/minTokens-default', 'the usual minimum', () => {
  const cached = (count: number) => pointsOf({ caching: { minTokens: undefined }, body: words(count) })
  expect(cached(787)).toEqual([])
  expect(cached(788)).toEqual(['system'])
})

test('words of all parts of the prompt count', () => {
  const counted = (minTokens: number) =>
    pointsOf({
      caching: { minTokens },
      body: {
        messages: [
          // 2 words, 4, 3 (the name and the words of the input), 2; altogether 16.
          { role: 'system', content: 'Be "brief".' },
          { role: 'user', content: 'What\nis the\tweather?' },
          {
            role: 'assistant',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }],
          },
          { role: 'tool', tool_call_id: 'c', content: 'Very sunny' },
        ],
        // 5 words: the name, the description, `type` and `object`.
        tools: [
          { type: 'function', function: { name: 'weather', description: 'Says it.', parameters: { type: 'object' } } },
        ],
      },
    }).length > 0
  expect(counted(20)).toBe(true)
  expect(counted(21)).toBe(false)
})

const models: [model: string, points: string[]][] = [
  ['us.amazon.nova-pro-v1:0', ['system', 'message 1']],
  ['us.anthropic.claude-next-9-20990101-v1:0', ['tools', 'system', 'message 1']],
  ['arn:aws:bedrock:us-east-1:1:application-inference-profile/x', ['tools', 'system', 'message 1']],
  ['anthropic.claude-v2:1', []],
  ['anthropic.claude-instant-v1', []],
  ['meta.llama3-3-70b-instruct-v1:0', []],
]
verifies('backend.ai.promptCaching/provider', 'points where the model takes them', () => {
  for (const [model, points] of models) {
    expect(pointsOf({ model, caching: { cacheTools: true } }), model).toEqual(points)
  }
  const ai = settings('Completions', {})
  expect(compile({ provider: { providerOne: {} } }, { ai }).problems).toEqual(['.promptCaching: no-effect'])
  expect(compile({ provider: { providerSeven: {} } }, { ai }).problems).toEqual([])
})

test('the marks of a client replace those of the policy', () => {
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'One.', cache_control: { type: 'ephemeral' } }] },
    { role: 'assistant', content: 'Two.' },
    { role: 'user', content: 'Three.' },
  ]
  expect(pointsOf({ type: 'Messages', body: { system: 'Be brief.', messages } })).toEqual(['message 0'])
  const unmarked = [{ role: 'user', content: 'One.' }, ...messages.slice(1)]
  expect(pointsOf({ type: 'Messages', body: { system: 'Be brief.', messages: unmarked } })).toEqual([
    'system',
    'message 1',
  ])
})
