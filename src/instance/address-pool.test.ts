import { expect, test } from 'vitest'
import { AddressPool, BadAddressPool } from './address-pool.ts'

test('every Gateway has an address of its own and keeps it', () => {
  const pool = new AddressPool('127.10.0.0/16')
  expect(pool.addressOf('default/a')).toBe('127.10.0.1')
  expect(pool.addressOf('default/b')).toBe('127.10.0.2')
  expect(pool.addressOf('default/a')).toBe('127.10.0.1')
})

test('a range that is written with host bits begins at its network', () => {
  expect(new AddressPool('127.9.1.7/30').addressOf('x/y')).toBe('127.9.1.5')
})

test('a pool runs out with a message', () => {
  const pool = new AddressPool('127.0.5.0/31')
  pool.addressOf('default/a')
  expect(() => pool.addressOf('default/b')).toThrow(/no address is left for Gateway default\/b/)
})

test.each(['10.0.0.0/8', '127.0.0.0', 'nonsense', '126.0.0.0/7', '::1/128'])('%s is refused', (range) => {
  expect(() => new AddressPool(range)).toThrow(BadAddressPool)
})
