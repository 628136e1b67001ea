import { expect, test, vi } from 'vitest'
import type { AnswerSink } from '../../chat/answer-sink.ts'
import { readUsage } from './read-blocks.ts'

const COUNTS = { inputTokens: 5, outputTokens: 4, cacheReadInputTokens: 2, cacheWriteInputTokens: 9, totalTokens: 20 }

const usages: [cacheDetails: unknown, hourly: number | undefined][] = [
  [
    [
      { ttl: '5m', inputTokens: 2 },
      { ttl: '1h', inputTokens: 3 },
      { ttl: '1h', inputTokens: 4 },
    ],
    7,
  ],
  [[{ ttl: '5m', inputTokens: 9 }], 0],
  [[{ ttl: '1h' }, null, 'x'], 0],
  [undefined, undefined],
  ['x', undefined],
]

test.each(usages)('cache writes %j: %s tokens are kept for an hour', (cacheDetails, hourly) => {
  const usage = vi.fn()
  readUsage({ usage: { ...COUNTS, cacheDetails }, serviceTier: { type: 'flex' } }, { usage } as unknown as AnswerSink)
  expect(usage.mock.lastCall).toMatchObject([
    { inputTokens: 16, cacheCreationInputTokens: 9, cacheCreation1hInputTokens: hourly, serviceTier: 'flex' },
  ])
})
