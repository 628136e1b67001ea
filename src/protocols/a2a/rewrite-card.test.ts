import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Exchange } from '#exchange/exchange.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { type CardLocation, cardLocation } from './card-location.ts'
import { type JsonCardForm, rewriteCard } from './rewrite-card.ts'

const CARD = '/.well-known/agent-card.json'
const encoder = new TextEncoder()

const behindPrefix: CardLocation = {
  clientOrigin: 'https://gw.example',
  clientPath: `/a2a${CARD}`,
  upstreamPath: CARD,
  backendAuthority: '10.0.0.5:9000',
}

function readFixture(name: string): string {
  return readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8')
}

/** The text that clients get for a card. */
function rewriteText(card: string, form: JsonCardForm = 'card', location = behindPrefix): string | undefined {
  return rewriteCard(encoder.encode(card), form, location)
}

function rewrite(card: unknown, location = behindPrefix): unknown {
  return JSON.parse(rewriteText(JSON.stringify(card), 'card', location)!)
}

test.each(['v03', 'v10'])('the card %s leads through the gateway', (name) => {
  expect(rewrite(JSON.parse(readFixture(name)))).toEqual(JSON.parse(readFixture(`${name}.rewritten`)))
})

const HERE = 'http://10.0.0.5:9000/'
const THROUGH = 'https://gw.example/a2a'
test.each([
  [
    'a member twice',
    `{"url":"${HERE}","name":"n","url":"${HERE}"}`,
    `{"url":"${THROUGH}","name":"n","url":"${THROUGH}"}`,
  ],
  ['a member in another case', `{"url":"${HERE}","Url":"${HERE}"}`, `{"url":"${THROUGH}","Url":"${THROUGH}"}`],
  [
    'a name that other parsers fold',
    `{"\u0075rl":"${HERE}","additionalInterface\u017f":[{"URL":"${HERE}"}]}`,
    `{"\u0075rl":"${THROUGH}","additionalInterface\u017f":[{"URL":"${THROUGH}"}]}`,
  ],
  [
    'lists twice',
    `{"supportedInterfaces":[{"url":"${HERE}"}],"supportedInterfaces":[{"url":"${HERE}","tenant":"t"},7,[{"url":"x"}]]}`,
    `{"supportedInterfaces":[{"url":"${THROUGH}"}],"supportedInterfaces":[{"url":"${THROUGH}","tenant":"t"},7,[{"url":"x"}]]}`,
  ],
])('every reading of a card leads through the gateway: %s', (_, card, expected) => {
  expect(rewriteText(card)).toBe(expected)
})

test('what is not rewritten stays byte for byte', () => {
  const rest =
    '  "limits" : [9007199254740993, 1e400, -0, 1.0], "2": "\\u00fc\\/", "1": {"url":"http://10.0.0.5:9000/"},\n"name":"a","name":"b" }'
  expect(rewriteText(`{"url": "${HERE}",${rest}`)).toBe(`{"url": "${THROUGH}",${rest}`)
})

const url = `"url":"${HERE}"`
const changed = `"url":"${THROUGH}"`
test.each([
  [`{${url},"signatures":[{}]}`, `{${changed}}`],
  [`{"signatures":[{}],${url}}`, `{${changed}}`],
  [`{"signatures":[{}] , "Signatures":1, ${url} ,"signatures":{} , "x":1,"signatures":[]}`, `{${changed} , "x":1}`],
  [`{"name":"n","signatures":[{}]}`, `{"name":"n","signatures":[{}]}`],
])('a changed card loses its signatures: %s', (card, expected) => {
  expect(rewriteText(card)).toBe(expected)
})

test.each([
  [
    `{"jsonrpc":"2.0","id":1,"result":{${url}},"Result":{${url}}}`,
    `{"jsonrpc":"2.0","id":1,"result":{${changed}},"Result":{${changed}}}`,
  ],
  [`{"id":1,"error":{"code":-32007,"data":{${url}}}}`, `{"id":1,"error":{"code":-32007,"data":{${url}}}}`],
  [`{"result":null,${url}}`, `{"result":null,${url}}`],
])('a card in a JSON-RPC response: %s', (response, expected) => {
  expect(rewriteText(response, 'result')).toBe(expected)
})

test.each([
  ['text', 'hello'],
  ['broken JSON', '{"url":'],
  ['a list', '[{"url":"http://10.0.0.5:9000/"}]'],
  ['nothing', ''],
  ['a string', '"x"'],
])('%s is no card', (_, text) => {
  expect(rewriteText(text)).toBe(undefined)
})

test('bytes that are no UTF-8 are no card', () => {
  expect(rewriteCard(Buffer.from('{"url":"http://10.0.0.5:9000/\xff"}', 'latin1'), 'card', behindPrefix)).toBe(
    undefined,
  )
})

test('a deep and a long card take linear time', () => {
  const deep = `{"x":${'['.repeat(400_000)}${']'.repeat(400_000)},${url}}`
  expect(rewriteText(deep)?.endsWith(`${changed}}`)).toBe(true)
  const many = `{${`"url":"${HERE}",`.repeat(50_000)}"signatures":[]}`
  expect(rewriteText(many)).toBe(`{${Array.from({ length: 50_000 }, () => changed).join()}}`)
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
  [`/a2a${CARD}`, `/in${CARD}`, 'http://b:9000/inner/rpc', 'https://gw.example/inner/rpc'],
  [`/a2a/tick${CARD}`, `/a2a/tock${CARD}`, 'http://b:9000/a2a/tock/', 'https://gw.example/a2a/tick/'],
  [`/a2a/tick${CARD}`, `/a2a/tock${CARD}`, 'http://b:9000/other/rest', 'https://gw.example/other/rest'],
  ['/a2a/.well-known/agent.json', `/in${CARD}`, 'http://b:9000/in/rpc', 'https://gw.example/a2a/rpc'],
  ['/a2a/.well-known/agent.json', CARD, 'http://b:9000/rpc', 'https://gw.example/a2a/rpc'],
  [`/a2a${CARD}`, '/in/card', 'http://b:9000/rpc', 'https://gw.example/a2a/rpc'],
  [`/a2a/x${CARD}`, `/x${CARD}`, 'http://b:9000/x/rpc', 'https://gw.example/a2a/x/rpc'],
  [`/a2a/x${CARD}`, `/x${CARD}`, 'http://b:9000/y/rpc', 'https://gw.example/a2a/y/rpc'],
  ['/card', CARD, 'http://b:9000/rpc', 'https://gw.example/rpc'],
  ['/a2a/rpc', '/rpc', 'http://b:9000/rpc', 'https://gw.example/a2a/rpc'],
  ['/a2a', '/', 'http://b:9000/', 'https://gw.example/a2a'],
  ['/a2a', '/', 'http://b:9000/v1', 'https://gw.example/a2a/v1'],
  ['/agent-x', '/rpc', 'http://b:9000/rpc', 'https://gw.example/agent-x'],
  ['/a2a/v1/card', '/v1/card', 'http://b:9000/v1', 'https://gw.example/a2a/v1'],
  ['/a2a/rpc', '/in/rpc', 'http://b:9000/out', 'https://gw.example/out'],
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

test.each([
  ['agent.example:80', 'http://agent.example/v1'],
  ['agent.example:443', 'https://agent.example/v1'],
])('the backend %s is where %s leads', (backendAuthority, url) => {
  const card = { url: 'https://public.example', additionalInterfaces: [{ url }] }
  expect(rewrite(card, { ...behindPrefix, backendAuthority })).toMatchObject({
    additionalInterfaces: [{ url: 'https://gw.example/a2a/v1' }],
  })
})

test.each([
  // address in the card                  rewritten
  ['10.0.0.5:9000', 'gw.example:443'],
  ['dns:///10.0.0.5:9000', 'gw.example:443'],
  ['http://10.0.0.5:9000', 'https://gw.example'],
  ['10.0.0.5:50051', '10.0.0.5:50051'],
])('the gRPC interface %s', (address, expected) => {
  const interfaces = (grpc: string) => [
    { url: grpc, protocolBinding: 'GRPC' },
    { url: 'http://10.0.0.5:9000/rpc', protocolBinding: 'JSONRPC' },
  ]
  expect(rewrite({ supportedInterfaces: interfaces(address) })).toEqual({
    supportedInterfaces: [interfaces(expected)[0], { url: 'https://gw.example/a2a/rpc', protocolBinding: 'JSONRPC' }],
  })
})

test.each([
  ['http://10.0.0.5:9000\\rpc', 'https://gw.example/a2a/rpc'],
  ['HTTP:\\\\010.0.0.5:9000/rpc', 'HTTP:\\\\010.0.0.5:9000/rpc'],
  ['http://0x0a000005:9000/rpc', 'https://gw.example/a2a/rpc'],
  ['http://user:pass@10.0.0.5:9000/rpc', 'https://gw.example/a2a/rpc'],
  [' http://10.0.0.5:9000/rpc', 'https://gw.example/a2a/rpc'],
  ['http://10.0.0.5.:9000/rpc', 'https://gw.example/a2a/rpc'],
  ['ws://10.0.0.5:9000/socket', 'ws://gw.example/a2a/socket'],
  ['/rpc', 'https://gw.example/a2a/rpc'],
  ['//10.0.0.5:9000/rpc', 'https://gw.example/a2a/rpc'],
  ['//other.example/rpc', '//other.example/rpc'],
  ['https://other.example/rpc', 'https://other.example/rpc'],
  ['here', 'here'],
  ['unix:/run/agent', 'unix:/run/agent'],
  ['', ''],
])('the address %j becomes %j', (url, expected) => {
  expect(rewrite({ additionalInterfaces: [{ url }] })).toEqual({ additionalInterfaces: [{ url: expected }] })
})

test.each([7, null, { url: HERE }, [HERE]])('an address that is %j stays', (value) => {
  expect(rewrite({ url: value })).toEqual({ url: value })
})

test('an international host is one in all its spellings', () => {
  const additionalInterfaces = [{ url: 'http://xn--bcher-kva.example:9000/v1' }]
  expect(rewrite({ url: 'http://B\u00dcCHER.example:9000', additionalInterfaces })).toEqual({
    url: 'https://gw.example/a2a',
    additionalInterfaces: [{ url: 'https://gw.example/a2a/v1' }],
  })
})

test('addresses of documentation, icon and sign-in stay', () => {
  const rest = {
    documentationUrl: `${HERE}docs`,
    iconUrl: `${HERE}icon.png`,
    provider: { url: HERE },
    securitySchemes: { oauth: { flows: { clientCredentials: { tokenUrl: `${HERE}token` } } } },
  }
  expect(rewrite({ url: HERE, ...rest })).toEqual({ url: THROUGH, ...rest })
})

test('a card that already leads through the gateway keeps its signatures', () => {
  const location: CardLocation = { ...behindPrefix, clientPath: CARD }
  const card = { url: 'https://gw.example/rpc', signatures: [{}] }
  expect(rewrite(card, location)).toEqual(card)
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
