import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PasswordVerdict } from '#policies/shared/authentication/password-checker.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { ThreadChecker } from './thread-checker.ts'

const HASH = '$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/'
const SHA1 = '{SHA}VBPuJHI7uixaa6LQGWx4s+5GKNE='

let time: VirtualTime
let asked: { readonly password: string; readonly settle: (verdict: PasswordVerdict) => void }[]
let isFull: boolean
let checker: ThreadChecker

beforeEach(() => {
  time = new VirtualTime()
  asked = []
  isFull = false
  checker = new ThreadChecker({
    check: (password) => (isFull ? 'busy' : new Promise((settle) => asked.push({ password, settle }))),
  })
})
afterEach(() => time[Symbol.dispose]())

/** Checks, and lets the thread say `verdict`. */
async function checked(verdict: PasswordVerdict, ...question: Parameters<ThreadChecker['check']>) {
  const result = checker.check(...question)
  asked.at(-1)?.settle(verdict)
  return result
}

test('a right password is remembered for a minute', async () => {
  expect(await checked('right', 'p', HASH)).toBe('right')
  await time.pass(59_999)
  expect(checker.check('p', HASH)).toBe('right')
  await time.pass(1)
  expect(checker.check('p', HASH)).toBeInstanceOf(Promise)
  expect(asked).toHaveLength(2)
})

test('it is remembered for that password and that hash only', async () => {
  await checked('right', 'p', HASH)
  expect(checker.check('q', HASH)).toBeInstanceOf(Promise)
  expect(checker.check('p', HASH.replace('r31', 'r32'))).toBeInstanceOf(Promise)
  for (const name of ['nobody', '']) expect(checker.check('p', HASH, name)).toBeInstanceOf(Promise)
})

test('a wrong password is checked again', async () => {
  expect(await checked('wrong', 'p', HASH)).toBe('wrong')
  expect(await checked('right', 'p', HASH)).toBe('right')
})

test('an unknown user costs a check, and is refused even with the password of another user', async () => {
  expect(await checked('right', 'p', HASH, 'nobody')).toBe('wrong')
  expect(await checked('right', 'p', HASH, 'nobody')).toBe('wrong')
  expect(asked).toHaveLength(2)
  expect(checker.check('myPassword', SHA1, 'nobody')).toBe('wrong')
})

test('equal checks at the same time are one, also those of an unknown user', async () => {
  const all = [
    checker.check('p', HASH),
    checker.check('p', HASH),
    checker.check('p', HASH, 'x'),
    checker.check('p', HASH, 'x'),
    checker.check('p', HASH, 'y'),
  ]
  expect(asked).toHaveLength(3)
  for (const { settle } of asked) settle('right')
  expect(await Promise.all(all)).toEqual(['right', 'right', 'wrong', 'wrong', 'wrong'])
})

test('without room in the queue nothing is concluded or remembered', async () => {
  isFull = true
  expect(checker.check('p', HASH)).toBe('busy')
  expect(checker.check('p', HASH, 'nobody')).toBe('busy')
  isFull = false
  expect(await checked('busy', 'p', HASH)).toBe('busy')
  expect(await checked('busy', 'p', HASH, 'nobody')).toBe('busy')
  expect(await checked('right', 'p', HASH)).toBe('right')
})

test('a SHA-1 is computed at once', () => {
  expect(checker.check('myPassword', SHA1)).toBe('right')
  expect(checker.check('other', SHA1)).toBe('wrong')
  expect(asked).toEqual([])
})

test('at most 4,096 passwords are remembered; the oldest is forgotten first', async () => {
  for (let i = 0; i < 4096; i++) await checked('right', `p${i}`, HASH)
  expect(checker.check('p0', HASH)).toBe('right')
  await checked('right', 'one more', HASH)
  expect(checker.check('p0', HASH)).toBeInstanceOf(Promise)
  expect(checker.check('p1', HASH)).toBe('right')
})
