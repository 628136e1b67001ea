import { afterEach, beforeEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { TracedLimit } from '#exchange/trace.ts'
import { verifies } from '#test/support/verifies.ts'
import { codeOf, contextWith, type ExchangeInputs, exchangeWith, sourceOf, specFrom } from '../../shared/testing.ts'
import { chargeTokens, rateLimit } from './index.ts'
import { trafficRateLimit } from './schema.ts'

const realNow = clock.monotonic
let nowMs = 0

beforeEach(() => {
  nowMs = Date.UTC(2030, 0, 1)
  clock.monotonic = () => nowMs
})
afterEach(() => {
  clock.monotonic = realNow
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

test.each([
  [0, '60', '60'],
  [200, '59', '60'],
  [58_999, '1', '2'],
  [59_600, '0', '1'],
])(
  '%d ms after the start x-ratelimit-reset is rounded down, and Retry-After is rounded up',
  (afterMs, reset, retry) => {
    const policy = policyOf({ local: [{ requests: 1, unit: 'Minutes' }] })
    policy.send()
    nowMs += afterMs
    const { exchange, outcome } = policy.send()
    expect(queued(exchange)['x-ratelimit-reset']).toBe(reset)
    expect(outcome).toMatchObject({ code: OVER, headers: [['retry-after', retry]] })
  },
)

test('a refusal names the policy and the entry, not the value of the key', () => {
  const entries = [
    { requests: 9, unit: 'Hours' },
    { requests: 1, unit: 'Hours', key: 'request.headers["caller"]' },
    { tokens: 5, unit: 'Hours' },
  ]
  const detailOf = (written: object, used: number) => {
    const policy = policyOf(written)
    const request = { headers: { caller: 'alice' } }
    chargeTokens(policy.send(request).exchange, used)
    return policy.send(request).outcome
  }
  const entry = (path: string) => ({ code: OVER, detail: `ProxyPolicy default/test, spec.traffic.field${path}` })
  expect(detailOf({ local: entries }, 0)).toMatchObject(entry('.local[1]'))
  expect(detailOf({ local: entries }, 5)).toMatchObject(entry('.local[2]'))
  expect(detailOf({ conditional: [{ policy: { local: entries } }] }, 0)).toMatchObject(
    entry('.conditional[0].policy.local[1]'),
  )
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

// Limits with a key (decision A-133).

const of = (caller: string): ExchangeInputs => ({ headers: { caller } })
const BY_CALLER = { requests: 2, unit: 'Minutes', key: 'request.headers["caller"]' }

test('with a key, each value has a limit of its own', () => {
  const policy = policyOf({ local: [BY_CALLER] })
  expect(['a', 'a', 'a', 'b', 'b', 'b'].map((caller) => policy.send(of(caller)).code)).toEqual([
    OK,
    OK,
    OVER,
    OK,
    OK,
    OVER,
  ])
  nowMs += 60_000
  expect(policy.send(of('a')).code).toBe(OK)
})

test.each([
  ['"x" + request.headers["caller"]', { caller: '1' }, { caller: '2' }],
  ['int(request.headers["caller"])', { caller: '1' }, { caller: '2' }],
  ['request.headers["caller"] == "1"', { caller: '1' }, { caller: '2' }],
  ['bytes(request.headers["caller"])', { caller: '1' }, { caller: '2' }],
  ['[request.headers["caller"], request.method]', { caller: '1' }, { caller: '2' }],
  ['{"caller": request.headers["caller"]}', { caller: '1' }, { caller: '2' }],
  ['request.headers[?"caller"]', { caller: '1' }, { caller: '2' }],
  ['request.headers[?"caller"]', { caller: '1' }, {}],
] as const)('%s tells callers apart', (key, one, other) => {
  const policy = policyOf({ local: [{ requests: 1, unit: 'Hours', key }] })
  const codes = [one, other, one, other].map((headers: Record<string, string>) => policy.send({ headers }).code)
  expect(codes).toEqual([OK, OK, OVER, OVER])
})

test.each(['request.headers["caller"]', 'request.headers[?"caller"]', 'null', 'jwt.sub', 'broken('])(
  'requests for which %s has no value share one limit, and others are not affected',
  (key) => {
    const policy = policyOf({ local: [{ requests: 2, unit: 'Hours', key }] })
    expect(policy.codes(3)).toEqual([OK, OK, OVER])
    if (key.includes('caller')) expect(policy.send(of('a')).code).toBe(OK)
  },
)

test.each(['apiKey.key', '[apiKey.key, request.method]'])(
  '%s: credentials are counted by their text, not by their redacted form',
  (key) => {
    const policy = policyOf({ local: [{ requests: 1, unit: 'Hours', key }] })
    const codes = ['k-1', 'k-2', 'k-1'].map((key) => {
      const exchange = exchangeWith()
      exchange.identity.apiKey = { key, entry: key, metadata: {} }
      return codeOf(policy.run.request!(exchange))
    })
    expect(codes).toEqual([OK, OK, OVER])
  },
)

test.each(['jwt.rawToken', 'jwt.rawToken.unredacted()', '[jwt.rawToken]'])(
  '%s: all valid signatures of a token share a limit',
  (key) => {
    const policy = policyOf({ local: [{ requests: 2, unit: 'Hours', key }] })
    const codes = ['h.c.one', 'h.c.two', 'h.c.one', 'h.d.one'].map((token) => {
      const exchange = exchangeWith()
      exchange.identity.jwt = { claims: {}, token }
      return codeOf(policy.run.request!(exchange))
    })
    expect(codes).toEqual([OK, OK, OVER, OK])
  },
)

test('headers describe the limit of the caller', () => {
  const policy = policyOf({ local: [{ ...BY_CALLER, burst: 3 }] })
  policy.send(of('a'))
  expect(queued(policy.send(of('a')).exchange)).toMatchObject({
    'x-ratelimit-limit': '5',
    'x-ratelimit-remaining': '3',
  })
  expect(queued(policy.send(of('b')).exchange)).toMatchObject({ 'x-ratelimit-remaining': '4' })
})

test('a limit for all and one for each caller: a refused request takes from neither', () => {
  const policy = policyOf({ local: [BY_CALLER, { requests: 3, unit: 'Hours' }] })
  expect(['a', 'a', 'a', 'a', 'b', 'b', 'c'].map((caller) => policy.send(of(caller)).code)).toEqual([
    OK,
    OK,
    OVER,
    OVER,
    OK,
    OVER,
    OVER,
  ])
  nowMs += 3_600_000
  expect(queued(policy.send(of('c')).exchange)).toMatchObject({ 'x-ratelimit-remaining': '1' })
})

test('tokens are charged to the caller whose request used them, whatever came between', () => {
  const policy = policyOf({ local: [{ tokens: 10, unit: 'Minutes', key: 'request.headers["caller"]' }] })
  const [first, second] = [policy.send(of('a')), policy.send(of('b'))]
  expect([first.code, second.code]).toEqual([OK, OK])
  chargeTokens(first.exchange, 25)
  chargeTokens(second.exchange, 9)
  expect([policy.send(of('a')).code, policy.send(of('b')).code, policy.send(of('c')).code]).toEqual([OVER, OK, OK])
  nowMs += 60_000
  expect(policy.send(of('a')).code).toBe(OK)
})

test('an entry with a key keeps its levels; one with another key starts full', () => {
  const context = contextWith()
  policyOf({ local: [{ ...BY_CALLER, requests: 1 }] }, context).send(of('a'))
  const again = policyOf(
    {
      local: [
        { requests: 9, unit: 'Hours' },
        { ...BY_CALLER, requests: 1 },
      ],
    },
    context,
  )
  expect([again.send(of('a')).code, again.send(of('b')).code]).toEqual([OVER, OK])
  const other = policyOf({ local: [{ ...BY_CALLER, requests: 1, key: 'request.headers["caller"] + ""' }] }, context)
  expect(other.send(of('a')).code).toBe(OK)
})

test.each<[key: string, reports: string[]]>([
  ['source.address', []],
  ['jwt.sub', ['limit-key-can-fail']],
  ['default(jwt.sub, source.address)', []],
  ['default(request.headers["caller"], "")', ['limit-key-from-client']],
  ['request.headers["caller"]', ['limit-key-can-fail', 'limit-key-from-client']],
  ['source.address + ":" + string(source.port)', ['limit-key-changes']],
  ['string(request.startTime)', ['limit-key-changes']],
  ['"one"', ['no-effect']],
  ['uuid()', ['no-effect']],
  ['1 + 1', ['cel-constant', 'no-effect']],
  ['nobody.name', ['cel-undeclared']],
  ['response.code', ['cel-unavailable']],
])('findings of the key %s', (key, codes) => {
  const { context } = policyOf({
    local: [
      { requests: 5, unit: 'Hours' },
      { ...BY_CALLER, key },
    ],
  })
  expect(context.reports).toEqual(codes.map((code) => `${code} spec.traffic.field.local[1].key`))
})

test.each<[key: string, reports: string[]]>([
  ['apiKey.key', []],
  ['[apiKey.key, source.address]', []],
  ['apiKey["key"]', []],
  ['apiKey.team', ['limit-key-can-fail']],
  ['jwt.sub', ['limit-key-can-fail']],
])('after a Strict authentication with API keys, findings of the key %s', (key, codes) => {
  const context = contextWith({ guaranteed: ['apiKey', 'apiKey.key'] })
  policyOf({ local: [{ ...BY_CALLER, key }] }, context)
  expect(context.reports).toEqual(codes.map((code) => `${code} spec.traffic.field.local[0].key`))
})

test('a key that reads the body needs it', () => {
  const key = 'string(json(request.body).user)'
  expect(policyOf({ local: [{ ...BY_CALLER, key }] }).run.readsRequestBody).toBe(true)
  expect(policyOf({ local: [BY_CALLER] }).run.readsRequestBody).toBe(false)
})

test('explain gets the limits and values of a request', () => {
  const policy = policyOf({ local: [BY_CALLER, { tokens: 7, unit: 'Hours', burst: 1 }] })
  const limits: TracedLimit[] = []
  const exchange = exchangeWith(of('a'))
  exchange.trace = {
    isCalling: false,
    note: () => {},
    callout: () => {},
    step: () => {},
    credential: () => {},
    copy: () => {},
    limit: (limit) => limits.push(limit),
  }
  policy.run.request!(exchange)
  expect(limits).toEqual([
    { unit: 'requests', capacity: 2, unitMs: 60_000, key: { expression: BY_CALLER.key, value: 'a', isSecret: false } },
    { unit: 'tokens', capacity: 8, unitMs: 3_600_000, key: undefined },
  ])
})

test.each([
  ['source.address', false],
  ['jwt.sub', false],
  ['request.headers["x-team"]', false],
  ['request.headers["Authorization"]', true],
  ['request.headers.join()', true],
  ['apiKey.key', true],
  ['jwt.rawToken.unredacted()', true],
  ['string(json(request.body).user)', true],
  ['request.pathAndQuery', true],
])('explain may show the value of %s unless it can be a credential: %s', (key, isSecret) => {
  const policy = policyOf({ local: [{ ...BY_CALLER, key }] })
  const exchange = exchangeWith()
  const seen: unknown[] = []
  exchange.trace = {
    isCalling: false,
    note: () => {},
    callout: () => {},
    step: () => {},
    credential: () => {},
    copy: () => {},
    limit: (limit) => seen.push(limit.key?.isSecret),
  }
  policy.run.request!(exchange)
  expect(seen).toEqual([isSecret])
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
