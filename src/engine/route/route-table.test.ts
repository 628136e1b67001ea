import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foldName } from '#net/http/same-name.ts'
import type { RouteItem, RouteMatch, ValueMatch } from '#plan/item.ts'
import { type ExchangeInputs, exchangeWith } from '#policies/shared/testing.ts'
import { matchOf, routeItem } from '../testing.ts'
import type { RoutedPath } from './request-path.ts'
import { RouteTable } from './route-table.ts'

interface Rule {
  readonly name: string
  readonly item: RouteItem
  readonly hostnames: readonly string[]
}

const NAMES = new WeakMap<RouteItem, string>()

/** A rule with one match; its built form is its name. */
function rule(name: string, match: RouteMatch, more: Partial<RouteItem> = {}, hostnames: readonly string[] = []): Rule {
  const item = routeItem(name, { matches: [match], ...more })
  NAMES.set(item, name)
  return { name, item, hostnames }
}

function tableOf(rules: readonly Rule[]): RouteTable<string> {
  return RouteTable.of(rules.map(attached), (item) => NAMES.get(item)!)
}

function attached({ item, hostnames }: Rule) {
  return { route: item, hostnames }
}

function taker(rules: readonly Rule[], target: string, inputs: ExchangeInputs = {}, host = 'example.com') {
  return tableOf(rules).find(host, exchangeWith({ ...inputs, target }).request, routedPath(target))?.rule
}

function nearMisses(table: RouteTable<string>, host: string, target: string, inputs: ExchangeInputs = {}) {
  const { request } = exchangeWith({ ...inputs, target })
  const path = routedPath(target)
  return table.nearMisses(host, request, path, table.find(host, request, path))
}

function routedPath(target: string): RoutedPath {
  const [path = '', query] = target.split('?')
  return { matched: path, query: query === undefined ? '' : `?${query}` }
}

const exactly = (name: string, value: string): ValueMatch => ({ name, type: 'Exact', value })
const like = (name: string, value: string): ValueMatch => ({ name, type: 'RegularExpression', value })

/** Highest precedence first. The order of insertion must not matter. */
const PRECEDENCE: readonly Rule[] = [
  rule('exact host, weakest match', matchOf('pattern /.*'), {}, ['a.example.com']),
  rule('longer wildcard', matchOf('pattern /.*'), {}, ['*.example.com']),
  rule('shorter wildcard', matchOf('pattern /.*'), {}, ['*.com']),
  rule('exact path', matchOf('exact /api/users')),
  rule('long prefix', matchOf('prefix /api/users')),
  rule('prefix, method, headers', matchOf('GET prefix /api', { headers: [exactly('a', '1'), exactly('b', '2')] })),
  rule('prefix, method', matchOf('GET prefix /api')),
  rule('prefix, two headers', matchOf('prefix /api', { headers: [exactly('a', '1'), exactly('b', '2')] })),
  rule('prefix, header, two parameters', {
    ...matchOf('prefix /api'),
    headers: [exactly('a', '1')],
    queryParams: [exactly('p', '1'), exactly('q', '2')],
  }),
  rule('prefix, header', matchOf('prefix /api', { headers: [exactly('a', '1')] })),
  rule('prefix, two parameters', matchOf('prefix /api', { queryParams: [exactly('p', '1'), exactly('q', '2')] })),
  rule('prefix, parameter', matchOf('prefix /api', { queryParams: [exactly('p', '1')] })),
  rule('file, by name', matchOf('prefix /api'), { created: '' }),
  rule('older', matchOf('prefix /api'), { created: '2026-01-01T00:00:00Z' }),
  rule('newer, namespace a', matchOf('prefix /api'), {
    created: '2026-01-02T00:00:00Z',
    route: { kind: 'HTTPRoute', namespace: 'a', name: 'z' },
  }),
  rule('newer, namespace b, name a', matchOf('prefix /api'), {
    created: '2026-01-02T00:00:00Z',
    route: { kind: 'HTTPRoute', namespace: 'b', name: 'a' },
    rule: 2,
  }),
  rule('the same route, a later rule', matchOf('prefix /api'), {
    created: '2026-01-02T00:00:00Z',
    route: { kind: 'HTTPRoute', namespace: 'b', name: 'a' },
    rule: 10,
  }),
  rule('newer, namespace b, name b', matchOf('prefix /api'), {
    created: '2026-01-02T00:00:00Z',
    route: { kind: 'HTTPRoute', namespace: 'b', name: 'b' },
    rule: 1,
  }),
  rule('root prefix', matchOf('prefix /')),
  rule('long pattern', matchOf('pattern /api/[a-z]+/*')),
  rule('short pattern', matchOf('pattern /.*')),
]

test.each(PRECEDENCE.slice(0, -1).map((each, i) => [each.name, PRECEDENCE[i + 1]!.name, i] as const))(
  '%s has precedence over %s',
  (_, __, i) => {
    const pair = PRECEDENCE.slice(i, i + 2)
    const inputs: ExchangeInputs = { headers: { a: '1', b: '2' } }
    const target = '/api/users?p=1&q=2'
    expect(taker(pair, target, inputs, 'a.example.com')).toBe(pair[0]!.name)
    expect(taker(pair.toReversed(), target, inputs, 'a.example.com')).toBe(pair[0]!.name)
  },
)

test('of all rules together the first one matches, and without it the next', () => {
  for (const [i, { name }] of PRECEDENCE.entries()) {
    const rest = PRECEDENCE.slice(i).toReversed()
    expect(taker(rest, '/api/users?p=1&q=2', { headers: { a: '1', b: '2' } }, 'a.example.com')).toBe(name)
  }
})

test('a less specific host tier is searched if no rule of the more specific one matches', () => {
  const rules = [
    rule('narrow', matchOf('exact /only'), {}, ['a.example.com']),
    rule('wide', matchOf('prefix /'), {}, ['*.example.com']),
    rule('any', matchOf('prefix /')),
  ]
  expect(taker(rules, '/only', {}, 'a.example.com')).toBe('narrow')
  expect(taker(rules, '/else', {}, 'a.example.com')).toBe('wide')
  expect(taker(rules, '/else', {}, 'example.org')).toBe('any')
  expect(taker(rules.slice(0, 2), '/else', {}, 'example.org')).toBeUndefined()
})

test('a rule with several hostnames and matches is found by each of them', () => {
  const item = routeItem('both', { matches: [matchOf('exact /a'), matchOf('GET prefix /b')] })
  const table = tableOf([{ name: 'both', item, hostnames: ['x.test', '*.y.test'] }])
  const found = (host: string, target: string) =>
    table.find(host, exchangeWith({ target }).request, routedPath(target))?.match
  expect(found('x.test', '/a')).toBe(item.matches[0])
  expect(found('deep.z.y.test', '/b/c')).toBe(item.matches[1])
  expect(found('y.test', '/a')).toBeUndefined()
  expect(found('x.test', '/c')).toBeUndefined()
})

test.each<[match: RouteMatch, target: string, inputs: ExchangeInputs, matchesRequest: boolean]>([
  [matchOf('exact /a'), '/a', {}, true],
  [matchOf('exact /a'), '/a?x=1', {}, true],
  [matchOf('exact /a'), '/a/', {}, false],
  [matchOf('exact /a'), '/A', {}, false],
  [matchOf('prefix /api/'), '/api', {}, true],
  [matchOf('prefix /api'), '/apiary', {}, false],
  [matchOf('prefix /api'), '/api%2Fx', {}, false],
  [matchOf('pattern /a/[0-9]+'), '/a/17', {}, true],
  [matchOf('pattern /a/[0-9]+'), '/a/17/b', {}, false],
  [matchOf('pattern a'), '/a', {}, false],
  [matchOf('pattern ('), '/(', {}, false],
  [matchOf('pattern /a|/b'), '/b', {}, true],
  [matchOf('pattern /a|/b'), '/b/c', {}, false],
  [matchOf('GET prefix /'), '/', { method: 'GET' }, true],
  [matchOf('GET prefix /'), '/', { method: 'HEAD' }, false],
  [matchOf('get prefix /'), '/', { method: 'GET' }, false],
  [matchOf('prefix /', { headers: [exactly('X-Kind', 'a')] }), '/', { headers: { 'x-kind': 'a' } }, true],
  [matchOf('prefix /', { headers: [exactly('x-kind', 'a')] }), '/', { headers: { 'X-Kind': 'A' } }, false],
  [matchOf('prefix /', { headers: [exactly('x-kind', 'a')] }), '/', {}, false],
  [matchOf('prefix /', { headers: [exactly('x-kind', 'a')] }), '/', { headers: { 'x-kind': ['a', 'b'] } }, true],
  [matchOf('prefix /', { headers: [exactly('x-kind', 'a')] }), '/', { headers: { 'x-kind': ['b', 'a'] } }, true],
  [matchOf('prefix /', { headers: [exactly('x-kind', 'a')] }), '/', { headers: { 'x-kind': 'a, b' } }, false],
  [matchOf('prefix /', { headers: [like('x-kind', 'a+')] }), '/', { headers: { 'x-kind': 'aaa' } }, true],
  [matchOf('prefix /', { headers: [like('x-kind', 'a+')] }), '/', { headers: { 'x-kind': 'aab' } }, false],
  [matchOf('prefix /', { headers: [like('x-kind', '[')] }), '/', { headers: { 'x-kind': '[' } }, false],
  [matchOf('prefix /', { headers: [exactly(':method', 'PUT')] }), '/', { method: 'PUT' }, true],
  [matchOf('prefix /', { headers: [like(':path', '/a\\?.*')] }), '/a?b', {}, true],
  [matchOf('prefix /', { headers: [exactly(':authority', 'example.com')] }), '/', {}, true],
  [matchOf('prefix /', { headers: [exactly(':authority', 'a.test')] }), '/', { headers: { host: 'A.test.:80' } }, true],
  [matchOf('prefix /', { headers: [exactly('Host', 'A.test:80')] }), '/', { headers: { host: 'a.test' } }, true],
  [matchOf('prefix /', { headers: [like('host', 'a[.]test')] }), '/', { headers: { host: 'a.TEST' } }, true],
  [matchOf('prefix /', { headers: [exactly('host', 'a.test')] }), '/', { headers: { host: 'a.test:81' } }, false],
  [matchOf('prefix /', { queryParams: [exactly('p', 'a b')] }), '/?p=a+b', {}, true],
  [matchOf('prefix /', { queryParams: [exactly('p', 'a b')] }), '/?p=a%20b', {}, true],
  [matchOf('prefix /', { queryParams: [exactly('p', '1')] }), '/?p=1&p=2', {}, true],
  [matchOf('prefix /', { queryParams: [exactly('p', '2')] }), '/?p=1&p=2', {}, false],
  [matchOf('prefix /', { queryParams: [exactly('p', '')] }), '/?p', {}, true],
  [matchOf('prefix /', { queryParams: [exactly('p', '')] }), '/', {}, false],
  [matchOf('prefix /', { queryParams: [exactly('P', '1')] }), '/?p=1', {}, false],
  [matchOf('prefix /', { queryParams: [like('p', '[0-9]{2}')] }), '/?p=12', {}, true],
  [matchOf('prefix /', { queryParams: [like('p', '[0-9]{2}')] }), '/?p=123', {}, false],
])('%j takes %s %j: %s', (match, target, inputs, matchesRequest) => {
  expect(taker([rule('it', match)], target, inputs)).toBe(matchesRequest ? 'it' : undefined)
})

test('near misses name the first condition that is not met', () => {
  const wanted = {
    ...matchOf('PUT prefix /a'),
    headers: [exactly('x', '1')],
    queryParams: [exactly('p', '1')],
  }
  const table = tableOf([rule('only', wanted)])
  const why = (target: string, inputs: ExchangeInputs) => nearMisses(table, 'h', target, inputs)
  expect(why('/b', {})).toMatchObject([{ why: 'path /b is not under prefix /a', pathMatches: false }])
  expect(why('/a', {})).toMatchObject([{ why: 'method GET is not PUT', pathMatches: true }])
  expect(why('/a', { method: 'PUT' })).toMatchObject([{ why: 'header x is absent, not 1', pathMatches: true }])
  expect(why('/a?p=2', { method: 'PUT', headers: { x: '1' } })).toMatchObject([
    { why: 'query parameter p is 2, not 1', pathMatches: true },
  ])
})

test('near misses show no value of a credential', () => {
  const table = tableOf([
    rule('header', { ...matchOf('prefix /a'), headers: [exactly('Authorization', 'Bearer k')] }),
    rule('parameter', { ...matchOf('prefix /a'), queryParams: [exactly('access_token', 'k')] }),
  ])
  const why = (target: string, inputs: ExchangeInputs = {}) =>
    nearMisses(table, 'h', target, inputs).map((miss) => miss.why)
  expect(why('/a')).toEqual(['header Authorization is absent', 'query parameter access_token is absent'])
  expect(why('/a?access_token=other', { headers: { authorization: 'Bearer other' } })).toEqual([
    'header Authorization is a different value',
    'query parameter access_token is a different value',
  ])
})

test.each([
  ['x', 'a.test', true],
  ['y', 'a.test', false],
  ['y', 'b.test', true],
  ['x', 'b.test', false],
  ['x', 'c.test', false],
])('a rule compares %s for the host %s: %s', (name, host, expected) => {
  const comparing = (header: string) => ({ ...matchOf('prefix /'), headers: [exactly(header, '1')] })
  const table = tableOf([rule('a', comparing('X'), {}, ['a.test']), rule('b', comparing('Y'), {}, ['b.test'])])
  expect(table.comparesField(foldName(name), host)).toBe(expected)
})

test('a rule that is equally specific loses to the older route, then by namespace and name, then by rule number', () => {
  const route = (name: string) => ({ kind: 'HTTPRoute', namespace: 'n', name }) as const
  const match = matchOf('prefix /a')
  const why = (first: Partial<RouteItem>, second: Partial<RouteItem>, wide: readonly string[] = []) =>
    nearMisses(
      tableOf([
        rule('first', match, first, ['h.test']),
        rule('second', match, second, wide.length > 0 ? wide : ['h.test']),
      ]),
      'h.test',
      '/a',
    ).at(-1)?.why
  const equal = 'also matches and is equally specific, but'
  expect(why({ route: route('b'), created: '2020' }, { route: route('a'), created: '2021' })).toBe(
    `${equal} HTTPRoute n/b, which is older, takes precedence`,
  )
  expect(why({ route: route('a') }, { route: route('b') })).toBe(
    `${equal} HTTPRoute n/a, which is first by namespace and name, takes precedence`,
  )
  expect(why({ route: route('a'), rule: 1 }, { route: route('a'), rule: 2 })).toBe(
    `${equal} the earlier rule 1 takes precedence`,
  )
  expect(why({ route: route('a') }, { route: route('b') }, ['*.test'])).toBe(
    'also matches; routes with a more specific hostname come first',
  )
})

test.each([
  ['exact /a/b', 'prefix /a', 'exact paths come before prefixes'],
  ['exact /a/b', 'pattern /a.*', 'exact paths come before regular expressions'],
  ['prefix /', 'pattern /a.*', 'prefixes come before regular expressions'],
  ['prefix /a/b', 'prefix /a', 'longer prefixes come first'],
  ['pattern /a/b?', 'pattern /a.*', 'longer regular expressions come first'],
  ['GET prefix /a', 'prefix /a', 'matches with a method come first'],
])('%s comes before %s: %s', (first, second, why) => {
  const table = tableOf([rule('second', matchOf(second)), rule('first', matchOf(first))])
  expect(nearMisses(table, 'h', '/a/b').map((miss) => miss.why)).toContain(`also matches; ${why}`)
})

test('of equal paths, more headers and then more query parameters come first', () => {
  const path = matchOf('prefix /a')
  const why = (first: RouteMatch) =>
    nearMisses(tableOf([rule('plain', path), rule('first', first)]), 'h', '/a?p=1', { headers: { x: '1' } })[1]!.why
  expect(why({ ...path, headers: [exactly('X', '1')] })).toBe('also matches; matches with more headers come first')
  expect(why({ ...path, queryParams: [exactly('p', '1')] })).toBe(
    'also matches; matches with more query parameters come first',
  )
})

test('a trailing slash does not make a prefix more specific', () => {
  expect(taker([rule('any method', matchOf('prefix /ab/')), rule('GET', matchOf('GET prefix /ab'))], '/ab')).toBe('GET')
})

test('every table finds the same rule as a linear search', () => {
  fc.assert(
    fc.property(
      fc.array(anyRule, { maxLength: 12 }),
      fc.array(anyRequest, { minLength: 1, maxLength: 8 }),
      (drawn, requests) => {
        const rules = drawn.map((each, i) => ({ ...each, name: `${each.name} ${i}` }))
        const table = tableOf(rules)
        for (const { name, item } of rules) NAMES.set(item, name)
        for (const { host, ...inputs } of requests) {
          const head = exchangeWith(inputs).request
          const hit = table.find(host, head, routedPath(head.target))
          const expected = findOneByOne(rules, host, inputs)
          // Matches of equal precedence within one rule are interchangeable.
          if (hit === undefined || expected === undefined) expect(hit).toBe(expected)
          else expect(rankOf(rules.find(({ name }) => name === hit.rule)!.item, hit.match)).toEqual(expected.rank)
        }
      },
    ),
  )
})

const anyPath = fc
  .array(fc.constantFrom('a', 'b', 'ab', ''), { maxLength: 3 })
  .map((segments) => `/${segments.join('/')}`)

const anyMatch: fc.Arbitrary<RouteMatch> = fc.record({
  path: fc.oneof(
    fc.record({
      type: fc.constantFrom('Exact', 'PathPrefix'),
      // Routes have no empty segments.
      value: anyPath.filter((path) => !path.includes('//')),
    }),
    fc.record({
      type: fc.constant('RegularExpression' as const),
      value: fc.constantFrom('/.*', '/a.*', '/(a|b)', '('),
    }),
  ),
  method: fc.option(fc.constantFrom('GET', 'PUT'), { nil: undefined }),
  headers: fc.subarray([exactly('x', '1'), exactly('y', '1')]),
  queryParams: fc.subarray([exactly('p', '1'), exactly('q', '1')]),
}) as fc.Arbitrary<RouteMatch>

const anyRule: fc.Arbitrary<Rule> = fc
  .record({
    name: fc.constantFrom('r', 's'),
    matches: fc.array(anyMatch, { minLength: 1, maxLength: 2 }),
    created: fc.constantFrom('', '2026'),
    rule: fc.nat(2),
    hostnames: fc.subarray(['', '*.t', '*.h.t', 'a.h.t']),
  })
  .map(({ name, hostnames, ...more }) => ({ name, item: routeItem(name, more), hostnames }))

const anyRequest = fc.record({
  host: fc.constantFrom('a.h.t', 'b.h.t', 'h.t', 'other'),
  method: fc.constantFrom('GET', 'PUT', 'POST'),
  target: fc.tuple(anyPath, fc.constantFrom('', '?p=1', '?p=1&q=1', '?p=2')).map((parts) => parts.join('')),
  headers: fc.constantFrom<Record<string, string>>({}, { x: '1' }, { x: '1', y: '1' }, { x: '2' }),
})

interface Found {
  readonly rank: readonly (string | number)[]
}

/** A linear search by the rules of docs/behaviour/http.md, "Finding a route". */
function findOneByOne(rules: readonly Rule[], host: string, request: ExchangeInputs): Found | undefined {
  for (const tier of hostTiers(host)) {
    const found = rules
      .filter(({ hostnames }) => (hostnames.length === 0 ? tier === '' : hostnames.includes(tier)))
      .flatMap(({ item }) => item.matches.map((match) => ({ item, match })))
      .filter(({ match }) => fitsNaively(match, request))
      .map(({ item, match }) => ({ rank: rankOf(item, match) }))
      .sort((a, b) => compareRanks(a.rank, b.rank))
    if (found.length > 0) return found[0]
  }
  return undefined
}

function hostTiers(host: string): string[] {
  const labels = host.split('.')
  return [host, ...labels.slice(1).map((_, i) => `*.${labels.slice(i + 1).join('.')}`), '']
}

function rankOf(item: RouteItem, match: RouteMatch): (string | number)[] {
  const { type, value } = match.path
  const length = type === 'PathPrefix' ? value.replace(/\/+$/, '').length : value.length
  return [
    ['Exact', 'PathPrefix', 'RegularExpression'].indexOf(type),
    -length,
    match.method === undefined ? 1 : 0,
    -match.headers.length,
    -match.queryParams.length,
    item.created,
    item.route.name,
    item.rule,
  ]
}

function compareRanks(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  const at = a.findIndex((value, i) => value !== b[i])
  return at < 0 ? 0 : a[at]! < b[at]! ? -1 : 1
}

function fitsNaively({ path, method, headers, queryParams }: RouteMatch, request: ExchangeInputs): boolean {
  const [requested = '', query = ''] = request.target!.split('?')
  const params = new URLSearchParams(query)
  return (
    matchesPathNaively(path, requested) &&
    (method === undefined || method === request.method) &&
    headers.every(({ name, value }) => request.headers?.[name] === value) &&
    queryParams.every(({ name, value }) => params.get(name) === value)
  )
}

function matchesPathNaively({ type, value }: RouteMatch['path'], path: string): boolean {
  if (type === 'Exact') return path === value
  if (type === 'PathPrefix') return `${path.replace(/\/+$/, '')}/`.startsWith(`${value.replace(/\/+$/, '')}/`)
  return value !== '(' && new RegExp(`^(?:${value})$`).test(path)
}

test('an updated table finds the same rules as a new one, and the previous table does not change', () => {
  const pool: readonly Rule[] = ['/', '/a', '/a/b', '/c'].flatMap((path, i) =>
    [[], ['a.test'], ['a.test', '*.test'], ['b.test']].map((hostnames, j) =>
      rule(
        `${path} ${hostnames.join()}`,
        matchOf(`${i % 2 === 0 ? 'prefix' : 'exact'} ${path}`),
        { rule: j },
        hostnames,
      ),
    ),
  )
  const pick = fc.subarray([...pool])
  const find = (table: RouteTable<string>) =>
    ['a.test', 'b.test', 'x.test', 'other'].flatMap((host) =>
      ['/', '/a', '/a/b', '/a/b/c', '/c'].map(
        (target) => table.find(host, exchangeWith({ target }).request, routedPath(target))?.rule,
      ),
    )
  fc.assert(
    fc.property(pick, pick, (before, after) => {
      const table = tableOf(before)
      const next = table.after(
        before.filter((it) => !after.includes(it)).map(attached),
        after.filter((it) => !before.includes(it)).map(attached),
      )
      expect(find(next)).toEqual(find(tableOf(after)))
      expect(find(table)).toEqual(find(tableOf(before)))
    }),
  )
})
