import { expect, test } from 'vitest'
import type { GatewayItem } from '#plan/item.ts'
import { shutdownTimes } from './shutdown-times.ts'

const UNSET = { minMs: undefined, maxMs: undefined }

/** `[min, max]` in seconds, or nothing said. */
type Said = readonly [min: number, max: number] | 'silent'

function gateway(said: Said, index: number): GatewayItem {
  const name = `g${index}`
  const shutdown = said === 'silent' ? undefined : { min: said[0], max: said[1] }
  const origin = { kind: 'Gateway', namespace: 'default', name }
  return { kind: 'gateway', key: `Gateway/default/${name}`, namespace: 'default', name, shutdown, origin }
}

test.each<[string, readonly Said[], { minMs?: number; maxMs?: number }, number, number]>([
  ['without a Gateway the defaults hold', [], {}, 0, 55_000],
  ['nothing is configured', ['silent'], {}, 0, 55_000],
  ['a Gateway says', [[2, 30]], {}, 2000, 25_000],
  [
    'the largest of each',
    [
      [1, 100],
      [5, 20],
    ],
    {},
    5000,
    95_000,
  ],
  ['one that is silent counts with the defaults', [[2, 5], 'silent'], {}, 2000, 55_000],
  ['and does not lower what others ask for', [[2, 300], 'silent'], {}, 2000, 295_000],
  ['up to 10 s one is left for closing', [[0, 10]], {}, 0, 9000],
  ['above it 5 are', [[0, 11]], {}, 0, 6000],
  ['nothing is left of one second', [[0, 1]], {}, 0, 1000],
  ['at once', [[0, 0]], {}, 0, 0],
  ['a year', [[31_536_000, 31_536_000]], {}, 31_536_000_000, 31_536_000_000],
  ['what is left for closing is not taken from the minimum', [[3, 3]], {}, 3000, 3000],
  ['nor half of it', [[8, 12]], {}, 8000, 8000],
  ['the environment says the minimum', [[2, 30]], { minMs: 500 }, 500, 25_000],
  ['the environment says the maximum', [[2, 30]], { maxMs: 20_000 }, 2000, 15_000],
  ['the environment says both', [[2, 30]], { minMs: 0, maxMs: 1000 }, 0, 1000],
  ['the minimum ends with the maximum of the environment', [[20, 30]], { maxMs: 4000 }, 4000, 4000],
  ['the minimum of the environment ends with the maximum', [[0, 5]], { minMs: 60_000 }, 5000, 5000],
])('%s', (_, said, environment, minMs, maxMs) => {
  expect(shutdownTimes(said.map(gateway), { ...UNSET, ...environment })).toEqual({ minMs, maxMs })
})
