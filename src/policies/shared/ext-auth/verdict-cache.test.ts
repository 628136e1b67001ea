import { expect, test, vi } from 'vitest'
import type { Exchange } from '#exchange/exchange.ts'
import { ALLOWED, DENIED, GRPC, header, policyOf, shown, specWith } from '#test/support/ext-auth-policy.ts'
import type { Reply } from '#test/support/fake-authorization-server.ts'
import { verifies } from '#test/support/verifies.ts'
import { contextWith, exchangeWith, linesOf, sourceOf } from '../testing.ts'
import { NO_EDITS, type Verdict } from './verdict.ts'
import { cacheKey, shareOf, VerdictCache, VerdictCaches } from './verdict-cache.ts'

const cached = (more: object = {}) => ({
  ...GRPC,
  cache: { key: ['request.headers["authorization"]'], ttl: '1m', ...more },
})
const ALLOWED_VERDICT: Verdict = { status: 'OK', refusal: undefined, edits: NO_EDITS, metadata: undefined, bytes: 2 }
const as = (authorization: string) => ({ headers: { authorization } })
/** Answers with a number that increases, as header `x-count`. */
function counting(): () => Reply {
  let count = 0
  return () => ({ check: { status: { code: 0 }, okResponse: { headers: [header('x-count', String(++count))] } } })
}

verifies(
  ['traffic.extAuth.cache/results', 'traffic.extAuth.cache/key', 'traffic.extAuth.cache/ttl-duration-string'],
  'decisions are used again for the same key, without a promise',
  async () => {
    vi.useFakeTimers({ now: 1_000_000, toFake: ['Date'] })
    try {
      const policy = policyOf(cached(), counting())
      const sends = async (key: string) => {
        const { exchange, sync } = await policy.send(as(key), at(Date.now()))
        return `${exchange.request.get('x-count')}${sync ? ' at once' : ''}`
      }
      expect(await sends('a')).toBe('1')
      expect(await sends('a')).toBe('1 at once')
      expect(await sends('b')).toBe('2')
      vi.setSystemTime(1_054_999)
      expect(await sends('a')).toBe('1 at once')
      vi.setSystemTime(1_060_000)
      expect(await sends('a')).toBe('3')
    } finally {
      vi.useRealTimers()
    }
  },
)

/** Fixes the clock of a request. */
function at(nowMs: number): (exchange: Exchange) => void {
  return (exchange) => {
    exchange.context = { ...exchange.context, now: () => nowMs }
  }
}

test('a decision is in force until its time is over, whether or not it was renewed', () => {
  const cache = new VerdictCache(1)
  cache.store('a', ALLOWED_VERDICT, 0, 1000)
  expect(cache.size).toBe(1)
  expect(cache.find('a', 999)).toBe(ALLOWED_VERDICT)
  expect(cache.find('a', 1000)).toBeUndefined()
  expect(cache.size).toBe(0)
})

test.each([undefined, 999, 1000, Number.NaN])('a decision that expires at %s is not kept at 1000', (expiresMs) => {
  const cache = new VerdictCache(1)
  cache.store('a', ALLOWED_VERDICT, 0, 5000)
  cache.store('a', ALLOWED_VERDICT, 1000, expiresMs)
  expect(cache.size, 'nor is the one before').toBe(0)
})

test('a decision that is stored again is the last one to be dropped', () => {
  const cache = new VerdictCache(2)
  for (const key of ['a', 'b', 'a', 'c']) cache.store(key, ALLOWED_VERDICT, 0, 1000)
  expect(['a', 'b', 'c'].filter((key) => cache.find(key, 1) !== undefined)).toEqual(['a', 'c'])
})

const MIB = 1024 * 1024

test.each([
  ['keys', 'k'.repeat(300_000), 2],
  ['answers', '', 300_000],
])('the memory of a cache is bounded, whatever the size of its %s', (_, text, bytes) => {
  const cache = new VerdictCache(1000)
  for (let i = 0; i < 100; i++) cache.store(`${i}${text}`, { ...ALLOWED_VERDICT, bytes }, 0, 1000)
  // 1 MiB, and 4 KiB for each entry.
  expect(cache.size).toBe(Math.floor((MIB + 1000 * 4096) / 300_004))
  expect(cache.find(`99${text}`, 1)).toBeDefined()
  for (let i = 0; i < 1000; i++) cache.store(`small ${i}`, ALLOWED_VERDICT, 0, 1000)
  expect(cache.size, 'what was dropped does not count').toBe(1000)
})

test('entries that expire, are found or are replaced count once', () => {
  const cache = new VerdictCache(2)
  const large = { ...ALLOWED_VERDICT, bytes: MIB / 2 }
  for (let i = 0; i < 10; i++) {
    cache.store('a', large, i, i + 2)
    cache.store('b', large, i, i + 1)
    expect(cache.find('a', i)).toBe(large)
    expect(cache.find('b', i + 1)).toBeUndefined()
  }
  cache.store('b', large, 10, 11)
  expect(cache.size).toBe(2)
  // With its key of one byte.
  const most = MIB + 2 * 4096 - 1
  cache.store('c', { ...large, bytes: most }, 10, 11)
  expect(cache.size, 'as much as the cache may hold').toBe(1)
  cache.store('c', { ...large, bytes: most + 1 }, 10, 11)
  expect(cache.size).toBe(0)
})

test('denials are cached with everything that they say; failures are not', async () => {
  const replies: Reply[] = [
    { failure: 'timeout' },
    { check: { status: { code: 7 }, deniedResponse: { status: { code: 401 }, body: 'no' } } },
  ]
  const policy = policyOf(cached(), () => replies[Math.min(policy.requests.length, 2) - 1]!)
  expect(shown(await policy.send(as('a')))).toEqual(DENIED)
  const first = await policy.send(as('a'))
  const second = await policy.send(as('a'))
  expect([shown(first), shown(second)]).toEqual([
    { status: 401, body: 'no' },
    { status: 401, body: 'no' },
  ])
  expect(policy.requests).toHaveLength(2)
  expect(second.exchange.callouts).toMatchObject([{ verdict: 'denied', cached: true }])
})

test('a cached decision has all effects again', async () => {
  const okResponse = { responseHeadersToAdd: [header('x-checked', 'yes')], headersToRemove: ['x-old'] }
  const dynamicMetadata = { fields: { user: { stringValue: 'alice' } } }
  const policy = policyOf(cached(), { check: { status: { code: 0 }, okResponse, dynamicMetadata } })
  await policy.send(as('a'))
  const { exchange } = await policy.send({ headers: { authorization: 'a', 'x-old': '1' } })
  expect(policy.requests).toHaveLength(1)
  expect(exchange.queuedHeaders).toEqual([['x-checked', 'yes']])
  expect(exchange.extauthz).toMatchObject({ user: 'alice' })
  expect(linesOf(exchange.request)).toEqual(['authorization: a'])
})

verifies(
  ['traffic.extAuth.cache/key-failure-sent', 'traffic.extAuth.cache/key-failure-not-cached'],
  'a request without a key is asked every time',
  async () => {
    const keys = ['request.headers["absent"]', '[1]', '{"a": 1}', 'request.startTime', '1 +']
    for (const key of keys) {
      const policy = policyOf(cached({ key: ['"a"', key] }))
      for (let i = 0; i < 3; i++) expect(shown(await policy.send(as('a')))).toBe('allowed')
      expect(policy.requests, key).toHaveLength(3)
    }
  },
)

test('the parts of a key are told apart by type and place', async () => {
  const keys: string[][] = [
    ['1', '"1"'],
    ['"1"', '1'],
    ['1u', '"1"'],
    ['1.0', '"1"'],
    ['true', '"1"'],
    ['"true"', '"1"'],
    ['b"1"', '"1"'],
    ['null', '"1"'],
    ['"null"', '"1"'],
    ['"a"', '"b"'],
    ['"ab"', '""'],
    ['""', '"ab"'],
    ['"a"'],
  ]
  const context = contextWith()
  const seen = new Set(
    keys.map((key) => {
      const parts = key.map((text) => context.expression(sourceOf({}), '', text, 'request'))
      return cacheKey({ cache: new VerdictCache(1), key: parts, ttl: 0 }, exchangeWith())
    }),
  )
  expect(seen.size).toBe(keys.length)
  expect(seen).not.toContain(undefined)
})

test('a decision about one spelling of host and path is not used for another', async () => {
  const key = ['request.method', 'request.host', 'request.path']
  const policy = policyOf(cached({ key }))
  const requests: [authority: string, target: string][] = [
    ['a.test', '/admin'],
    ['a.test', '//admin'],
    ['a.test', '/adm%69n'],
    ['A.test', '/admin'],
    ['a.test.', '/admin'],
    ['a.test:80', '/admin'],
    ['a.test:80', '//admin'],
  ]
  for (const round of [1, 2]) {
    for (const [authority, target] of requests) {
      const { sync } = await policy.send({ target }, (exchange) => {
        exchange.request.authority = authority
      })
      expect([authority, target, sync]).toEqual([authority, target, round === 2])
    }
  }
  await policy.send({ target: '//admin?q' }, (exchange) => {
    exchange.request.authority = 'a.test'
  })
  expect(policy.requests, 'the query has one spelling').toHaveLength(requests.length)
})

const NOW = 1_763_800_000_000
const TTLS: [ttl: string, keptMs: number][] = [
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['duration("90s")', 90_000],
  ['duration(extauthz.ttl)', 120_000],
  ['timestamp("2025-11-22T08:26:50Z")', 10_000],
  ['timestamp(extauthz.until)', 20_000],
  ['1763800030', 30_000],
  ['1763800030.5', 30_500],
  ['duration("0s")', 0],
  ['duration("-5s")', 0],
  ['timestamp("2020-01-01T00:00:00Z")', 0],
  ['1763799999', 0],
  ['"90s"', 0],
  ['true', 0],
  ['extauthz.absent', 0],
  ['1 +', 0],
]
verifies(
  [
    'traffic.extAuth.cache/ttl-expression-duration',
    'traffic.extAuth.cache/ttl-expression-timestamp',
    'traffic.extAuth.cache/ttl-after-response',
  ],
  'how long a decision is kept',
  async () => {
    const fields = { ttl: { stringValue: '120s' }, until: { stringValue: '2025-11-22T08:27:00Z' } }
    for (const [ttl, keptMs] of TTLS) {
      const policy = policyOf(cached({ ttl }), { check: { status: { code: 0 }, dynamicMetadata: { fields } } })
      const asks = async (nowMs: number) => {
        const before = policy.requests.length
        await policy.send(as('a'), at(nowMs))
        return policy.requests.length > before
      }
      expect(await asks(NOW), ttl).toBe(true)
      // Before the decision is renewed, and when it has expired.
      if (keptMs > 0) expect(await asks(NOW + 0.89 * keptMs), ttl).toBe(false)
      expect(await asks(NOW + keptMs), ttl).toBe(true)
    }
  },
)

verifies(
  ['traffic.extAuth.cache/maxEntries', 'traffic.extAuth.cache/maxEntries-default'],
  'the least recently used decision is dropped',
  async () => {
    const policy = policyOf(cached({ maxEntries: 2 }))
    const asked = async (key: string) => {
      const before = policy.requests.length
      await policy.send(as(key))
      return policy.requests.length > before
    }
    for (const key of ['a', 'b']) expect(await asked(key)).toBe(true)
    expect(await asked('a')).toBe(false)
    expect(await asked('c')).toBe(true)
    expect(await asked('a')).toBe(false)
    expect(await asked('b')).toBe(true)
    expect(specWith(cached())).toMatchObject({ cache: { maxEntries: 10_000 } })
    const large = policyOf(cached())
    for (let i = 0; i <= 10_000; i++) await large.send(as(`${i}`))
    const before = large.requests.length
    await large.send(as('1'))
    expect(large.requests.length - before, 'the 10,000 last ones are there').toBe(0)
    await large.send(as('0'))
    expect(large.requests.length - before).toBe(1)
  },
)

test('near its expiry one request renews a decision; the others use it, and all if the server fails', async () => {
  let reply: Reply | Promise<Reply> = ALLOWED
  const policy = policyOf(cached({ ttl: '10s' }), () => reply)
  await policy.send(as('a'), at(NOW))
  let answer: (reply: Reply) => void = () => {}
  reply = new Promise((resolve) => {
    answer = resolve
  })
  const renewing = policy.send(as('a'), at(NOW + 9000))
  expect((await policy.send(as('a'), at(NOW + 9001))).sync).toBe(true)
  answer({ failure: 'timeout' })
  const failed = await renewing
  expect(shown(failed)).toBe('allowed')
  expect(failed.exchange.callouts).toMatchObject([{ verdict: 'allowed', cached: true, detail: 'not renewed: timeout' }])
  reply = { check: { status: { code: 7 } } }
  expect(shown(await policy.send(as('a'), at(NOW + 9002))), 'another one tries').toEqual(DENIED)
  expect(shown(await policy.send(as('a'), at(NOW + 9003)))).toEqual(DENIED)
  expect(policy.requests).toHaveLength(3)
})

test('requests with the same key that come at once wait for one answer', async () => {
  const policy = policyOf(cached(), counting())
  const all = await Promise.all(['a', 'a', 'a', 'b'].map((key) => policy.send(as(key))))
  expect(all.map(({ exchange }) => exchange.request.get('x-count'))).toEqual(['1', '1', '1', '2'])
  expect(policy.requests).toHaveLength(2)
})

test('rules that share a policy share its cache; other settings have another one', () => {
  const caches = new VerdictCaches({ place: 0, threads: 1 })
  const one = caches.at('ProxyPolicy default/a {}', 10)
  expect(caches.at('ProxyPolicy default/a {}', 10)).toBe(one)
  expect(caches.at('ProxyPolicy default/a {"x":1}', 10)).not.toBe(one)
  expect(caches.at('ProxyPolicy default/a {}', 10), 'after another one was made').toBe(one)
})

test.each<[total: number, threads: number, shares: number[]]>([
  [10_000, 1, [10_000]],
  [10_000, 4, [2500, 2500, 2500, 2500]],
  [10, 4, [3, 3, 2, 2]],
  [2, 4, [1, 1, 0, 0]],
])('%i entries of %i workers', (total, threads, shares) => {
  expect(shares.map((_, place) => shareOf(total, { place, threads }))).toEqual(shares)
  const kept = shares.map((_, place) => {
    const cache = new VerdictCaches({ place, threads }).at('policy', total)
    for (let i = 0; i <= total; i++) cache.store(`${i}`, ALLOWED_VERDICT, 0, 1000)
    return cache.size
  })
  expect(kept).toEqual(shares)
})
