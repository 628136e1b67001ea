import { expect, test } from 'vitest'
import { ForwardRules, parseNetwork } from '#net/connect/forward-rules.ts'
import { UNKNOWN_MACHINE } from '#net/connect/own-machine.ts'
import { findPlace, isRefusal, RequestedPlaces } from './place.ts'

/** Places whose destinations are only their addresses. */
function places(secured = false, rules = new ForwardRules(), tunnelled = false) {
  const compiled: string[] = []
  const found = new RequestedPlaces({
    compile: ({ host, port, chosenByClient }) => {
      compiled.push(`${host} ${port} ${chosenByClient}`)
      return {} as never
    },
    secured,
    tunnelled,
    bounds: undefined,
    rules,
  })
  return { found, compiled }
}

const find = (authority: string, secured = false) => {
  const place = places(secured).found.find(authority)
  return isRefusal(place) ? `${place.code}: ${place.detail}` : place.label
}

test.each([
  ['example.com', 'example.com:80'],
  ['Example.COM:8080', 'example.com:8080'],
  ['example.com.', 'example.com:80'],
  ['example.com.:81', 'example.com:81'],
  ['example.com:', 'example.com:80'],
  ['example.com:00443', 'example.com:443'],
  ['web', 'web:80'],
  ['_srv.example.com', '_srv.example.com:80'],
  ['192.0.2.1', '192.0.2.1:80'],
  ['192.0.2.1.', '192.0.2.1:80'],
  ['192.0.2.1:65535', '192.0.2.1:65535'],
  ['[2001:DB8::1]', '[2001:db8::1]:80'],
  ['[2001:db8::1]:8443', '[2001:db8::1]:8443'],
  ['1e100.net', '1e100.net:80'],
  ['0x7f.example', '0x7f.example:80'],
])('%s is %s', (authority, label) => {
  expect(find(authority)).toBe(label)
})

test('with TLS the default port is 443', () => {
  expect(find('example.com', true)).toBe('example.com:443')
  expect(find('example.com:80', true)).toBe('example.com:80')
})

test.each([
  '127.0.0.1',
  '127.0.0.1.',
  '169.254.169.254',
  '0.0.0.0:8080',
  '[::1]:80',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[fe80::1]',
  '0x7f.1',
  '0X7F.0.0.1',
  '0177.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '2130706433.',
  '0x7f000001',
  '017700000001',
  '999.1.1.1',
  '1.2.3.4.5',
  'example.0x',
])('%s is not allowed', (authority) => {
  expect(find(authority)).toMatch(/^destination-not-allowed: /)
})

test.each([
  '',
  ':80',
  'a b',
  'a:0',
  'a:65536',
  'a:-1',
  'a:x',
  'user@a',
  '[::1',
  '::1',
  '[v1.x]',
  'a..b',
  '.',
  '*',
  '[fe80::1%25eth0]',
  'fe80::1%eth0',
  `${'a'.repeat(64)}.test`,
  `${'a.'.repeat(127)}aa`,
])('%j names no destination', (authority) => {
  expect(find(authority)).toMatch(/^host-invalid: /)
})

test.each([
  ['localhost', []],
  ['LOCALHOST.:8080', []],
  ['a.localhost', []],
  ['localhost:9', ['127.0.0.0/8', '::1/128']],
])('behind a proxy server, which resolves it, %s is not allowed if %j are permitted', (authority, permitted) => {
  const rules = new ForwardRules(
    permitted.map((network) => parseNetwork(network)!),
    { ...UNKNOWN_MACHINE, isListener: (_, port) => port === 9 },
  )
  expect(places(false, rules, true).found.find(authority)).toMatchObject({ code: 'destination-not-allowed' })
})

test('behind a proxy server, localhost is permitted with one of its addresses, and other names are', () => {
  for (const network of ['127.0.0.1', '::1']) {
    const { found } = places(false, new ForwardRules([parseNetwork(network)!]), true)
    expect(found.find('localhost')).toMatchObject({ label: 'localhost:80' })
  }
  expect(places(false, new ForwardRules(), true).found.find('notlocalhost')).toMatchObject({ label: 'notlocalhost:80' })
})

test('behind a proxy server, a known place is refused once the gateway listens there', () => {
  const own = new Set<string>()
  const rules = new ForwardRules(
    ['127.0.0.0/8', '::1'].map((network) => parseNetwork(network)!),
    { ...UNKNOWN_MACHINE, isListener: (address, port) => own.has(`${address} ${port}`) },
  )
  const { found } = places(false, rules, true)
  expect(found.find('127.0.0.1:81')).toMatchObject({ label: '127.0.0.1:81' })
  own.add('127.0.0.1 81')
  expect(found.find('127.0.0.1:81')).toMatchObject({ code: 'destination-not-allowed' })
})

test.each(['127.0.0.1', '::1'])('behind a proxy server, localhost is refused if the gateway listens at %s', (own) => {
  const permitted = ['127.0.0.0/8', '::1'].map((network) => parseNetwork(network)!)
  const rules = new ForwardRules(permitted, {
    ...UNKNOWN_MACHINE,
    isListener: (address, port) => address === own && port === 81,
  })
  const { found } = places(false, rules, true)
  expect(found.find('localhost:81')).toMatchObject({ detail: 'localhost:81 is the gateway itself' })
  expect(found.find('localhost:82')).toMatchObject({ label: 'localhost:82' })
})

test('permitted networks are found', () => {
  const rules = new ForwardRules([parseNetwork('127.0.0.0/8')!])
  expect(places(false, rules).found.find('127.0.0.1:81')).toMatchObject({ label: '127.0.0.1:81' })
})

test('a place is compiled once, and a limited number is remembered', () => {
  const { found, compiled } = places()
  expect(found.find('a.test')).toBe(found.find('a.test'))
  expect(compiled).toEqual(['a.test 80 true'])
  for (let i = 0; i < 256; i++) found.find(`${i}.test`)
  found.find('255.test')
  expect(compiled).toHaveLength(257)
  found.find('a.test')
  expect(compiled).toHaveLength(258)
})

test('an endpoint with a place of its own ignores what the request names', () => {
  const place = { label: '192.0.2.1:80', destinations: {} as never }
  expect(findPlace(place, '127.0.0.1')).toBe(place)
})
