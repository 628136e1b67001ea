import { expect, test } from 'vitest'
import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import { DetectReader } from './response.ts'

test.each<[answer: object, facts: Partial<LlmFacts>]>([
  [
    { modelVersion: 'g', usageMetadata: { promptTokenCount: 7 } },
    { responseModel: 'g', inputTokens: 7, outputTokens: 0, totalTokens: 7, providerTotalTokens: 7 },
  ],
  [
    {
      usageMetadata: {
        promptTokenCount: 7,
        candidatesTokenCount: 3,
        thoughtsTokenCount: 2,
        cachedContentTokenCount: 1,
      },
    },
    { inputTokens: 7, outputTokens: 5, totalTokens: 12, cachedInputTokens: 1, reasoningTokens: 2 },
  ],
  [
    { usage: { inputTokens: 5 } },
    { inputTokens: 5, providerInputTokens: 5, outputTokens: undefined, totalTokens: 5, providerTotalTokens: 5 },
  ],
  [
    {
      usage: {
        inputTokens: 5,
        outputTokens: 4,
        cacheReadInputTokens: 2,
        cacheWriteInputTokens: 9,
        cacheDetails: [
          { ttl: '5m', inputTokens: 2 },
          { ttl: '1h', inputTokens: 3 },
          { ttl: '1h', inputTokens: 4 },
        ],
      },
    },
    { cacheCreationInputTokens: 9, cacheCreation1hInputTokens: 7 },
  ],
  [
    {
      usage: {
        input_tokens: 5,
        output_tokens: 4,
        cache_creation_input_tokens: 9,
        cache_creation: { ephemeral_5m_input_tokens: 6, ephemeral_1h_input_tokens: 3 },
      },
    },
    { inputTokens: 14, cacheCreationInputTokens: 9, cacheCreation1hInputTokens: 3 },
  ],
  [
    { usage: { inputTokens: 5, outputTokens: 4, cacheReadInputTokens: 2, cacheWriteInputTokens: 1, totalTokens: 9 } },
    {
      inputTokens: 8,
      providerInputTokens: 5,
      outputTokens: 4,
      totalTokens: 12,
      providerTotalTokens: 9,
      cachedInputTokens: 2,
      cacheCreationInputTokens: 1,
    },
  ],
  [
    { id: 'c', choices: [{ finish_reason: 'stop' }, { finish_reason: null }] },
    { responseId: 'c', finishReasons: ['stop'] },
  ],
  [
    { type: 'message_start', message: { id: 'msg' } },
    { responseId: 'msg', finishReasons: [] },
  ],
  [
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { responseId: undefined, finishReasons: ['end_turn'] },
  ],
  [{ stopReason: 'end_turn' }, { finishReasons: ['end_turn'] }],
  [
    { responseId: 'g', candidates: [{ finishReason: 'STOP' }] },
    { responseId: 'g', finishReasons: ['STOP'] },
  ],
  [
    { type: 'response.incomplete', response: { id: 'r', status: 'incomplete', incomplete_details: { reason: 'cut' } } },
    { responseId: 'r', finishReasons: ['cut'] },
  ],
  // What else they mean, is not known.
  [
    { status: 'ok', response: { status: 'ok' }, metadata: { id: 'of the client' } },
    { responseId: undefined, finishReasons: [] },
  ],
])('%j', (answer, expected) => {
  const facts: LlmFacts = { ...NO_LLM }
  new DetectReader().read(answer, facts)
  expect(facts).toMatchObject(expected)
})

test.each<[members: object, facts: Partial<LlmFacts>]>([
  [
    { id: 'c', 'choices[].finish_reason': 'stop' },
    { responseId: 'c', finishReasons: ['stop'] },
  ],
  [{ stop_reason: 'end_turn' }, { finishReasons: ['end_turn'] }],
  [{ 'candidates[].finishReason': 'STOP' }, { finishReasons: ['STOP'] }],
  [{ object: 'response', status: 'completed' }, { finishReasons: ['completed'] }],
  [{ object: 'response', status: 'incomplete', 'incomplete_details.reason': 'cut' }, { finishReasons: ['cut'] }],
  [{ object: 'batch', status: 'completed', 'incomplete_details.reason': 'cut' }, { finishReasons: [] }],
  [{ status: 'completed' }, { finishReasons: [] }],
])('members of a whole response: %j', (members, expected) => {
  const facts: LlmFacts = { ...NO_LLM }
  const reader = new DetectReader()
  for (const [path, value] of Object.entries(members)) reader.readMember(path, value, facts)
  expect(facts).toMatchObject(expected)
})

test.each<[what: string, events: readonly object[], facts: Partial<LlmFacts>]>([
  ['the first of two ids', [{ id: 'a', responseId: 'b' }], { responseId: 'a' }],
  ['an id of a response', [{ response: { id: 'r' } }], { responseId: 'r' }],
  ['an id that is no text', [{ id: 'a' }, { id: 7 }, {}], { responseId: 'a' }],
  ['the first of two models', [{ model: 'a', modelVersion: 'b' }], { responseModel: 'a' }],
  ['a later model', [{ model: 'a' }, { message: { modelVersion: 'b' } }, {}], { responseModel: 'b' }],
  ['a tier', [{ service_tier: 's' }, { service_tier: null }], { serviceTier: 's' }],
  [
    'metadata',
    [{ id: 'a', metadata: { id: 'b', model: 'm', service_tier: 's', usage: { prompt_tokens: 1 } } }],
    { responseId: 'a', responseModel: 'm', serviceTier: 's', inputTokens: 1 },
  ],
  [
    'the first of two usages',
    [{ usage: { prompt_tokens: 1 }, usageMetadata: { promptTokenCount: 2 } }],
    { inputTokens: 1 },
  ],
  ['usage of chats', [{ usage: { prompt_tokens: 1 } }], { inputTokens: 1, outputTokens: undefined }],
  ['usage of chats, output alone', [{ usage: { completion_tokens: 2 } }], { outputTokens: 2 }],
  [
    'usage of responses',
    [{ usage: { input_tokens: 4, output_tokens: 5, total_tokens: 9, input_tokens_details: { cached_tokens: 2 } } }],
    { inputTokens: 4, outputTokens: 5, totalTokens: 9, cachedInputTokens: 2 },
  ],
  [
    'usage of messages',
    [{ usage: { input_tokens: 4, output_tokens: 5, cache_read_input_tokens: 2 } }],
    { inputTokens: 6, outputTokens: 5, totalTokens: 11, cachedInputTokens: 2 },
  ],
  [
    'usage of messages, in two events',
    [{ message: { usage: { input_tokens: 4, cache_read_input_tokens: 2 } } }, { usage: { output_tokens: 5 } }],
    { inputTokens: 6, outputTokens: 5, totalTokens: 11 },
  ],
  [
    'generated, with its total',
    [{ usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, thoughtsTokenCount: 2, totalTokenCount: 20 } }],
    { inputTokens: 7, outputTokens: 5, totalTokens: 20, providerTotalTokens: 20, providerInputTokens: 7 },
  ],
  [
    'generated, with a total that is too low',
    [{ usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 1 } }],
    { totalTokens: 10, providerTotalTokens: 1, reasoningTokens: undefined },
  ],
  [
    'generated, with an output that is none',
    [{ usageMetadata: { promptTokenCount: 7, candidatesTokenCount: -1 } }],
    { inputTokens: 7, outputTokens: undefined, totalTokens: undefined, providerTotalTokens: undefined },
  ],
  [
    'generated, thoughts alone',
    [{ usageMetadata: { promptTokenCount: 7, thoughtsTokenCount: 2 } }],
    { outputTokens: 2, totalTokens: 9, reasoningTokens: 2 },
  ],
  [
    'generated, in two events',
    [
      { usageMetadata: { promptTokenCount: 7, cachedContentTokenCount: 1, thoughtsTokenCount: 2, totalTokenCount: 9 } },
      { usageMetadata: { promptTokenCount: 'x', candidatesTokenCount: 'x' } },
    ],
    {
      ...{ inputTokens: 7, providerInputTokens: 7, outputTokens: 2, totalTokens: 9, providerTotalTokens: 9 },
      ...{ cachedInputTokens: 1, reasoningTokens: 2 },
    },
  ],
  [
    'converse, read from the cache',
    [{ usage: { inputTokens: 5, outputTokens: 4, cacheReadInputTokens: 2 } }],
    {
      ...{ inputTokens: 7, providerInputTokens: 5, totalTokens: 11, providerTotalTokens: 9, cachedInputTokens: 2 },
      cacheCreationInputTokens: undefined,
    },
  ],
  [
    'converse, with its total',
    [{ usage: { inputTokens: 5, outputTokens: 4, totalTokens: 20 } }],
    { inputTokens: 5, totalTokens: 20, providerTotalTokens: 20 },
  ],
  [
    'converse, in two events',
    [
      {
        usage: {
          ...{ inputTokens: 5, outputTokens: 4, cacheReadInputTokens: 2, cacheWriteInputTokens: 1 },
          cacheDetails: [{ ttl: '1h', inputTokens: 1 }],
        },
      },
      { usage: { inputTokens: 'x' } },
    ],
    {
      ...{ inputTokens: 8, providerInputTokens: 5, outputTokens: 4, totalTokens: 12, providerTotalTokens: 9 },
      ...{ cachedInputTokens: 2, cacheCreationInputTokens: 1, cacheCreation1hInputTokens: 1 },
    },
  ],
  ['reasons that come later', [{ stopReason: 'a' }, { delta: { stop_reason: 'b' } }], { finishReasons: ['a', 'b'] }],
  [
    'a completed response',
    [{ type: 'response.completed', response: { status: 'completed' } }],
    { finishReasons: ['completed'] },
  ],
  ['another type', [{ type: 'x.response', response: { status: 'completed' } }], { finishReasons: [] }],
])('facts of events: %s', (_, events, expected) => {
  const facts: LlmFacts = { ...NO_LLM }
  const reader = new DetectReader()
  for (const event of events) reader.read(event, facts)
  expect(facts).toMatchObject(expected)
})
