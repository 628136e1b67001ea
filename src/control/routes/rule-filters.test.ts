import { expect, test } from 'vitest'
import type { HttpRouteFilterSpec } from '#api/route-filters.ts'
import { readBackendRefFilters, readFilters } from './rule-filters.ts'

const request = (requestHeaderModifier: object) =>
  ({ type: 'RequestHeaderModifier', requestHeaderModifier }) as HttpRouteFilterSpec
const response = (responseHeaderModifier: object) =>
  ({ type: 'ResponseHeaderModifier', responseHeaderModifier }) as HttpRouteFilterSpec

const A = { name: 'a', value: '1' }
const B = { name: 'b', value: '2' }

test.each<[HttpRouteFilterSpec[], object]>([
  [[request({ add: [A] })], { request: { add: [A] } }],
  [[request({ add: [A] }), request({ set: [B] })], { request: { add: [A], set: [B] } }],
  [[request({ set: [A] }), request({ add: [B] })], { request: { set: [A], add: [B] } }],
  [[request({ add: [A] }), request({ add: [B] })], { request: { add: [A, B] } }],
  [[request({ remove: ['a'] }), request({ remove: ['b'] })], { request: { remove: ['a', 'b'] } }],
  [[request({ set: [A] }), response({ set: [B] })], { request: { set: [A] }, response: { set: [B] } }],
])('modifiers of headers are joined: %j', (filters, spec) => {
  expect(readFilters(filters, 'spec.rules[0]', 'HTTPRoute')).toEqual({
    fields: [{ field: 'headerModifiers', spec, path: 'spec.rules[0].filters[0]' }],
    externalAuth: undefined,
    mirrors: [],
    faults: [],
  })
})

const CORS = { type: 'CORS', cors: {} } as HttpRouteFilterSpec
const REWRITE = { type: 'URLRewrite', urlRewrite: { hostname: 'a' } } as HttpRouteFilterSpec
const REDIRECT = { type: 'RequestRedirect', requestRedirect: { port: 1 } } as HttpRouteFilterSpec
const AUTH = {
  type: 'ExternalAuth',
  externalAuth: { protocol: 'GRPC', backendRef: { name: 'authz', port: 1 }, grpc: {} },
} as HttpRouteFilterSpec

test.each<[string, HttpRouteFilterSpec[], string[]]>([
  ['one of each', [CORS, REWRITE, AUTH], []],
  ['two of CORS', [CORS, CORS], ['filters[1].cors filters-incompatible IncompatibleFilters']],
  ['two rewrites', [REWRITE, CORS, REWRITE], ['filters[2].urlRewrite filters-incompatible IncompatibleFilters']],
  ['a redirect and a rewrite', [REDIRECT, REWRITE], ['filters filters-incompatible IncompatibleFilters']],
  ['two of ExternalAuth', [AUTH, AUTH], ['filters[1].externalAuth filters-incompatible IncompatibleFilters']],
  ['another type', [{ type: 'Cors' }], ['filters[0] filter-value UnsupportedValue']],
])('%s', (_, filters, faults) => {
  const read = readFilters(filters, 'rule', 'HTTPRoute')
  expect(read.faults.map(({ path, code, reason }) => `${path} ${code} ${reason}`)).toEqual(
    faults.map((fault) => `rule.${fault}`),
  )
})

test('a GRPCRoute has only the filters of the Gateway API', () => {
  const faults = (filter: HttpRouteFilterSpec) => readFilters([filter], 'rule', 'GRPCRoute').faults
  expect(faults(request({ add: [A] }))).toEqual([])
  for (const filter of [CORS, REWRITE, REDIRECT, AUTH]) {
    expect(faults(filter)).toEqual([
      {
        path: 'rule.filters[0]',
        code: 'filter-value',
        reason: 'UnsupportedValue',
        message: `filters of type ${filter.type} are not supported; use a ProxyPolicy`,
      },
    ])
  }
})

const PREFIX = {
  type: 'URLRewrite',
  urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/a' } },
} as HttpRouteFilterSpec

test.each<[string, rule: HttpRouteFilterSpec[], own: HttpRouteFilterSpec[], faults: string[]]>([
  ['a rewrite of the host in both', [REWRITE], [REWRITE], []],
  ['a rewrite of the host in the rule', [REWRITE], [PREFIX], []],
  ['a rewrite of the path in both', [PREFIX], [PREFIX], ['filters[0].urlRewrite.path.type filters-incompatible']],
  ['filters of rules', [], [CORS, AUTH], ['filters[0] filter-value', 'filters[1] filter-value']],
  ['two rewrites', [], [REWRITE, REWRITE], ['filters[1].urlRewrite filters-incompatible']],
])('filters of a backendRef: %s', (_, rule, own, faults) => {
  const ofRule = readFilters(rule, 'rule', 'HTTPRoute')
  const read = readBackendRefFilters(own, 'ref', 'HTTPRoute', ofRule)
  expect(read.faults.map(({ path, code }) => `${path} ${code}`)).toEqual(faults.map((fault) => `ref.${fault}`))
})
