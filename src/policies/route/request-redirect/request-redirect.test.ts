import { expect, test } from 'vitest'
import { codeOf, contextWith, type ExchangeInputs, exchangeWith, linesOf, sourceOf } from '../../shared/testing.ts'
import type { RequestRedirectSpec } from './compile.ts'
import { requestRedirect } from './index.ts'

function redirectOf(spec: RequestRedirectSpec, request: ExchangeInputs) {
  const outcome = requestRedirect.compile([sourceOf(spec)], contextWith())!.request!(exchangeWith(request))
  if (outcome === undefined || outcome instanceof Promise || outcome.kind !== 'answer') return codeOf(outcome)
  return { status: outcome.head.status, lines: linesOf(outcome.head), body: outcome.body }
}

/** At a listener with the port of the URL, unless another one is given. */
function locationOf(
  spec: RequestRedirectSpec,
  url: string,
  matchedPrefix?: string,
  localPort = Number(new URL(url).port) || (url.startsWith('https') ? 443 : 80),
): string | undefined {
  const [, scheme, host, target] = /^(https?):\/\/([^/]+)(.*)$/.exec(url)!
  const redirected = redirectOf(spec, {
    scheme: scheme as 'http' | 'https',
    headers: { host: host! },
    target: target!,
    localPort,
    ...(matchedPrefix === undefined ? {} : { matchedPrefix }),
  })
  return typeof redirected === 'string' ? redirected : redirected.lines[0]?.replace('location: ', '')
}

const cases: [spec: RequestRedirectSpec, url: string, location: string][] = [
  // no fields: the same URL
  [{}, 'http://a.test/p?x=%2F', 'http://a.test/p?x=%2F'],
  [{}, 'http://a.test:8080/p', 'http://a.test:8080/p'],
  [{}, 'https://a.test/p', 'https://a.test/p'],
  [{}, 'http://[2001:db8::1]:8080/', 'http://[2001:db8::1]:8080/'],
  // scheme: its default port
  [{ scheme: 'https' }, 'http://a.test/p', 'https://a.test/p'],
  [{ scheme: 'https' }, 'http://a.test:8080/p', 'https://a.test/p'],
  [{ scheme: 'https' }, 'http://[2001:db8::1]:8080/', 'https://[2001:db8::1]/'],
  [{ scheme: 'http' }, 'http://a.test:8080/p', 'http://a.test/p'],
  [{ scheme: 'http' }, 'https://a.test/p', 'http://a.test/p'],
  // host
  [{ hostname: 'b.test' }, 'http://a.test/p', 'http://b.test/p'],
  [{ hostname: 'b.test' }, 'http://a.test:8080/p', 'http://b.test:8080/p'],
  [{ hostname: 'b.test' }, 'http://a.test:80/p', 'http://b.test/p'],
  [{ hostname: 'b.test' }, 'https://a.test:443/p', 'https://b.test/p'],
  [{ hostname: 'b.test', scheme: 'https' }, 'http://a.test:8080/p', 'https://b.test/p'],
  // port
  [{ port: 8443 }, 'http://a.test/p', 'http://a.test:8443/p'],
  [{ port: 8443 }, 'http://a.test:8080/p', 'http://a.test:8443/p'],
  [{ port: 80 }, 'http://a.test:8080/p', 'http://a.test/p'],
  [{ port: 443 }, 'http://a.test/p', 'http://a.test:443/p'],
  [{ port: 443, scheme: 'https' }, 'http://a.test/p', 'https://a.test/p'],
  [{ port: 8443, scheme: 'https' }, 'http://a.test/p', 'https://a.test:8443/p'],
  [{ port: 8080, hostname: 'b.test' }, 'http://a.test/p', 'http://b.test:8080/p'],
  // path
  [{ path: { type: 'ReplaceFullPath', replaceFullPath: '/new' } }, 'http://a.test/p?x=1', 'http://a.test/new?x=1'],
  [{ path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/v1' } }, 'http://a.test/p/q?x', 'http://a.test/v1/q?x'],
]
for (const [spec, url, location] of cases) {
  test(`${url} with ${JSON.stringify(spec)}`, () => {
    expect(locationOf(spec, url, '/p')).toBe(location)
  })
}

test('the response is empty, and its status is 302 unless configured', () => {
  expect(redirectOf({}, {})).toEqual({ status: 302, lines: ['location: http://example.com:8080/'], body: undefined })
  for (const statusCode of [301, 303, 307, 308])
    expect(redirectOf({ statusCode }, {})).toMatchObject({ status: statusCode })
})

test('a prefix cannot be replaced if none was matched', () => {
  const path = { type: 'ReplacePrefixMatch', replacePrefixMatch: '/v1' } as const
  expect(redirectOf({ path }, { target: '/p' })).toBe('filter-failed')
})

test('the redirect is based on the URL that the client sent, not on changes by policies', () => {
  const exchange = exchangeWith({ target: '/asked' })
  exchange.request.target = '/changed'
  exchange.request.authority = 'changed.test'
  const outcome = requestRedirect.compile([sourceOf({ scheme: 'https' as const })], contextWith())!.request!(exchange)
  expect(outcome).toMatchObject({ kind: 'answer' })
  if (outcome === undefined || outcome instanceof Promise || outcome.kind !== 'answer') return
  expect(outcome.head.get('location')).toBe('https://example.com/asked')
})

test('an invalid host is reported and refuses requests', () => {
  const context = contextWith()
  const run = requestRedirect.compile([sourceOf({ hostname: 'a b' })], context)!
  expect(codeOf(run.request!(exchangeWith()))).toBe('filter-failed')
  expect(context.reports).toEqual(['host-invalid spec.traffic.field.hostname'])
})

test.each<[spec: RequestRedirectSpec, url: string, port: number, location: string]>([
  [{}, 'http://a.test/p', 8080, 'http://a.test:8080/p'],
  [{}, 'http://a.test:9090/p', 8080, 'http://a.test:8080/p'],
  [{ hostname: 'b.test' }, 'https://a.test/p', 8443, 'https://b.test:8443/p'],
  [{ hostname: 'b.test' }, 'http://a.test:9090/p', 80, 'http://b.test/p'],
  [{ scheme: 'http' }, 'http://a.test/p', 8080, 'http://a.test/p'],
])('%j redirects %s at a listener with port %i to %s', (spec, url, port, location) => {
  expect(locationOf(spec, url, undefined, port)).toBe(location)
})
