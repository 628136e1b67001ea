import { afterEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { SlowHashes } from './slow-hashes.ts'

const HASH = '$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/'
const { monotonic } = clock
const entry = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`)
/** Says that every password is right, and ends at the password `die`. */
const DYING = entry(`
  import { parentPort } from 'node:worker_threads'
  parentPort.on('message', ({ password }) => {
    if (password === 'die') throw new Error('died')
    parentPort.postMessage(true)
  })
`)

const failed: unknown[] = []
const all: SlowHashes[] = []
afterEach(() => {
  clock.monotonic = monotonic
  failed.length = 0
  return Promise.all(all.splice(0).map((slow) => slow.close()))
})

function slowHashes(url?: URL): SlowHashes {
  const slow = new SlowHashes((error) => failed.push(error), url)
  all.push(slow)
  return slow
}

test('the thread says whether a password is right, in order', async () => {
  const slow = slowHashes()
  const verdicts = await Promise.all(
    ['myPassword', 'other', 'myPassword'].map((password) => slow.check(password, HASH)),
  )
  expect(verdicts).toEqual(['right', 'wrong', 'right'])
})

test('64 checks wait beside the one in progress; further ones are refused', async () => {
  const slow = slowHashes(DYING)
  const checks = Array.from({ length: 65 }, () => slow.check('p', HASH))
  expect(checks).not.toContain('busy')
  expect(slow.check('p', HASH)).toBe('busy')
  expect(new Set(await Promise.all(checks))).toEqual(new Set(['right']))
  expect(await slow.check('p', HASH)).toBe('right')
})

test('a check that has waited for more than five seconds is refused', async () => {
  const slow = slowHashes(DYING)
  let now = 0
  clock.monotonic = () => now
  const checks = [slow.check('first', HASH), slow.check('late', HASH)]
  now = 1
  checks.push(slow.check('in time', HASH))
  now = 5001
  expect(await Promise.all(checks)).toEqual(['right', 'busy', 'right'])
})

test('a thread that dies refuses its check, and the next check has a new thread', async () => {
  const slow = slowHashes(DYING)
  const checks = ['die', 'next'].map((password) => slow.check(password, HASH))
  expect(await Promise.all(checks)).toEqual(['busy', 'right'])
  expect(failed).toMatchObject([{ message: 'died' }])
})

test('without a thread there is nothing to close', async () => {
  await slowHashes().close()
})
