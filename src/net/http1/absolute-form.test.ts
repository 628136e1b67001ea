import { expect, test } from 'vitest'
import type { Destination } from '../destination.ts'
import { Head } from '../http/head.ts'
import type { ClientHandler, ClientStream } from '../stream.ts'
import { absoluteForm, ForwardedHandler } from './absolute-form.ts'

function destination(host: string, port: number): Destination {
  return { key: 'a', host, port, connectTimeoutMs: 1000 }
}

const PROXY = { proxies: [], authorization: undefined }

test.each([
  ['/a?b', 'example.com', 8080, 'http://example.com:8080/a?b', 'example.com:8080'],
  ['/', 'example.com', 80, 'http://example.com/', 'example.com'],
  ['/', '2001:db8::1', 80, 'http://[2001:db8::1]/', '[2001:db8::1]'],
  ['/', '2001:db8::1', 81, 'http://[2001:db8::1]:81/', '[2001:db8::1]:81'],
  ['*', 'example.com', 80, 'http://example.com', 'example.com'],
])('the target %s of %s, port %i, is sent as %s, and Host as %s', (target, host, port, sent, authority) => {
  const head = Head.request('GET', target)
  head.authority = 'public.example'
  const form = absoluteForm(head, destination(host, port), PROXY)
  expect([form.target, form.authority]).toEqual([sent, authority])
  expect([head.target, head.authority]).toEqual([target, 'public.example'])
})

test.each([
  ['Basic Zw==', 'Basic Zw=='],
  [undefined, undefined],
])('the proxy server gets the credential of the gateway, %s, and none of the client', (own, sent) => {
  const head = Head.request('GET', '/')
  head.set('proxy-authorization', 'Basic Y2xpZW50')
  expect(absoluteForm(head, destination('a', 80), { proxies: [], authorization: own }).get('proxy-authorization')).toBe(
    sent,
  )
  expect(head.get('proxy-authorization')).toBe('Basic Y2xpZW50')
})

/** Adds each event and its arguments to `events`. */
function recorder(events: unknown[][]): ClientHandler {
  const note =
    (name: string) =>
    (stream: ClientStream, ...rest: unknown[]) =>
      events.push([name, stream, ...rest])
  return {
    response: note('response'),
    informed: note('informed'),
    trailed: note('trailed'),
    upgraded: note('upgraded'),
    replayed: note('replayed'),
    failed: note('failed'),
  }
}

function setup(status: number) {
  const events: unknown[][] = []
  const head = Head.response(status)
  const stream = { head, cancel: () => events.push(['cancel']) } as unknown as ClientStream
  return { handler: new ForwardedHandler(recorder(events)), stream, events }
}

test.each([200, 401, 406, 408])('a response of status %i is that of the backend', (status) => {
  const { handler, stream, events } = setup(status)
  handler.response(stream)
  expect(events).toEqual([['response', stream]])
})

test('a refused credential is a failure of the proxy server', () => {
  const { handler, stream, events } = setup(407)
  handler.response(stream)
  const failure = { code: 'tunnel-refused', detail: 'the proxy server answered 407', maybeProcessed: false }
  expect(events).toEqual([['cancel'], ['failed', stream, failure]])
})

test('a handler need not take trailers', () => {
  const { stream } = setup(200)
  const { trailed: _, ...inner } = recorder([])
  expect(() => new ForwardedHandler(inner).trailed(stream, new Head())).not.toThrow()
})

test('all other events are those of the backend', () => {
  const { handler, stream, events } = setup(200)
  const head = new Head()
  const failure = { code: 'reset', detail: '', maybeProcessed: true } as const
  handler.informed(stream, head)
  handler.trailed(stream, head)
  handler.upgraded(stream)
  handler.replayed(stream, 'stale-connection')
  handler.failed(stream, failure)
  expect(events).toEqual([
    ['informed', stream, head],
    ['trailed', stream, head],
    ['upgraded', stream],
    ['replayed', stream, 'stale-connection'],
    ['failed', stream, failure],
  ])
})
