import { expect, test } from 'vitest'
import type { Answer } from '#exchange/outcome.ts'
import type { TokenCounter } from '#exchange/token-counter.ts'
import { NO_COUNTER } from '#exchange/token-counter.ts'
import { prepare, refused, type Setup } from '#test/support/prepare-llm.ts'
import { verifies } from '#test/support/verifies.ts'
import { answerCount } from './count-tokens.ts'

const route: Setup = {
  target: '/v1/messages/count_tokens',
  ai: { routes: { '/v1/messages/count_tokens': 'MessagesTokenCount' } },
}
const request = (content: unknown, more: object = {}) =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...more })

/** Counts characters, and remembers what it was asked. */
class Characters implements TokenCounter {
  readonly asked: (readonly [vocabulary: string, texts: readonly string[]])[] = []

  count(vocabulary: string, texts: readonly string[]): Promise<number> {
    this.asked.push([vocabulary, texts])
    return Promise.resolve(texts.join('').length)
  }
}

async function count(body: string, setup: Setup = {}, counter: TokenCounter = new Characters()) {
  const { prepared, exchange } = prepare(body, { ...route, ...setup })
  if (prepared.kind !== 'count') throw new Error(`not counted: ${prepared.kind}`)
  const answer: Answer = await answerCount(prepared, exchange, counter)
  const { facts } = prepared
  expect(exchange.llm).toBe(facts)
  // `explain` shows answers only.
  expect(answer.kind).toBe('answer')
  return { body: answer.body, head: answer.head, facts }
}

const project = { resourceType: 'ResourceTypeTwo', resourceName: 'r', projectName: 'p' } as const

verifies(
  'llm.routes/messages-token-count',
  'providers without token counts get none; the gateway responds (B36)',
  async () => {
    for (const provider of [
      { providerOne: {} },
      { providerTwo: { endpoint: 'r.openai.azure.com', deploymentName: 'd' } },
      { providerTwo: { endpoint: 'r.openai.azure.com', deploymentName: 'a/b', apiVersion: '2024-10-21' } },
      { providerThree: { resourceType: 'ResourceTypeOne', resourceName: 'r' } },
      { providerThree: project },
      { providerFive: {} },
      { providerSix: { projectId: 'p', model: 'gemini-2.5-pro' } },
      { providerSeven: { model: 'amazon.nova-pro-v1:0' } },
    ]) {
      const { body, head, facts } = await count(request('Hello'), { provider })
      expect(body).toBe('{"input_tokens":12}')
      expect([head.status, head.get('content-type'), head.get('x-token-count')]).toEqual([
        200,
        'application/json',
        'estimated',
      ])
      expect(facts).toMatchObject({ countTokens: 12, inputTokens: undefined, countVocabulary: 'o200k' })
    }
  },
)

test.each([
  [{ providerFour: {} }],
  [{ providerThree: { ...project, model: 'claude-sonnet-4-5' } }],
  [{ providerSix: { projectId: 'p', model: 'claude-sonnet-4-5' } }],
  [{ providerSeven: { model: 'anthropic.claude-sonnet-4-5-20250929-v1:0' } }],
])('%j counts tokens itself', (provider) => {
  expect(prepare(request('Hello'), { ...route, provider }).prepared.kind).toBe('send')
})

test.each([
  ['gpt-4o', 'o200k'],
  ['gpt-5.1', 'o200k'],
  ['o3', 'o200k'],
  ['gpt-4', 'cl100k'],
  ['gpt-4-0613', 'cl100k'],
  ['gpt-4-turbo-2024-04-09', 'cl100k'],
  ['gpt-3.5-turbo', 'cl100k'],
  ['gemini-2.5-pro', 'o200k'],
  ['nobody-knows', 'o200k'],
])('tokens of %s are counted with %s', async (model, vocabulary) => {
  const counter = new Characters()
  const { facts } = await count(request('Hello', { model }), {}, counter)
  expect([counter.asked, facts.requestModel]).toEqual([[[vocabulary, ['Hello']]], model])
})

test('body settings, alias and prompt are applied before the count (B36, B103)', async () => {
  const counter = new Characters()
  const { facts } = await count(
    request('Hello', { model: 'old' }),
    {
      ai: {
        ...route.ai,
        modelAliases: { old: 'gpt-4' },
        overrides: [{ field: 'system', value: 'one' }],
        prompt: { prepend: [{ role: 'system', content: 'two' }], append: [{ role: 'user', content: 'three' }] },
      } as never,
    },
    counter,
  )
  expect(facts.requestModel).toBe('gpt-4')
  const [[vocabulary, texts] = []] = counter.asked
  expect(vocabulary).toBe('cl100k')
  expect(texts?.join(' ')).toBe('two one Hello three')
})

test('without time for a count, it is an estimate from the lengths of words, and says so', async () => {
  const body = request('one two three four')
  for (const counter of [NO_COUNTER, { count: () => Promise.resolve(undefined) }]) {
    const { head, facts, body: text } = await count(body, {}, counter)
    expect([text, head.get('x-token-count')]).toEqual(['{"input_tokens":11}', 'estimated;vocabulary=none'])
    expect(facts).toMatchObject({ countTokens: 11, countVocabulary: 'none' })
  }
})

test('an answer comes at once if nothing is counted', () => {
  const { prepared, exchange } = prepare(request('x'), route)
  if (prepared.kind !== 'count') throw new Error('not counted')
  expect(answerCount(prepared, exchange, NO_COUNTER)).not.toBeInstanceOf(Promise)
})

test.each([
  ['words', 'word '.repeat(500), [999, 1000, 501]],
  ['a run', 'a'.repeat(2500), [1000, 1000, 500]],
  ['a run after a word', `a ${'b'.repeat(1500)}`, [1, 1000, 501]],
  ['spaces', ' '.repeat(1500), [1000, 500]],
  ['signs and line ends', '/\n'.repeat(1000), [1000, 1000]],
  ['pairs of surrogates', `a${'\u{1f600}'.repeat(750)}`, [999, 502]],
])('a long text is divided: %s', async (_, text, lengths) => {
  const counter = new Characters()
  await count(request(text), {}, counter)
  const [, pieces] = counter.asked[0]!
  expect(pieces.map((piece) => piece.length)).toEqual(lengths)
  expect(pieces.join('')).toBe(text)
})

test('of more than 200,000 characters, parts at equal distances are counted', async () => {
  const counter = new Characters()
  const text = 'words and '.repeat(100_000)
  const { body } = await count(request(text), {}, counter)
  const asked = counter.asked[0]![1].join('')
  expect(asked).toHaveLength(200_000)
  expect(body).toBe(`{"input_tokens":${text.length + 7}}`)
})

test.each([
  ['{"model":"m","messages":[{"role":"user","role":"x"}]}', 'llm-body-invalid'],
  ['{"messages":[]}', 'llm-model-missing'],
  ['', 'llm-body-invalid'],
])('%s is refused', (body, code) => {
  expect(refused(body, route).code).toBe(code)
})
