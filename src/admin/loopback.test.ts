import { expect, test } from 'vitest'
import { isLoopback, refuseOutsiders } from './loopback.ts'

const hosts: readonly (readonly [host: string, loopback: boolean])[] = [
  ['127.0.0.1', true],
  ['127.10.0.3', true],
  ['::1', true],
  ['0:0:0:0:0:0:0:1', true],
  ['::ffff:127.0.0.1', true],
  ['localhost', true],
  ['LocalHost.', true],
  ['shop.localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['10.0.0.1', false],
  ['localhost.example.com', false],
  ['notlocalhost', false],
  ['127.0.0.1.example.com', false],
  ['', false],
]

for (const [host, loopback] of hosts) {
  test(`"${host}" is ${loopback ? '' : 'not '}loopback`, () => expect(isLoopback(host)).toBe(loopback))
}

const callers: readonly (readonly [what: string, headers: Record<string, string>, refused: boolean])[] = [
  ['a program', { host: '127.0.0.1:15000' }, false],
  ['a program that says localhost', { host: 'localhost:15000' }, false],
  ['a program on IPv6', { host: '[::1]:15000' }, false],
  ['no Host at all', {}, true],
  ['a foreign name that resolves to loopback', { host: 'rebind.example.com:15000' }, true],
  ['a name that begins like an address', { host: '127.0.0.1.example.com' }, true],
  ['a browser whose address bar was typed into', { host: 'localhost:15000', 'sec-fetch-site': 'none' }, false],
  ['a page of the server itself', { host: 'localhost:15000', 'sec-fetch-site': 'same-origin' }, false],
  ['a page of another port', { host: 'localhost:15000', 'sec-fetch-site': 'same-site' }, true],
  ['a page of another site', { host: 'localhost:15000', 'sec-fetch-site': 'cross-site' }, true],
  ['a form of the server itself', { host: 'localhost:15000', origin: 'http://localhost:15000' }, false],
  ['a form of another port', { host: 'localhost:15000', origin: 'http://localhost:3000' }, true],
  ['a page without an origin', { host: 'localhost:15000', origin: 'null' }, true],
]

for (const [what, headers, refused] of callers) {
  test(`${refused ? 'refuses' : 'serves'} ${what}`, () =>
    expect(refuseOutsiders(headers, '127.0.0.1')?.status).toBe(refused ? 403 : undefined))
}

test.each([undefined, '192.0.2.1', '::ffff:192.0.2.1'])('refuses a program at the address %s', (address) => {
  expect(refuseOutsiders({ host: 'localhost:15000' }, address)?.status).toBe(403)
})

test.each(['127.0.0.1', '127.8.0.1', '::1', '::ffff:127.0.0.1'])('serves a program at the address %s', (address) => {
  expect(refuseOutsiders({ host: 'localhost:15000' }, address)).toBe(undefined)
})
