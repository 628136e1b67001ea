import { afterEach, beforeEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { verifies } from '#test/support/verifies.ts'
import { codeOf, contextWith, type ExchangeInputs, exchangeWith, sourceOf, specFrom } from '../../shared/testing.ts'
import { chargeTokens, rateLimit } from './index.ts'
import { trafficRateLimit } from './schema.ts'

const realNow = clock.now
let nowMs = 0

beforeEach(() => {
  nowMs = Date.UTC(2030, 0, 1)
  clock.now = () => nowMs
})
afterEach(() => {
  clock.now = realNow
})

function policyOf(written: object, context = contextWith(), more: object = {}) {
  const run = rateLimit.compile([sourceOf(specFrom(trafficRateLimit, written), more)], context)!
  return {
    context,
    run,
    send(request: ExchangeInputs = {}) {
      const exchange = exchangeWith(request)
      const outcome = run.request!(exchange)
      return { exchange, outcome, code: codeOf(outcome) }
    },
    codes(count: number) {
      return Array.from({ length: count }, () => this.send().code)
    },
  }
}

const OK = 'proceed'
const OVER = 'rate-limited'

function queued(exchange: Exchange): Record<string, string> {
  return Object.fromEntries(exchange.queuedHeaders ?? [])
}

verifies('traffic.rateLimit.local/requests-429', 'requests above the rate are refused until the next unit', () => {
  const policy = policyOf({ local: [{ requests: 2, unit: 'Minutes' }] })
  expect(policy.codes(3)).toEqual([OK, OK, OVER])
  nowMs += 59_999
  expect(policy.codes(1)).toEqual([OVER])
  nowMs += 1
  expect(policy.codes(3)).toEqual([OK, OK, OVER])
})

verifies('traffic.rateLimit.local/unit-values', 'each unit has its duration', () => {
  for (const [unit, lengthMs] of [
    ['Seconds', 1000],
    ['Minutes', 60_000],
    ['Hours', 3_600_000],
  ] as const) {
    const policy = policyOf({ local: [{ requests: 1, unit }] })
    expect(policy.codes(2)).toEqual([OK, OVER])
    nowMs += lengthMs - 1
    expect(policy.codes(1)).toEqual([OVER])
    nowMs += 1
    expect(policy.codes(1)).toEqual([OK])
  }
})

verifies('traffic.rateLimit.local/burst', 'burst is added to the rate, and is refilled at the rate', () => {
  const policy = policyOf({ local: [{ requests: 1, unit: 'Seconds', burst: 2 }] })
  expect(policy.codes(4)).toEqual([OK, OK, OK, OVER])
  nowMs += 1000
  expect(policy.codes(2)).toEqual([OK, OVER])
})

test('headers describe the most restrictive bucket, for allowed and refused requests; 429 has Retry-After', () => {
  const policy = policyOf({
    local: [
      { requests: 100, unit: 'Hours' },
      { requests: 1, unit: 'Minutes', burst: 1 },
    ],
  })
  nowMs += 17_500
  expect(queued(policy.send().exchange)).toEqual({
    'x-ratelimit-limit': '2',
    'x-ratelimit-remaining': '1',
    'x-ratelimit-reset': '42',
  })
  policy.send()
  const { exchange, outcome } = policy.send()
  expect(queued(exchange)).toEqual({
    'x-ratelimit-limit': '2',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '42',
  })
  expect(outcome).toMatchObject({ code: OVER, headers: [['retry-after', '43']] })
})

test('Retry-After is at least 1 and at most the unit', () => {
  const second = policyOf({ local: [{ requests: 1, unit: 'Seconds' }] })
  second.send()
  expect(second.send().outcome).toMatchObject({ headers: [['retry-after', '1']] })
  const minute = policyOf({ local: [{ requests: 1, unit: 'Minutes' }] })
  minute.send()
  expect(minute.send().outcome).toMatchObject({ headers: [['retry-after', '60']] })
})

test('headers of an earlier policy are kept', () => {
  const policy = policyOf({ local: [{ requests: 5, unit: 'Seconds' }] })
  const exchange = exchangeWith()
  exchange.queueHeader('x-ratelimit-limit', '1')
  policy.run.request!(exchange)
  expect(exchange.queuedHeaders).toEqual([['x-ratelimit-limit', '1']])
})

test('a refused request takes no tokens from any bucket', () => {
  const policy = policyOf({
    local: [
      { requests: 3, unit: 'Hours' },
      { requests: 1, unit: 'Seconds' },
    ],
  })
  expect(policy.codes(4)).toEqual([OK, OVER, OVER, OVER])
  nowMs += 1000
  expect(policy.codes(1)).toEqual([OK])
  nowMs += 1000
  expect(policy.codes(1)).toEqual([OK])
})

verifies(
  ['traffic.rateLimit.local/tokens-after-completion', 'traffic.rateLimit.local/tokens-429'],
  'tokens are charged afterwards and limit later requests',
  () => {
    const policy = policyOf({ local: [{ tokens: 10, unit: 'Minutes' }] })
    const { exchange, code } = policy.send()
    expect(code).toBe(OK)
    expect(policy.send().code).toBe(OK)
    chargeTokens(exchange, 25)
    expect(policy.send().code).toBe(OVER)
    nowMs += 60_000
    expect(policy.send().code).toBe(OK)
  },
)

test('an exhausted token limit refuses requests', () => {
  const policy = policyOf({
    local: [
      { requests: 2, unit: 'Hours' },
      { tokens: 5, unit: 'Minutes' },
    ],
  })
  chargeTokens(policy.send().exchange, 5)
  expect(policy.codes(2)).toEqual([OVER, OVER])
  nowMs += 60_000
  expect(policy.codes(1)).toEqual([OK])
})

test('charging a request without token limits does nothing', () => {
  expect(() => chargeTokens(exchangeWith(), 5)).not.toThrow()
})

test('an unchanged entry keeps its level at any position; a changed one starts full', () => {
  const context = contextWith()
  policyOf({ local: [{ requests: 1, unit: 'Hours' }] }, context).send()
  const moved = policyOf(
    {
      local: [
        { requests: 9, unit: 'Hours' },
        { requests: 1, unit: 'Hours', burst: 0 },
      ],
    },
    context,
  )
  expect(moved.codes(1)).toEqual([OVER])
  expect(policyOf({ local: [{ requests: 1, unit: 'Hours', burst: 1 }] }, context).codes(1)).toEqual([OK])
})

test('policies, targets and equal entries have separate buckets', () => {
  const context = contextWith()
  const spec = { local: [{ requests: 1, unit: 'Hours' }] }
  const other = { origin: { kind: 'ProxyPolicy', namespace: 'default', name: 'other' } }
  policyOf(spec, context).send()
  expect(policyOf(spec, context, { target: 'Gateway/default/other' }).codes(1)).toEqual([OK])
  expect(policyOf(spec, context, other).codes(1)).toEqual([OK])
  policyOf({ local: [...spec.local, ...spec.local] }, context)
  expect(new Set(context.bucketKeys.slice(-2)).size).toBe(2)
})

const conditional = {
  conditional: [
    { condition: 'request.headers["tier"] == "gold"', policy: { local: [{ requests: 2, unit: 'Hours' }] } },
    { condition: 'request.headers["tier"] == "free"', policy: { local: [{ requests: 1, unit: 'Hours' }] } },
  ],
}
const tier = (name: string): ExchangeInputs => ({ headers: { tier: name } })

verifies(
  'traffic.conditional/first-true-runs',
  'the first item whose condition is true applies, with its own buckets',
  () => {
    const policy = policyOf(conditional)
    expect([policy.send(tier('gold')).code, policy.send(tier('gold')).code, policy.send(tier('gold')).code]).toEqual([
      OK,
      OK,
      OVER,
    ])
    expect([policy.send(tier('free')).code, policy.send(tier('free')).code]).toEqual([OK, OVER])
  },
)

test('if no condition is true, or a condition fails, there is no limit', () => {
  expect(policyOf(conditional).codes(3)).toEqual([OK, OK, OK])
})

verifies('traffic.conditional/fallback-runs', 'the item without a condition applies if no condition is true', () => {
  const fallback = { policy: { local: [{ requests: 1, unit: 'Hours' }] } }
  const policy = policyOf({ conditional: [conditional.conditional[0], fallback] })
  expect(policy.codes(2)).toEqual([OK, OVER])
  expect(policy.send(tier('gold')).code).toBe(OK)
})

const hints: [conditions: (string | undefined)[], reports: string[]][] = [
  [['request.headers["x"] == "1"', 'jwt.sub == "a"'], ['no-fallback spec.traffic.field.conditional']],
  [['request.headers["x"] == "1"', undefined], []],
  [['request.headers["x"] == "1"', 'request.method == "POST"'], []],
  [['default(request.headers["x"], "") == "1"', 'jwt.sub == "a"'], []],
]
for (const [conditions, reports] of hints) {
  test(`requests that bypass ${conditions.join(', ')}`, () => {
    const policy = { local: [{ requests: 1, unit: 'Hours' }] }
    const items = conditions.map((condition) => ({ condition, policy }))
    expect(policyOf({ conditional: items }).context.reports).toEqual(reports)
  })
}

const GLOBAL = {
  backendRef: { name: 'limits', port: 80 },
  domain: 'd',
  descriptors: [{ entries: [{ name: 'n', expression: '"v"' }] }],
}

test('a global limit, whose service is never called, refuses in both failure modes', () => {
  for (const failureMode of [undefined, 'FailClosed', 'FailOpen']) {
    const policy = policyOf({ global: { ...GLOBAL, failureMode } })
    expect(policy.codes(1)).toEqual(['rate-limit-failed'])
    expect(policy.context.reports).toEqual(['not-implemented spec.traffic.field.global'])
  }
})

test('beside a global limit, local limits are checked first', () => {
  const policy = policyOf({ local: [{ requests: 1, unit: 'Hours' }], global: { ...GLOBAL, failureMode: 'FailOpen' } })
  expect(policy.codes(2)).toEqual(['rate-limit-failed', OVER])
})
