import { afterEach, beforeEach, expect, test } from 'vitest'
import { importKey } from '#test/support/import-key.ts'
import { createSigningKey, keySetOf } from '#test/support/token-issuer.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { type KeySetState, keySetId, RemoteKeySet, RemoteKeySets } from './remote-key-set.ts'

const ADDRESS = { backend: 'Service/default/idp/80', path: '/keys', cacheMs: 300_000 }
const ID = 'Service/default/idp/80 /keys'
const ONE = keySetOf(createSigningKey('P-256', 'one'))
const TWO = keySetOf(createSigningKey('P-256', 'two'))

const stateOf = (value: string | undefined, more: Partial<KeySetState> = {}): KeySetState => ({
  id: ID,
  value,
  fetchedMs: 7,
  failure: undefined,
  final: true,
  restMs: 0,
  ...more,
})

let time: VirtualTime
let requested: string[]
let set: RemoteKeySet
beforeEach(() => {
  time = new VirtualTime()
  requested = []
  set = new RemoteKeySet(ADDRESS, importKey, (id) => requested.push(id))
})
afterEach(() => time[Symbol.dispose]())

/** Whether a wait has ended. */
async function isOver(waiting: Promise<void> | undefined): Promise<boolean> {
  let over = false
  void waiting?.then(() => {
    over = true
  })
  await time.pass(0)
  return over
}

test('keys change with the text of the set; the same text keeps the same object', () => {
  expect([set.fetched, set.keys.size]).toEqual([false, 0])
  set.update(stateOf(ONE))
  const { keys } = set
  expect([set.fetched, [...keys.keys()]]).toEqual([true, ['one']])
  set.update(stateOf(ONE, { failure: 'timeout' }))
  expect([set.keys === keys, set.state?.failure]).toEqual([true, 'timeout'])
  set.update(stateOf(TWO))
  expect([[...set.keys.keys()], set.faults]).toEqual([['two'], []])
  set.update(stateOf('{"keys":[1]}'))
  expect([set.keys.size, set.faults]).toEqual([0, ['keys[0] is not used: it is not an object']])
})

test('all waiting requests share one fetch, and continue after it', async () => {
  const waits = Array.from({ length: 5 }, () => set.renew())
  expect(requested).toEqual([ID])
  expect(await isOver(waits[0])).toBe(false)
  set.update(stateOf(undefined, { failure: 'timeout', final: false }))
  expect(await isOver(waits[0]), 'the first attempts go on').toBe(false)
  set.update(stateOf(ONE))
  await Promise.all(waits)
  expect(time.nextMs, 'no timer is left').toBeUndefined()
})

test('the main thread learns which value the thread has', () => {
  const asked: unknown[] = []
  const own = new RemoteKeySets(importKey, (...question) => asked.push(question)).at(ADDRESS)
  void own.renew()
  own.update(stateOf(ONE, { fetchedMs: 7 }))
  void own.renew()
  expect(asked).toEqual([
    [ID, 0],
    [ID, 7],
  ])
})

test('a request waits at most five seconds, and the next one starts another fetch', async () => {
  const wait = set.renew()
  await time.pass(4999)
  expect(await isOver(wait)).toBe(false)
  await time.pass(1)
  expect(await isOver(wait)).toBe(true)
  set.renew()
  expect(requested).toEqual([ID, ID])
})

test('no fetch is requested during the minimum interval', async () => {
  set.update(stateOf(ONE, { restMs: 10_000 }))
  expect(set.renew()).toBeUndefined()
  await time.pass(9999)
  expect(set.renew()).toBeUndefined()
  await time.pass(1)
  expect(set.renew()).toBeInstanceOf(Promise)
  expect(requested).toEqual([ID])
})

test('the number of waiting requests is limited', () => {
  const waits = Array.from({ length: 1100 }, () => set.renew())
  expect(waits.filter((wait) => wait !== undefined)).toHaveLength(1024)
  expect(requested).toHaveLength(1)
})

test('the reason for missing keys', () => {
  const where = '(GET /keys of Service/default/idp/80)'
  expect(set.unavailableReason).toBe(
    `the key set of the issuer has not been fetched ${where}: the server has not answered yet`,
  )
  set.update(stateOf(undefined, { failure: 'timeout' }))
  expect(set.unavailableReason).toBe(`the key set of the issuer has not been fetched ${where}: timeout`)
  const explained = new RemoteKeySet(ADDRESS, importKey, undefined)
  expect(explained.unavailableReason).toBe(`without --call, the key set of the issuer is not fetched ${where}`)
  expect(explained.renew()).toBeUndefined()
})

test('policies with the same address share a key set, whose state may arrive before they are compiled', () => {
  const sets = new RemoteKeySets(importKey, (id) => requested.push(id))
  sets.update(stateOf(ONE))
  const one = sets.at(ADDRESS)
  expect([...one.keys.keys()]).toEqual(['one'])
  expect(sets.at({ ...ADDRESS, cacheMs: 600_000 })).toBe(one)
  const others = [{ path: '/others' }, { backend: 'Service/default/idp/81' }]
  for (const other of others) expect(sets.at({ ...ADDRESS, ...other })).not.toBe(one)
  sets.update(stateOf(TWO))
  expect([...one.keys.keys()]).toEqual(['two'])
  one.renew()
  expect(requested).toEqual([ID])
  sets.remove(keySetId(ADDRESS))
  sets.update(stateOf(TWO))
  sets.remove(keySetId(ADDRESS))
  expect(sets.at(ADDRESS).fetched).toBe(false)
})
