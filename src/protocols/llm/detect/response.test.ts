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
