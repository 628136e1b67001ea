import { expect, test } from 'vitest'
import { ForwardRules, type Network, parseNetwork } from './forward-rules.ts'
import type { OperatorServer } from './own-machine.ts'
import { ownMachine } from './own-sockets.ts'

const networks = (...texts: string[]): Network[] => texts.map((text) => parseNetwork(text)!)

test.each([
  ['127.0.0.1', 'a loopback address'],
  ['127.255.255.254', 'a loopback address'],
  ['::1', 'a loopback address'],
  ['0.0.0.0', 'an unspecified address'],
  ['0.1.2.3', 'an unspecified address'],
  ['::', 'an unspecified address'],
  ['169.254.0.1', 'a link-local address'],
  ['169.254.169.254', 'a link-local address'],
  ['fe80::1', 'a link-local address'],
  ['febf::1', 'a link-local address'],
  ['224.0.0.1', 'a multicast address'],
  ['239.255.255.255', 'a multicast address'],
  ['ff02::1', 'a multicast address'],
  ['255.255.255.255', 'a broadcast address'],
  ['fd00:ec2::254', 'a metadata address'],
  ['fd20:ce::254', 'a metadata address'],
  ['fd00:42::42', 'a metadata address'],
  ['100.100.100.200', 'a metadata address'],
  ['168.63.129.16', 'a metadata address'],
  ['192.0.0.192', 'a metadata address'],
  ['::ffff:127.0.0.1', 'a loopback address'],
  ['::ffff:7f00:1', 'a loopback address'],
  ['0:0:0:0:0:ffff:169.254.169.254', 'a link-local address'],
  ['::127.0.0.1', 'a loopback address'],
  ['::ffff:0:127.0.0.1', 'a loopback address'],
  ['64:ff9b::a9fe:a9fe', 'a link-local address'],
  ['64:ff9b:1::7f00:1', 'a loopback address'],
  // 127.0.0.1 after a prefix of 48, 56 and 64 bits (RFC 6052, 2.2), with an address of another kind elsewhere.
  ['64:ff9b:1:7f00:0:100:808:808', 'a loopback address'],
  ['64:ff9b:1:87f:0:1:808:808', 'a loopback address'],
  ['64:ff9b:1:808:7f:0:108:808', 'a loopback address'],
  ['2002:7f00:1::', 'a loopback address'],
  ['2002:a9fe:a9fe::1', 'a link-local address'],
  // The client of a Teredo address is 127.0.0.1, inverted.
  ['2001:0:4136:e378:8000:63bf:80ff:fffe', 'a loopback address'],
])('%s is not forwarded to: %s', (address, name) => {
  expect(new ForwardRules().refuse(address, 80)).toBe(`${address} is ${name}`)
})

test.each(['fe80::1%eth0', 'fe80::1%1', '::1%lo', '0x7f.1', '0177.0.0.1', '2130706433', '127.1', 'localhost', ''])(
  '%j is not an address',
  (address) => {
    expect(new ForwardRules().refuse(address, 80)).toBeDefined()
    expect(
      new ForwardRules(networks('0.0.0.0/0', '::/0')).refuse(address.includes('%') ? address : '', 80),
    ).toBeDefined()
  },
)

test.each([
  '192.0.2.1',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '126.255.255.255',
  '128.0.0.1',
  '2001:db8::1',
  'fd00::1',
  '::ffff:192.0.2.1',
  '2002:c000:201::1',
  '64:ff9b::c000:201',
  '64:ff9b:1::c000:201',
  '64:ff9b:1:c000:2:100::',
])('%s is forwarded to', (address) => {
  expect(new ForwardRules().refuse(address, 80)).toBeUndefined()
})

test('named networks are permitted, in any spelling of their addresses; others stay refused', () => {
  const rules = new ForwardRules(networks('127.0.0.0/24', '169.254.169.254', 'fe80::/64'))
  for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '64:ff9b::7f00:1', '169.254.169.254', 'fe80::1']) {
    expect(rules.refuse(address, 80), address).toBeUndefined()
  }
  for (const address of ['127.0.1.1', '::1', '169.254.169.253', 'fe80:0:0:1::1']) {
    expect(rules.refuse(address, 80), address).toBeDefined()
  }
})

test('each address that may be meant must be permitted', () => {
  const rules = new ForwardRules(networks('127.0.0.0/8'))
  expect(rules.refuse('64:ff9b:1::7f00:1', 80)).toBeUndefined()
  // 169.254.169.254 after a prefix of 48 bits, 127.0.0.1 after one of 96.
  expect(rules.refuse('64:ff9b:1:a9fe:a9:fe00:7f00:1', 80)).toBe(
    '64:ff9b:1:a9fe:a9:fe00:7f00:1 is a link-local address',
  )
})

test.each(['', '10.0.0.0/33', 'x', '127.1', '10.0.0.0/', 'fe80::1%eth0', '::/129'])('%j is not a network', (text) => {
  expect(parseNetwork(text)).toBeUndefined()
})

test('sockets of the gateway are refused, also in permitted networks and other spellings', () => {
  const own = ownMachine({
    listeners: () => [
      { address: '127.0.0.1', port: 8080 },
      { address: '0:0:0:0:0:0:0:1', port: 9000 },
    ],
    servers: () => [{ server: 'metrics', address: '0.0.0.0', port: 15020 }],
    interfaces: () => ['127.0.0.1', '10.1.2.3', 'fd00::7'],
  })
  const rules = new ForwardRules(networks('0.0.0.0/0', '::/0'), own)
  for (const [address, port] of [
    ['127.0.0.1', 8080],
    ['::ffff:127.0.0.1', 8080],
    ['0.0.0.0', 8080],
    ['::', 9000],
    ['::1', 9000],
    ['10.1.2.3', 15020],
    ['127.0.0.9', 15020],
    ['fd00::7', 15020],
  ] as const) {
    expect(rules.refuse(address, port), address).toBe(`${address}:${port} is the gateway itself`)
  }
  for (const [address, port] of [
    ['127.0.0.2', 8080],
    ['127.0.0.1', 8081],
    ['10.1.2.4', 15020],
  ] as const) {
    expect(rules.refuse(address, port), address).toBeUndefined()
  }
})

test('addresses of interfaces are the machine of the gateway, unless they are permitted', () => {
  const own = ownMachine({ interfaces: () => ['127.0.0.1', '10.1.2.3', 'FD00:0::7', 'fe80::9%eth0'] })
  const rules = new ForwardRules([], own)
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '64:ff9b::a01:203', 'fd00::7']) {
    expect(rules.refuse(address, 5432), address).toBe(`${address} is an address of this machine`)
  }
  expect(rules.refuse('10.1.2.4', 5432)).toBeUndefined()
  expect(new ForwardRules(networks('10.1.2.3'), own).refuse('10.1.2.3', 5432)).toBeUndefined()
})

const OPERATORS = {
  admin: { address: '127.0.0.1', port: 15000 },
  api: { address: '0.0.0.0', port: 15010 },
  metrics: { address: '127.0.0.1', port: 15020 },
  readiness: { address: '::1', port: 15021 },
}
const configured = new ForwardRules(
  networks('0.0.0.0/0', '::/0'),
  ownMachine({
    listeners: () => [{ address: '127.0.0.1', port: 8080 }],
    servers: () => Object.entries(OPERATORS).map(([server, at]) => ({ server: server as OperatorServer, ...at })),
    interfaces: () => ['10.1.2.3'],
  }),
)

test.each([
  ['127.0.0.1', 15000],
  ['::ffff:127.0.0.1', 15000],
  ['0:0:0:0:0:ffff:7f00:1', 15000],
  ['0.0.0.0', 15000],
  ['::', 15000],
  ['::ffff:0.0.0.0', 15000],
  ['64:ff9b::7f00:1', 15000],
  ['0x7f.1', 15000],
  ['2130706433', 15000],
  ['127.1', 15000],
  ['localhost', 15000],
  ['LOCALHOST.', 15000],
  ['a.localhost', 15000],
  ['127.0.0.9', 15010],
  ['10.1.2.3', 15010],
  ['::1%lo', 15010],
])('configured destinations never lead to the admin server or the API: %s port %i', (host, port) => {
  const name = port === 15000 ? 'admin server' : 'resource API'
  expect(configured.refuseConfigured(host, port)).toBe(`${host}:${port} is the ${name} of the gateway itself`)
})

test.each([
  ['127.0.0.1', 15020, 'metrics'],
  ['localhost', 15021, 'readiness'],
  ['127.0.0.1', 8080, undefined],
  ['127.0.0.2', 15000, undefined],
  ['10.1.2.4', 15010, undefined],
  ['notlocalhost', 15000, undefined],
  ['169.254.169.254', 80, undefined],
] as const)('a configured destination may be %s port %i, which is %s', (host, port, server) => {
  expect(configured.refuseConfigured(host, port)).toBeUndefined()
  expect(configured.serverAt(host, port)).toBe(server)
})
