import { expect, test } from 'vitest'
import { codeOf, contextWith, type ExchangeInputs, exchangeWith, sourceOf } from '../../shared/testing.ts'
import type { UrlRewriteSpec } from './compile.ts'
import { urlRewrite } from './index.ts'

function rewrite(spec: UrlRewriteSpec, request: ExchangeInputs) {
  const context = contextWith()
  const exchange = exchangeWith(request)
  const code = codeOf(urlRewrite.compile([sourceOf(spec)], context)!.request!(exchange))
  const { target, authority } = exchange.request
  return { code, target, authority, hostRewritten: exchange.hostRewritten, reports: context.reports }
}

const prefix = (replacePrefixMatch: string) => ({ path: { type: 'ReplacePrefixMatch', replacePrefixMatch } }) as const
const UNCHANGED = {
  code: 'proceed',
  target: '/api/x?q=1',
  authority: 'example.com:8080',
  hostRewritten: false,
  reports: [],
}

const cases: [spec: UrlRewriteSpec, result: object][] = [
  [{}, {}],
  [{ hostname: 'other.test' }, { authority: 'other.test', hostRewritten: true }],
  [prefix('/v1'), { target: '/v1/x?q=1' }],
  [{ path: { type: 'ReplaceFullPath', replaceFullPath: '/one' } }, { target: '/one?q=1' }],
  [
    { hostname: 'other.test', ...prefix('/') },
    { target: '/x?q=1', authority: 'other.test', hostRewritten: true },
  ],
]
for (const [spec, result] of cases) {
  test(`rewrite ${JSON.stringify(spec)}`, () => {
    const request = { target: '/api/x?q=1', headers: { host: 'example.com:8080' }, matchedPrefix: '/api' }
    expect(rewrite(spec, request)).toEqual({ ...UNCHANGED, ...result })
  })
}

test('a prefix cannot be replaced if none was matched', () => {
  expect(rewrite(prefix('/v1'), { target: '/api/x' }).code).toBe('filter-failed')
  expect(rewrite(prefix('/v1'), { target: '/apiary', matchedPrefix: '/api' }).code).toBe('filter-failed')
})

test('an invalid host or path is reported and refuses requests', () => {
  expect(rewrite({ hostname: 'a b' }, {})).toMatchObject({
    code: 'filter-failed',
    reports: ['host-invalid spec.traffic.field.hostname'],
  })
  expect(rewrite(prefix('v1'), { matchedPrefix: '/' }).code).toBe('filter-failed')
})
