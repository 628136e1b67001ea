import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EndpointHealth } from '#state/endpoint-health.ts'
import { createSlotMemory } from '#state/slots.ts'
import { verifies } from '#test/support/verifies.ts'
import { draws } from '../testing.ts'
import { type Balanced, chooseEndpoint } from './balance.ts'

interface Endpoint extends Balanced {
  readonly name: string
}

/** An endpoint: `a` is available with score 1, `!a` is evicted, `a=0.4` has that score, `a=1*0.2` takes a fifth of its draws. */
function endpoint(text: string): Endpoint {
  const [word, numbers = '1'] = text.split('=') as [string, string?]
  const [score, share = '1'] = numbers.split('*') as [string, string?]
  const evicted = word.startsWith('!')
  const health = { evicted, score: Number(score), share: Number(share) } as EndpointHealth
  return { name: evicted ? word.slice(1) : word, health }
}

function groupsOf(...groups: readonly string[]): Endpoint[][] {
  return groups.map((group) => (group === '' ? [] : group.split(' ').map(endpoint)))
}

function chosen(groups: readonly (readonly Endpoint[])[], tried: string, random: () => number = Math.random) {
  const all = groups.flat()
  const triedNow = tried === '' ? [] : tried.split(' ').map((name) => all.find((each) => each.name === name)!)
  return chooseEndpoint(groups, triedNow, random)?.name
}

test.each([
  // groups, tried, chosen
  [['a'], '', 'a'],
  [['a', 'b'], '', 'a'],
  [['', 'b'], '', 'b'],
  [['!a', 'b'], '', 'b'],
  [['!a !b', '!c', 'd'], '', 'd'],
  [['a', 'b'], 'a', 'b'],
  [['a b', 'c'], 'a', 'b'],
  [['a !b', 'c'], 'a', 'c'],
  [['a', 'b'], 'a b', 'a'],
  [['!a', 'b'], 'b', 'b'],
  [['a'], 'a', 'a'],
  [[], '', undefined],
  [['', ''], '', undefined],
] as const)('of %j, after trying %j, %s is chosen', (groups, tried, expected) => {
  expect(chosen(groupsOf(...groups), tried)).toBe(expected)
})

verifies('health/all-evicted', 'while every endpoint is evicted the first group with endpoints still serves', () => {
  expect(chosen(groupsOf('!a', '!b'), '')).toBe('a')
  expect(chosen(groupsOf('', '!b', '!c'), '')).toBe('b')
  expect(chosen(groupsOf('!a'), 'a')).toBe('a')
  expect(chosen(groupsOf('!a !b'), 'a')).toBe('b')
  expect(chosen(groupsOf('!a', '!b'), 'a')).toBe('b')
  expect(chosen(groupsOf('!a', '!b'), 'a b')).toBe('a')
  expect(chosen(groupsOf('!a !b'), '', draws(0.9, 0.9))).toBe('b')
})

verifies('health/evicted-gets-no-traffic', 'an evicted endpoint is never drawn while another one serves', () => {
  const groups = groupsOf('a !b c')
  const names = [0, 0.25, 0.5, 0.75, 0.99].flatMap((one) =>
    [0, 0.5, 0.99].map((other) => chosen(groups, '', draws(one, other))),
  )
  expect(new Set(names)).toEqual(new Set(['a', 'c']))
})

verifies(
  'backend.ai.groups/priority-order',
  'a later group is used only if every endpoint of the earlier ones is evicted',
  () => {
    expect(chosen(groupsOf('a=0.01', 'b=1'), '')).toBe('a')
    expect(chosen(groupsOf('!a', 'b'), '')).toBe('b')
  },
)

verifies('backend.ai.groups/equal-priority', 'equally healthy endpoints of a group are chosen equally often', () => {
  const groups = groupsOf('a b c', 'later')
  const counts: Record<string, number> = { a: 0, b: 0, c: 0, later: 0 }
  for (let i = 0; i < 30; i++) for (let j = 0; j < 30; j++) counts[chosen(groups, '', draws(i / 30, j / 30))!]!++
  expect(counts).toEqual({ a: 300, b: 300, c: 300, later: 0 })
})

test.each([
  // draws, chosen: the endpoint with the higher score, the first one on a tie
  [0, 0.99, 'c'],
  [0.99, 0, 'c'],
  [0, 0, 'a'],
  [0.4, 0.1, 'b'],
  [0.1, 0.4, 'b'],
])('draws %d and %d of three choose %s', (one, other, expected) => {
  expect(chosen(groupsOf('a=0.2 b=0.5 c=0.9'), '', draws(one, other))).toBe(expected)
})

test('equal scores: the first draw wins', () => {
  expect(chosen(groupsOf('a b'), '', draws(0.6, 0.1))).toBe('b')
})

test('an endpoint that has just returned takes its share of the draws; the others are drawn again, once', () => {
  const groups = groupsOf('a=1*0.2 b=0.1')
  expect(chosen(groups, '', draws(0, 0.19, 0.9))).toBe('a')
  expect(chosen(groups, '', draws(0, 0.2, 0.9, 0.9))).toBe('b')
  expect(chosen(groups, '', draws(0, 0.2, 0, 0.9))).toBe('a')
})

test('the share of an endpoint that returns grows with its draws', () => {
  const counts = [0.1, 0.5, 1].map((share) => {
    const groups = groupsOf(`a=1*${share} b c`)
    let taken = 0
    const steps = 10
    const middle = (i: number) => (i + 0.5) / steps
    // Every combination of the first draw, whether its share applies, and what is drawn instead; the second draw is always b.
    for (let one = 0; one < 3; one++)
      for (let applies = 0; applies < steps; applies++)
        for (let again = 0; again < 3; again++) {
          const rest = one === 0 && share < 1 ? [middle(applies), ...(middle(applies) < share ? [] : [again / 3])] : []
          if (chosen(groups, '', draws(one / 3, ...rest, 0.4)) === 'a') taken++
        }
    return taken
  })
  expect(counts).toEqual([12, 20, 30])
})

test('a group with one endpoint needs no random number', () => {
  expect(chosen(groupsOf('a'), '', draws())).toBe('a')
})

verifies(
  'backend.ai.groups/health-weighting',
  'two draws with replacement: shares depend on health, and even the lowest score is chosen sometimes',
  () => {
    const groups = groupsOf('good=1 fair=0.5 poor=0.1')
    const counts: Record<string, number> = { good: 0, fair: 0, poor: 0 }
    const steps = 30
    for (let i = 0; i < steps; i++) {
      for (let j = 0; j < steps; j++) counts[chosen(groups, '', draws(i / steps, j / steps))!]!++
    }
    // Of nine pairs of draws, five include the best endpoint, three of the others the second, and one only the third.
    expect(counts).toEqual({ good: 500, fair: 300, poor: 100 })
  },
)

test('for any draw, an endpoint is chosen if there is one, preferably one that is neither tried nor evicted', () => {
  const anyName = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
  const anyGroups = fc.uniqueArray(anyName).chain((names) =>
    fc
      .tuple(
        fc.array(fc.boolean(), { minLength: names.length, maxLength: names.length }),
        fc.array(fc.nat(2), { minLength: names.length, maxLength: names.length }),
        fc.subarray(names),
      )
      .map(([evicted, group, tried]) => {
        const groups: Endpoint[][] = [[], [], []]
        for (const [i, name] of names.entries()) groups[group[i]!]!.push(endpoint(`${evicted[i] ? '!' : ''}${name}`))
        return { groups, tried }
      }),
  )
  fc.assert(
    fc.property(anyGroups, ({ groups, tried }) => {
      const all = groups.flat()
      const name = chosen(groups, tried.join(' '))
      expect(name === undefined).toBe(all.length === 0)
      const best = all.filter((each) => !each.health.evicted && !tried.some((name) => name === each.name))
      if (best.length > 0) expect(best.map((each) => each.name)).toContain(name)
      const serving = all.filter((each) => !each.health.evicted)
      if (serving.length > 0) expect(serving.map((each) => each.name)).toContain(name)
    }),
  )
})

test('an endpoint that never responds does not attract the requests', () => {
  const memory = createSlotMemory(2, false)
  const [silent, other] = [0, 1].map((slot) => ({ health: new EndpointHealth(memory, slot, undefined) }))
  other!.health.recordHealthy(10)
  let waiting = 0
  // All pairs of draws, equally often.
  for (let i = 0; i < 400; i++) {
    const chosen = chooseEndpoint([[silent!, other!]], [], draws((i & 1) / 2, ((i >> 1) & 1) / 2))
    if (chosen !== silent) continue
    waiting++
    silent!.health.begin()
  }
  // A quarter of the pairs draws it twice.
  expect(waiting).toBeLessThan(100 + 20)
})

test('of fifty endpoints, a slow one gets less than a quarter of its share, and a failing one nothing but probes', () => {
  const memory = createSlotMemory(50, false)
  const eviction = { durationMs: 3000, restoreHealth: undefined, consecutiveFailures: 3, healthThreshold: undefined }
  const endpoints = Array.from({ length: 50 }, (_, slot) => ({ health: new EndpointHealth(memory, slot, eviction) }))
  const [slow, failing] = endpoints
  let seed = 1
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const counts = new Map<Balanced, number>()
  const requests = 20_000
  for (let i = 0; i < requests; i++) {
    const chosen = chooseEndpoint([endpoints], [], random)!
    counts.set(chosen, (counts.get(chosen) ?? 0) + 1)
    if (chosen === failing) chosen.health.recordUnhealthy(503)
    else {
      chosen.health.recordHealthy(chosen === slow ? 100 : 10)
    }
  }
  const share = requests / endpoints.length
  expect(counts.get(slow!)).toBeLessThan(share / 4)
  expect(counts.get(failing!)).toBeLessThan(10)
  const others = endpoints.slice(2).map((endpoint) => counts.get(endpoint)!)
  expect(Math.min(...others)).toBeGreaterThan(share / 2)
  expect(Math.max(...others)).toBeLessThan(share * 2)
})
