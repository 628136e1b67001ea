import { expect, test } from 'vitest'
import { hostAddress, isLoopbackAddress, socketAddress } from './address.ts'

test.each([
  ['a.test', 'a.test', 'a.test'],
  ['10.0.0.1', '10.0.0.1', undefined],
  ['[::1]', '::1', undefined],
  ['::1', '::1', undefined],
  ['1.2.3.4.test', '1.2.3.4.test', '1.2.3.4.test'],
])('the address of %s: host %s, host name %s', (written, host, hostname) => {
  expect(hostAddress({ host: written, port: 80 })).toEqual({
    host,
    port: 80,
    unixPath: undefined,
    section: undefined,
    hostname,
    tls: false,
    version: undefined,
  })
  expect(hostAddress({ host: written, port: 80 }, 'one', true)).toMatchObject({ section: 'one', tls: true })
})

test('the address of a socket', () => {
  expect(socketAddress('/run/a')).toMatchObject({ unixPath: '/run/a', hostname: undefined })
})

test.each([
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['128.0.0.1', false],
  ['::', false],
  ['10.127.0.1', false],
])('%s is a loopback address: %s', (address, expected) => {
  expect(isLoopbackAddress(address)).toBe(expected)
})
