import { expect, test } from 'vitest'
import { humanDuration } from './human-duration.ts'

const S = 1000
const M = 60 * S
const H = 60 * M
const D = 24 * H

test.each([
  [-3 * S, '<invalid>'],
  [-1 * S, '0s'],
  [0, '0s'],
  [119 * S, '119s'],
  [2 * M, '2m'],
  [3 * M + 20 * S, '3m20s'],
  [10 * M + 20 * S, '10m'],
  [179 * M, '179m'],
  [3 * H + 5 * M, '3h5m'],
  [9 * H, '9h'],
  [47 * H, '47h'],
  [2 * D + 3 * H, '2d3h'],
  [9 * D, '9d'],
  [729 * D, '729d'],
  [770 * D, '2y40d'],
  [3650 * D, '10y'],
])('%d ms: %s', (ms, expected) => {
  expect(humanDuration(ms)).toBe(expected)
})
