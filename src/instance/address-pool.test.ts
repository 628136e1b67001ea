import { expect, test } from 'vitest'
import type { GatewayObject } from '#api/gateway.ts'
import { Translator } from '#control/translator.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { AddressPool, BadAddressPool } from './address-pool.ts'

/** @param wanted the values of its `spec.addresses` */
function gateway(name: string, ...wanted: readonly string[]): GatewayObject {
  return admitObject({
    kind: 'Gateway',
    metadata: { name },
    spec: {
      gatewayClassName: 'gatewright',
      addresses: wanted.map((value) => ({ type: 'IPAddress', value })),
      listeners: [{ name: 'http', port: 8080, protocol: 'HTTP' }],
    },
  }) as GatewayObject
}

test('every Gateway has an address of its own and keeps it', () => {
  const pool = new AddressPool('127.10.0.0/16')
  expect(pool.assign(gateway('a'))).toBe('127.10.0.1')
  expect(pool.assign(gateway('b'))).toBe('127.10.0.2')
  expect(pool.assign(gateway('a'))).toBe('127.10.0.1')
})

test('a range that is written with host bits begins at its network', () => {
  expect(new AddressPool('127.9.1.7/30').assign(gateway('a'))).toBe('127.9.1.5')
})

test('the lowest free address is assigned again, and there may be none', () => {
  const pool = new AddressPool('127.0.5.0/30')
  expect(['a', 'b', 'c', 'd'].map((name) => pool.assign(gateway(name)))).toEqual([
    '127.0.5.1',
    '127.0.5.2',
    '127.0.5.3',
    undefined,
  ])
  pool.release('Gateway/default/b')
  pool.release('Gateway/default/never-seen')
  expect(pool.assign(gateway('d'))).toBe('127.0.5.2')
  expect(pool.assign(gateway('e'))).toBeUndefined()
})

test('a Gateway may ask for a free address of the pool, and for another one later', () => {
  const pool = new AddressPool('127.0.5.0/30')
  expect(pool.assign(gateway('a', '127.0.5.2'))).toBe('127.0.5.2')
  expect(pool.assign(gateway('b', '127.0.5.2'))).toBe('127.0.5.1')
  expect(pool.assign(gateway('a', '127.0.5.3'))).toBe('127.0.5.3')
  expect(pool.assign(gateway('b', '127.0.5.2'))).toBe('127.0.5.2')
})

test('a Gateway keeps the address that it has while it asks for it among others', () => {
  const pool = new AddressPool('127.0.5.0/29')
  expect(pool.assign(gateway('a', '127.0.5.2'))).toBe('127.0.5.2')
  for (let i = 0; i < 3; i++) expect(pool.assign(gateway('b', '127.0.5.2', '127.0.5.4', '127.0.5.5'))).toBe('127.0.5.4')
})

test.each(['127.0.5.0', '127.0.6.1', '127.0.4.255', '::1', 'nonsense', ''])('%j is not in the pool', (wanted) => {
  expect(new AddressPool('127.0.5.0/30').assign(gateway('a', wanted))).toBe('127.0.5.1')
})

test.each(['10.0.0.0/8', '127.0.0.0', 'nonsense', '126.0.0.0/7', '127.0.0.1/32', '::1/128'])(
  '%s is refused',
  (range) => {
    expect(() => new AddressPool(range)).toThrow(BadAddressPool)
  },
)

function stateOf(translator: Translator, name: string) {
  const { status } = translator.translation.statuses.find((written) => written.name === name)!
  const { addresses, conditions } = status as {
    readonly addresses: readonly { readonly value: string }[]
    readonly conditions: readonly { readonly type: string; readonly reason: string }[]
  }
  const programmed = conditions.find(({ type }) => type === 'Programmed')!.reason
  return { addresses: addresses.map(({ value }) => value), programmed }
}

test('a Gateway without an address is not served, says so, and is served when an address becomes free', () => {
  const translator = new Translator({ addresses: new AddressPool('127.0.5.0/30') })
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => gateway(name)) as [GatewayObject, ...GatewayObject[]]
  const served = { addresses: ['127.0.5.1'], programmed: 'Pending' }
  translator.apply({ set: [a, b!, c!], removed: [] })
  expect(stateOf(translator, 'a')).toEqual(served)

  const added = translator.apply({ set: [d!], removed: [] })
  expect(stateOf(translator, 'd')).toEqual({ addresses: [], programmed: 'NoResources' })
  expect(translator.findings).toMatchObject([
    {
      origin: { name: 'd' },
      code: 'address-not-usable',
      path: 'spec',
      message: expect.stringContaining('127.0.5.0/30'),
    },
  ])
  expect(added.set.filter(({ kind }) => kind === 'listener')).toEqual([])
  expect(stateOf(translator, 'a')).toEqual(served)

  translator.apply({ set: [], removed: [a] })
  expect(stateOf(translator, 'd')).toEqual(served)
  expect(translator.findings).toEqual([])
})
