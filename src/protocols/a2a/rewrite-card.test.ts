import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Exchange } from '#exchange/exchange.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { type CardLocation, cardLocation } from './card-location.ts'
import { explainA2a } from './explain-a2a.ts'
import { type CardResponse, MAX_CARD_BYTES, rewriteCard } from './rewrite-card.ts'

const CARD = '/.well-known/agent-card.json'
const encoder = new TextEncoder()

const behindPrefix: CardLocation = {
  clientOrigin: 'https://gw.example',
  clientPath: `/a2a${CARD}`,
  upstreamPath: CARD,
  backendAuthority: '10.0.0.5:9000',
}

function response(body: unknown, rest: Partial<CardResponse> = {}): CardResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const fields = { status: 200, contentType: 'application/json', contentEncoding: undefined }
  return { ...fields, body: encoder.encode(text), ...rest }
}

function readFixture(name: string): string {
  return readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8')
}

function rewrite(card: unknown, location = behindPrefix): unknown {
  const rewritten = rewriteCard(response(card), location)
  return rewritten.kind === 'rewritten' ? JSON.parse(new TextDecoder().decode(rewritten.body)) : rewritten.why
}

test.each([
  ['v03', true],
  ['v10', false],
])('the card %s leads through the gateway', (name, signed) => {
  expect(rewrite(readFixture(name))).toEqual(JSON.parse(readFixture(`${name}.rewritten`)))
  expect(rewriteCard(response(readFixture(name)), behindPrefix)).toMatchObject({ removedSignatures: signed })
})

const HERE = 'http://10.0.0.5:9000/'
const THROUGH = 'https://gw.example/a2a'
test.each([
  ['a member twice', `{"url":"http://x.example/","name":"n","url":"${HERE}"}`, `{"url":"${THROUGH}","name":"n"}`],
  ['a member in another case', `{"url":"${HERE}","Url":"${HERE}"}`, `{"url":"${THROUGH}"}`],
  ['only in another case', `{"name":"n","URL":"${HERE}"}`, '{"name":"n"}'],
  [
    'in an interface',
    `{"supportedInterfaces":[{"url":"${HERE}","u\u0072l":"${HERE}","Url":"${HERE}","tenant":"t"},7]}`,
    `{"supportedInterfaces":[{"url":"${THROUGH}","tenant":"t"},7]}`,
  ],
  ['nothing to rewrite, and twice', '{"name":"a","name":"b"}', '{"name":"b"}'],
])('a card has one reading: %s', (_, card, expected) => {
  const rewritten = rewriteCard(response(card), behindPrefix)
  expect(rewritten.kind === 'rewritten' && new TextDecoder().decode(rewritten.body)).toBe(expected)
})

test('a rewritten card keeps its numbers', () => {
  const rest = '"limits":[9007199254740993,18446744073709551616,1e400,-0,1.0]}'
  const rewritten = rewriteCard(response(`{"url":"${HERE}",${rest}`), behindPrefix)
  expect(rewritten.kind === 'rewritten' && new TextDecoder().decode(rewritten.body)).toBe(`{"url":"${THROUGH}",${rest}`)
})

const paths: [client: string, upstream: string, url: string, expected: string][] = [
  // client's path            path at the agent       url in the card                 rewritten
  [CARD, CARD, 'http://b:9000/', 'https://gw.example'],
  [CARD, CARD, 'http://b:9000', 'https://gw.example'],
  [CARD, CARD, 'http://b:9000/rpc', 'https://gw.example/rpc'],
  [CARD, CARD, 'http://b:9000/rpc/?a=b', 'https://gw.example/rpc/?a=b'],
  [`/a2a${CARD}`, CARD, 'http://b:9000/', 'https://gw.example/a2a'],
  [`/a2a${CARD}`, CARD, 'http://b:9000/rpc', 'https://gw.example/a2a/rpc'],
  [`/a2a${CARD}`, `/a2a${CARD}`, 'http://b:9000/a2a/rpc', 'https://gw.example/a2a/rpc'],
  [`/a2a${CARD}`, `/in${CARD}`, 'http://b:9000/in/rpc', 'https://gw.example/a2a/rpc'],
  [`/a2a${CARD}`, `/in${CARD}`, 'http://b:9000/in', 'https://gw.example/a2a'],
  [`/a2a${CARD}`, `/in${CARD}`, 'http://b:9000/inner/rpc', 'https://gw.example/a2a/inner/rpc'],
  [`/a2a/x${CARD}`, `/x${CARD}`, 'http://b:9000/x/rpc', 'https://gw.example/a2a/x/rpc'],
  [`/a2a/x${CARD}`, `/x${CARD}`, 'http://b:9000/y/rpc', 'https://gw.example/a2a/y/rpc'],
  ['/card', CARD, 'http://b:9000/rpc', 'https://gw.example/rpc'],
  ['/a2a/.well-known/agent.json', '/.well-known/agent.json', 'http://b:9000/rpc', 'https://gw.example/a2a/rpc'],
]

test.each(paths)('client %s, agent %s: %s', (clientPath, upstreamPath, url, expected) => {
  expect(rewrite({ url }, { ...behindPrefix, clientPath, upstreamPath })).toEqual({ url: expected })
})

test('addresses of the backend count as the agent, whatever the card calls itself', () => {
  const additionalInterfaces = [{ url: 'http://10.0.0.5:9000/v1', transport: 'HTTP+JSON' }]
  expect(rewrite({ url: 'https://public.example/rpc', additionalInterfaces })).toEqual({
    url: 'https://gw.example/a2a/rpc',
    additionalInterfaces: [{ url: 'https://gw.example/a2a/v1', transport: 'HTTP+JSON' }],
  })
})

test('a preferred gRPC interface is left alone', () => {
  const url = 'http://b:9000/'
  const additionalInterfaces = [{ url: 'http://b:9000/rpc', transport: 'JSONRPC' }]
  expect(rewrite({ url, preferredTransport: 'GRPC', additionalInterfaces })).toEqual({
    url,
    preferredTransport: 'GRPC',
    additionalInterfaces: [{ url: 'https://gw.example/a2a/rpc', transport: 'JSONRPC' }],
  })
})

const kept: [name: string, response: CardResponse, why: string][] = [
  ['an error', response({ url: 'http://b/' }, { status: 404 }), 'no-success'],
  ['text', response('hello', { contentType: 'text/plain' }), 'not-json'],
  ['broken JSON', response('{"url":'), 'not-json'],
  ['a list', response([]), 'not-json'],
  ['compressed', response({ url: 'http://b/' }, { contentEncoding: 'gzip' }), 'compressed'],
  ['no URL', response({ name: 'x', signatures: [{}] }), 'nothing-to-rewrite'],
  ['a URL that is none', response({ url: 'here' }), 'nothing-to-rewrite'],
  ['another scheme', response({ url: 'unix:/run/agent' }), 'nothing-to-rewrite'],
  ['too large', response('x', { body: new Uint8Array(MAX_CARD_BYTES + 1) }), 'too-large'],
]

test.each(kept)('goes on as it came: %s', (_, card, why) => {
  expect(rewriteCard(card, behindPrefix)).toEqual({ kind: 'kept', why })
})

test('a card that already leads through the gateway keeps its signatures', () => {
  const location: CardLocation = { ...behindPrefix, clientPath: CARD }
  expect(rewriteCard(response({ url: 'https://gw.example/rpc', signatures: [{}] }), location).kind).toBe('kept')
})

function exchangeFor(fields: Record<string, string>, method = 'GET', target = CARD): Exchange {
  const exchange = exchangeWith({ method, target })
  exchange.originalAuthority = 'gw.example:8080'
  exchange.originalTarget = `/a2a${target}?x=1`
  for (const [name, value] of Object.entries(fields)) exchange.request.set(name, value)
  return exchange
}

test.each([
  [{}, 'http://gw.example:8080'],
  [{ 'x-forwarded-proto': 'https' }, 'https://gw.example:8080'],
  [{ 'x-forwarded-proto': 'HTTPS' }, 'https://gw.example:8080'],
  [{ 'x-forwarded-proto': 'javascript' }, 'http://gw.example:8080'],
  [{ 'x-forwarded-host': 'evil.example', host: 'agent' }, 'http://gw.example:8080'],
])('the client reached the gateway with %o at %s', (fields, clientOrigin) => {
  const location = { clientOrigin, clientPath: `/a2a${CARD}`, upstreamPath: CARD, backendAuthority: 'b:1' }
  expect(cardLocation(exchangeFor(fields as Record<string, string>), 'b:1')).toEqual(location)
})

test('explain shows the kind of a request', () => {
  expect(explainA2a(exchangeFor({}), 'b:1', undefined)).toEqual({
    kind: 'agent-card',
    method: undefined,
    cardBase: 'http://gw.example:8080/a2a',
  })
  const call = exchangeFor({ 'content-type': 'application/json' }, 'POST', '/rpc')
  expect(explainA2a(call, 'b:1', encoder.encode('{"method":"message/send"}'))).toEqual({
    kind: 'call',
    method: 'message/send',
    cardBase: undefined,
  })
})
