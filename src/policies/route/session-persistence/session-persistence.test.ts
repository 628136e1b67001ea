import { expect, test } from 'vitest'
import { sealJson } from '#base/sealer.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { testSealer } from '#test/support/test-sealer.ts'
import { contextWith, type ExchangeInputs, exchangeWith, linesOf, runContext, sourceOf } from '../../shared/testing.ts'
import type { SessionPersistenceSpec } from './compile.ts'
import { sessionPersistence } from './index.ts'

const SHOP = { backend: 'Service/default/shop/80', endpoint: '10.0.0.1:80' }
const OTHER = { backend: 'Service/default/shop/80', endpoint: '10.0.0.2:80' }
const START = Date.UTC(2026, 0, 1)
const MINUTE = 60_000

const sealer = testSealer()

/** A rule with sessions; the response of each request comes from `used`. */
function ruleWith(spec: Partial<SessionPersistenceSpec> = {}, target = 'HTTPRoute/default/shop#0') {
  const source = sourceOf({ type: 'Cookie', ...spec } as SessionPersistenceSpec, { target })
  const run = sessionPersistence.compile([source as never], contextWith({ sealer }))!
  return {
    fields: run.fields,
    send(request: ExchangeInputs, used = SHOP, now = START) {
      const exchange = exchangeWith({ status: 200, ...request })
      exchange.context = runContext({ now: () => now })
      expect(run.request!(exchange)).toBeUndefined()
      exchange.session!.used = used
      expect(run.response!(exchange)).toBeUndefined()
      return exchange
    },
  }
}

const setCookies = (exchange: Exchange) => exchange.response!.getAll('set-cookie')
/** `name=value` of a cookie that a response sets. */
const cookieOf = (exchange: Exchange, at = 0) => setCookies(exchange)[at]!.split(';')[0]!
const withCookie = (cookie: string): ExchangeInputs => ({ headers: { cookie } })

test('the first response names the session, the next request returns it, and then there is nothing to say', () => {
  const rule = ruleWith({ sessionName: 'stay' })
  const first = rule.send({ responseHeaders: { 'set-cookie': 'app=1' } })
  expect(first.session!.bound).toBeUndefined()
  expect(setCookies(first)).toEqual(['app=1', `${cookieOf(first, 1)}; Path=/; HttpOnly; SameSite=Strict`])
  const second = rule.send(withCookie(`a=b; ${cookieOf(first, 1)}; c=d`))
  expect(second.session!.bound).toEqual(SHOP)
  expect([linesOf(second.request), setCookies(second)]).toEqual([['cookie: a=b; c=d'], []])
})

test('clients cannot read or make a session; values that are not ours are forwarded', () => {
  const rule = ruleWith({ sessionName: 'stay' })
  const cookie = cookieOf(rule.send({}))
  expect(Buffer.from(cookie.slice('stay='.length), 'base64url').toString('latin1')).not.toContain('10.0.0')
  // An id of an MCP session.
  const ofOtherUse = sealJson(sealer, {
    k: 'session',
    rule: 'HTTPRoute/default/shop#0',
    ...SHOP,
    start: START,
    last: START,
  })
  const others = ['x', 'W10', `${cookie.slice('stay='.length)}A`, testSealer().seal(new Uint8Array(40)), ofOtherUse]
  for (const value of others) {
    const { request, session } = rule.send(withCookie(`stay=${value}`))
    expect(session!.bound, value).toBeUndefined()
    expect(linesOf(request)).toEqual([`cookie: stay=${value}`])
  }
  // Of several values, ours is found and removed.
  const { request, session } = rule.send(withCookie(`stay=x; ${cookie}; stay=y`))
  expect([session!.bound, linesOf(request)]).toEqual([SHOP, ['cookie: stay=x; stay=y']])
})

test('sessions of another rule do not count, and are removed', () => {
  const cookie = cookieOf(ruleWith({ sessionName: 'stay' }).send({}))
  const other = ruleWith({ sessionName: 'stay' }, 'HTTPRoute/default/shop#1').send(withCookie(cookie))
  expect([other.session!.bound, linesOf(other.request)]).toEqual([undefined, []])
})

test('a request that another endpoint answered starts a new session', () => {
  const rule = ruleWith({ absoluteTimeout: '1h' })
  const cookie = cookieOf(rule.send({}))
  const moved = rule.send(withCookie(cookie), OTHER, START + 30 * MINUTE)
  expect(moved.session!.bound).toEqual(SHOP)
  const later = rule.send(withCookie(cookieOf(moved)), OTHER, START + 80 * MINUTE)
  expect([later.session!.bound, setCookies(later)]).toEqual([OTHER, []])
})

test('absoluteTimeout counts from the start of the session', () => {
  const rule = ruleWith({ absoluteTimeout: '1h' })
  const cookie = cookieOf(rule.send({}))
  const boundAfter = (ms: number) => rule.send(withCookie(cookie), SHOP, START + ms).session!.bound
  expect([boundAfter(60 * MINUTE - 1), boundAfter(60 * MINUTE)]).toEqual([SHOP, undefined])
})

test('idleTimeout counts from the last request, but does not prolong absoluteTimeout', () => {
  const rule = ruleWith({ idleTimeout: '10m', absoluteTimeout: '25m' })
  let cookie = cookieOf(rule.send({}))
  const boundAfter = (minutes: number) => {
    const exchange = rule.send(withCookie(cookie), SHOP, START + minutes * MINUTE)
    cookie = cookieOf(exchange)
    return exchange.session!.bound
  }
  expect([boundAfter(9), boundAfter(18), boundAfter(24), boundAfter(25)]).toEqual([SHOP, SHOP, SHOP, undefined])
  // A new session.
  expect([boundAfter(34), boundAfter(44)]).toEqual([SHOP, undefined])
})

test('a permanent cookie is kept until the end of the session', () => {
  const rule = ruleWith({ cookieConfig: { lifetimeType: 'Permanent' }, absoluteTimeout: '1h', idleTimeout: '30m' })
  const first = rule.send({})
  const end = 'Expires=Thu, 01 Jan 2026 01:00:00 GMT'
  expect(setCookies(first)[0]).toContain(`; Path=/; Max-Age=3600; ${end}; HttpOnly`)
  const second = rule.send(withCookie(cookieOf(first)), SHOP, START + MINUTE)
  expect(setCookies(second)[0]).toContain(`; Max-Age=3540; ${end};`)
})

test('over TLS the cookie is for TLS only; its path is that of the match', () => {
  const exchange = ruleWith().send({ scheme: 'https', matchedPrefix: '/shop' })
  expect(setCookies(exchange)[0]).toMatch(/; Path=\/shop; HttpOnly; SameSite=Strict; Secure$/)
})

test('without a name, each rule has a cookie of its own', () => {
  const names = [0, 1, 0].map(
    (rule) => cookieOf(ruleWith({}, `HTTPRoute/default/shop#${rule}`).send({})).split('=')[0]!,
  )
  expect(names[0]).toMatch(/^gatewright-session-[0-9a-f]{8}$/)
  expect([names[0] === names[1], names[0] === names[2]]).toEqual([false, true])
})

test('type Header: the session is in a header of responses and requests', () => {
  for (const [spec, name] of [
    [{}, 'gatewright-session'],
    [{ sessionName: 'X-Stay' }, 'x-stay'],
  ] as const) {
    const rule = ruleWith({
      ...spec,
      type: 'Header',
      cookieConfig: { lifetimeType: 'Permanent' },
      absoluteTimeout: '1h',
    })
    const value = rule.send({}).response!.get(name)!
    const second = rule.send({ headers: { accept: '*/*', [name]: value } })
    expect(second.session!.bound).toEqual(SHOP)
    expect([linesOf(second.request), second.response!.has(name)]).toEqual([['accept: */*'], false])
    expect(rule.fields).toEqual({ request: [name], response: [name] })
  }
  expect(ruleWith().fields).toEqual({ request: ['cookie'], response: ['set-cookie'] })
})

test('a response that no endpoint gave, and a refusal, start no session', () => {
  const cookiesAfter = (used: typeof SHOP | undefined, isRefusal: boolean) => {
    const exchange = exchangeWith({ status: 503 })
    const source = sourceOf({ type: 'Cookie' } as SessionPersistenceSpec)
    const run = sessionPersistence.compile([source as never], contextWith({ sealer }))!
    run.request!(exchange)
    exchange.session!.used = used
    exchange.responseIsRefusal = isRefusal
    run.response!(exchange)
    return setCookies(exchange).length
  }
  expect([cookiesAfter(undefined, false), cookiesAfter(SHOP, true), cookiesAfter(SHOP, false)]).toEqual([0, 0, 1])
})

test('explain shows where the session leads', () => {
  const rule = ruleWith({ sessionName: 'stay' })
  const cookie = cookieOf(rule.send({}))
  const ofOtherRule = cookieOf(ruleWith({ sessionName: 'stay' }, 'HTTPRoute/default/shop#1').send({}))
  // Sealed by a gateway with another key.
  const unreadable = `stay=${sealJson(testSealer(), { k: 'route-session' })}`
  const notes: string[] = []
  for (const request of [{}, withCookie(cookie), withCookie(ofOtherRule), withCookie(unreadable)]) {
    const exchange = exchangeWith(request)
    exchange.trace = {
      isCalling: false,
      step() {},
      limit() {},
      callout() {},
      credential() {},
      copy() {},
      note: (text) => notes.push(text),
    }
    const source = sourceOf({ type: 'Cookie', sessionName: 'stay' } as SessionPersistenceSpec, {
      target: 'HTTPRoute/default/shop#0',
    })
    sessionPersistence.compile([source as never], contextWith({ sealer }))!.request!(exchange)
  }
  expect(notes).toEqual([
    'the request has no session; its response starts one',
    'the session leads to 10.0.0.1:80 of default/shop',
    'the session of the request has ended or belongs to another rule; its response starts one',
    'the value of cookie stay cannot be read as a session with the key of this command (set SESSION_KEY to that of the gateway); its response starts one',
  ])
})
