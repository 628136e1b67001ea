import { expect, test } from 'vitest'
import type { HttpRouteFilterSpec } from '#api/route-filters.ts'
import { readFilters } from './rule-filters.ts'

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
  expect(readFilters(filters, 'spec.rules[0]')).toEqual({
    fields: [{ field: 'headerModifiers', spec, path: 'spec.rules[0].filters[0]' }],
    mirrors: [],
    faults: [],
  })
})

const CORS = { type: 'CORS', cors: {} } as HttpRouteFilterSpec
const REWRITE = { type: 'URLRewrite', urlRewrite: { hostname: 'a' } } as HttpRouteFilterSpec
const REDIRECT = { type: 'RequestRedirect', requestRedirect: { port: 1 } } as HttpRouteFilterSpec

test.each<[string, HttpRouteFilterSpec[], string[]]>([
  ['one of each', [CORS, REWRITE], []],
  ['two of CORS', [CORS, CORS], ['filters[1].cors filters-incompatible IncompatibleFilters']],
  ['two rewrites', [REWRITE, CORS, REWRITE], ['filters[2].urlRewrite filters-incompatible IncompatibleFilters']],
  ['a redirect and a rewrite', [REDIRECT, REWRITE], ['filters filters-incompatible IncompatibleFilters']],
  ['ExternalAuth', [{ type: 'ExternalAuth' }], ['filters[0] not-implemented UnsupportedValue']],
  ['another type', [{ type: 'Cors' }], ['filters[0] filter-value UnsupportedValue']],
])('%s', (_, filters, faults) => {
  const read = readFilters(filters, 'rule')
  expect(read.faults.map(({ path, code, reason }) => `${path} ${code} ${reason}`)).toEqual(
    faults.map((fault) => `rule.${fault}`),
  )
})
