import { expect, test } from 'vitest'
import type { RouteItem, RouteMatch } from '#plan/item.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { backendItem, listenerItem, livePlan, matchOf, policyItem, routeItem, toBackend } from '../testing.ts'
import { Decision, decide } from './decide.ts'

const ORIGIN = 'https://app.example'

const NO_TRACE = {
  isCalling: false,
  note: () => {},
  callout: () => {},
  step: () => {},
  limit: () => {},
  credential: () => {},
  copy: () => {},
}

type Headers = Readonly<Record<string, string>>

interface Rule {
  readonly match: RouteMatch
  readonly cors?: true
  readonly more?: Partial<RouteItem>
}

const exactly = (name: string, value: string) => ({ name, type: 'Exact', value }) as const
const rule = (text: string, cors?: 'cors', more: Partial<RouteMatch> = {}): Rule => ({
  match: matchOf(text, more),
  ...(cors && { cors: true }),
})
const headed = (value: string, cors?: 'cors') => rule('prefix /', cors, { headers: [exactly('X-Tenant', value)] })

/** Sends a request to routes `0`, `1`, ... @returns the chosen route, and what became of the request */
async function sent(rules: readonly Rule[], method: string, headers: Headers, target = '/') {
  const items = rules.flatMap(({ match, cors, more }, i) => [
    routeItem(`${i}`, { matches: [match], backends: toBackend('b'), ...more }),
    ...(cors === undefined
      ? []
      : [policyItem('traffic.cors', `HTTPRoute/default/${i}`, { allowOrigins: [ORIGIN] }, { policy: `p${i}` })]),
  ])
  const { plan, socket } = livePlan(listenerItem(), backendItem('b'), ...items)
  const decision = new Decision()
  const exchange = exchangeWith({ method, headers, target })
  exchange.trace = NO_TRACE
  const outcome = await decide({ index: plan.index, socket, random: () => 0 }, exchange, decision)
  const ended = outcome?.kind === 'refusal' ? outcome.code : (outcome?.kind ?? 'forwarded')
  return { route: decision.rule?.item.route.name, ended, decision }
}

function preflight(method: string, fields?: string): Headers {
  return {
    origin: ORIGIN,
    'access-control-request-method': method,
    ...(fields !== undefined && { 'access-control-request-headers': fields }),
  }
}

test.each<[what: string, rules: readonly Rule[], headers: Headers, route: string | undefined, ended: string]>([
  ['a rule for the method', [rule('POST prefix /', 'cors')], preflight('POST'), '0', 'answer'],
  ['a rule for another method', [rule('POST prefix /', 'cors')], preflight('PUT'), undefined, 'route-not-found'],
  ['a rule without CORS', [rule('POST prefix /')], preflight('POST'), undefined, 'route-not-found'],
  [
    'the rule of the method, of several',
    [rule('GET prefix /', 'cors'), rule('POST prefix /', 'cors')],
    preflight('POST'),
    '1',
    'answer',
  ],
  [
    'the rule of the method before one for every method',
    [rule('prefix /', 'cors'), rule('POST prefix /', 'cors')],
    preflight('POST'),
    '1',
    'answer',
  ],
  ['a rule for every method', [rule('prefix /', 'cors'), rule('POST prefix /')], preflight('POST'), '0', 'answer'],
  ['a rule for every method', [rule('prefix /'), rule('POST prefix /')], preflight('POST'), '0', 'forwarded'],
  [
    'the rule that names OPTIONS',
    [rule('OPTIONS prefix /'), rule('POST prefix /', 'cors')],
    preflight('POST'),
    '0',
    'forwarded',
  ],
  [
    'no less specific rule than that of the request',
    [rule('POST exact /'), rule('POST prefix /', 'cors')],
    preflight('POST'),
    undefined,
    'route-not-found',
  ],
  ['a rule for an announced field', [headed('a', 'cors')], preflight('GET', 'accept, x-tenant'), '0', 'answer'],
  ['a rule for a field that is not announced', [headed('a', 'cors')], preflight('GET'), undefined, 'route-not-found'],
  [
    'the first rule with CORS of those that depend on the value of a field',
    [headed('a'), headed('b', 'cors'), headed('c', 'cors')],
    preflight('GET', 'x-tenant'),
    '1',
    'answer',
  ],
  [
    'a rule for any value, where those for one have no CORS',
    [headed('a'), rule('prefix /', 'cors')],
    preflight('GET', 'x-tenant'),
    '1',
    'answer',
  ],
  [
    'a rule for method and field',
    [rule('PUT prefix /', 'cors', { headers: [exactly(':method', 'PUT'), exactly('a', '1')] })],
    preflight('PUT', ' A'),
    '0',
    'answer',
  ],
  [
    'a rule for a query parameter that the preflight lacks',
    [rule('POST prefix /', 'cors', { queryParams: [exactly('p', '1')] })],
    preflight('POST'),
    undefined,
    'route-not-found',
  ],
  ['a rule by pattern', [rule('POST pattern /.*', 'cors')], preflight('POST'), '0', 'answer'],
  [
    'an OPTIONS request without an origin',
    [rule('POST prefix /', 'cors')],
    { 'access-control-request-method': 'POST' },
    undefined,
    'route-not-found',
  ],
  [
    'an OPTIONS request that announces nothing',
    [rule('POST prefix /', 'cors')],
    { origin: ORIGIN },
    undefined,
    'route-not-found',
  ],
  [
    'no rule for several methods',
    [rule('POST prefix /', 'cors')],
    preflight('POST, GET'),
    undefined,
    'route-not-found',
  ],
  [
    'no rule for a method that is no token',
    [rule('POST prefix /', 'cors')],
    preflight('\xff'),
    undefined,
    'route-not-found',
  ],
  ['a rule for every method', [rule('prefix /', 'cors')], preflight('P ST'), '0', 'answer'],
  ['a rule for every method', [rule('prefix /')], preflight(''), '0', 'forwarded'],
])('a preflight finds %s', async (_, rules, headers, route, ended) => {
  expect(await sent(rules, 'OPTIONS', headers)).toMatchObject({ route, ended })
})

test('only OPTIONS is a preflight', async () => {
  expect(await sent([rule('POST prefix /', 'cors')], 'GET', preflight('POST'))).toMatchObject({
    ended: 'route-not-found',
  })
})

test('more specific hostnames come first', async () => {
  const attachedTo = (...hostnames: string[]) => ({ attachments: [{ listener: listenerItem().key, hostnames }] })
  const rules = [
    { ...rule('POST prefix /', 'cors'), more: attachedTo('*.test') },
    { ...rule('POST prefix /'), more: attachedTo('a.test') },
  ]
  const to = (host: string) => sent(rules, 'OPTIONS', { ...preflight('POST'), host })
  expect(await to('b.test')).toMatchObject({ route: '0', ended: 'answer' })
  expect(await to('a.test')).toMatchObject({ route: undefined, ended: 'route-not-found' })
})

test('an ambiguous path may be announced if all its readings are for the same rule', async () => {
  const rules = [rule('POST prefix /', 'cors'), rule('PUT prefix /', 'cors'), rule('PUT exact /a/b', 'cors')]
  const path = '/a%2Fb'
  expect(await sent(rules, 'OPTIONS', preflight('POST'), path)).toMatchObject({ route: '0', ended: 'answer' })
  expect(await sent(rules, 'OPTIONS', preflight('PUT'), path)).toMatchObject({ ended: 'path-ambiguous' })
})

test('the rule for every method is a near miss', async () => {
  const { decision } = await sent(
    [rule('prefix /', 'cors'), rule('POST prefix /', 'cors')],
    'OPTIONS',
    preflight('POST'),
  )
  expect(decision.nearMisses.map(({ item, why }) => [item.route.name, why])).toContainEqual([
    '0',
    'also matches; matches with a method come first',
  ])
})
