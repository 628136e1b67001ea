import { expect, test, vi } from 'vitest'
import { rememberRecent } from './remember-recent.ts'

const lengthOf = (name: string) => name.length

test('a name is computed once', () => {
  const find = vi.fn(lengthOf)
  const remembered = rememberRecent(find)
  expect([remembered('abc'), remembered('abc'), remembered('d')]).toEqual([3, 3, 1])
  expect(find).toHaveBeenCalledTimes(2)
})

test('200 names are remembered; the next one begins anew', () => {
  const find = vi.fn(lengthOf)
  const remembered = rememberRecent(find)
  for (let i = 0; i < 200; i++) remembered(`n${i}`)
  remembered('n0')
  expect(find).toHaveBeenCalledTimes(200)
  remembered('another')
  remembered('n0')
  expect(find).toHaveBeenCalledTimes(202)
})

test('names of up to 200 characters are remembered', () => {
  const find = vi.fn(lengthOf)
  const remembered = rememberRecent(find)
  for (const length of [200, 200, 201, 201]) expect(remembered('x'.repeat(length))).toBe(length)
  expect(find).toHaveBeenCalledTimes(3)
})
