import { expect, test } from 'vitest'
import { contextWith, exchangeWith, sourceOf } from '../../shared/testing.ts'
import { retry } from './index.ts'
import type { RetrySpec } from './schema.ts'

const cases: [spec: RetrySpec, attempts: number, codes: number[], backoffMs: number, reports: string[]][] = [
  [{}, 1, [], 0, []],
  [{ attempts: 0 }, 0, [], 0, []],
  [{ attempts: 3, codes: [500, 503], backoff: '200ms' }, 3, [500, 503], 200, []],
  // Only a route rule can have this value; the schema of ProxyPolicy refuses it.
  [{ attempts: 300 }, 255, [], 0, ['out-of-range spec.traffic.field.attempts']],
  [{ attempts: -1 }, 0, [], 0, ['out-of-range spec.traffic.field.attempts']],
]
for (const [spec, attempts, codes, backoffMs, reports] of cases) {
  test(`retry ${JSON.stringify(spec)} is recorded for forwarding`, () => {
    const context = contextWith()
    const exchange = exchangeWith()
    retry.compile([sourceOf(spec)], context)!.request!(exchange)
    expect(exchange.retry).toEqual({ attempts, codes: new Set(codes), backoffMs })
    expect(context.reports).toEqual(reports)
  })
}
