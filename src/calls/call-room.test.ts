import { expect, test } from 'vitest'
import { CallRoom } from './call-room.ts'

/** A room of two, and the names of those who went on, in order. */
function roomOfTwo() {
  const room = new CallRoom()
  const went: string[] = []
  const goers = new Map<string, () => void>()
  const goerOf = (name: string) => {
    const go = goers.get(name) ?? (() => went.push(name))
    goers.set(name, go)
    return go
  }
  return {
    room,
    went,
    enter: (name: string, key = 'a') => room.enter(key, 2, goerOf(name)),
    forget: (name: string, key = 'a') => room.forget(key, goerOf(name)),
  }
}

test('two are busy, the others go on in the order in which they came', () => {
  const { room, went, enter } = roomOfTwo()
  for (const name of ['1', '2', '3', '4']) expect(enter(name)).toBe(true)
  expect(went).toEqual(['1', '2'])
  room.leave('a')
  room.leave('a')
  expect(went).toEqual(['1', '2', '3', '4'])
  room.leave('a')
  room.leave('a')
  expect(enter('5')).toBe(true)
  expect(went.at(-1)).toBe('5')
})

test('destinations do not wait for each other', () => {
  const { went, enter } = roomOfTwo()
  for (const [name, key] of [
    ['1', 'a'],
    ['2', 'a'],
    ['3', 'b'],
  ] as const)
    enter(name, key)
  expect(went).toEqual(['1', '2', '3'])
})

test('a call that stopped waiting is skipped', () => {
  const { room, went, enter, forget } = roomOfTwo()
  for (const name of ['1', '2', '3', '4']) enter(name)
  expect([forget('3'), forget('3'), forget('1'), forget('x', 'b')]).toEqual([true, false, false, false])
  room.leave('a')
  expect(went).toEqual(['1', '2', '4'])
})

test('a line has an end', () => {
  const { went, enter } = roomOfTwo()
  for (let i = 0; i < 1002; i++) expect(enter(`${i}`)).toBe(true)
  expect(enter('one too many')).toBe(false)
  expect(went).toEqual(['0', '1'])
})
