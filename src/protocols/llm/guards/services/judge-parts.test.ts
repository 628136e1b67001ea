import { expect, test } from 'vitest'
import { judgeParts } from './judge-parts.ts'
import type { GuardSurroundings, ServiceVerdict } from './service.ts'
import { around, fakeCall } from './testing.ts'

const PASS: ServiceVerdict = { kind: 'pass' }
const REJECT: ServiceVerdict = { kind: 'reject' }

/** Parts that are judged when the test says so. */
function parts(count: number) {
  const surroundings = around(fakeCall(() => ({})).call)
  const asked: { readonly signal: AbortSignal; readonly answer: (verdict: ServiceVerdict) => void }[] = []
  const judge = (_: number, { signal }: GuardSurroundings) =>
    new Promise<ServiceVerdict>((answer) => void asked.push({ signal, answer }))
  const numbers = Array.from({ length: count }, (_, index) => index)
  return { asked, surroundings, verdict: judgeParts(numbers, surroundings, judge) }
}

test('the first verdict in order that is not a pass counts, and ends the other questions', async () => {
  const { asked, verdict } = parts(6)
  expect(asked).toHaveLength(4)
  asked[2]!.answer({ kind: 'failed', detail: 'it is down' })
  asked[0]!.answer(PASS)
  await Promise.resolve()
  expect(asked[3]!.signal.aborted).toBe(false)
  asked[1]!.answer(REJECT)
  expect(await verdict).toEqual(REJECT)
  expect(asked[3]!.signal.aborted).toBe(true)
  expect(asked).toHaveLength(4)
})

test('the next parts are judged after the first four', async () => {
  const { asked, verdict } = parts(5)
  for (const { answer } of asked) answer(PASS)
  await expect.poll(() => asked.length).toBe(5)
  asked[4]!.answer({ ...PASS, requestId: 'last' })
  expect(await verdict).toEqual({ kind: 'pass', requestId: 'last' })
  expect(asked.every(({ signal }) => !signal.aborted)).toBe(true)
})

test('no part passes, and one part is asked as it is', async () => {
  expect(await parts(0).verdict).toEqual(PASS)
  const { asked, surroundings, verdict } = parts(1)
  expect(asked[0]!.signal).toBe(surroundings.signal)
  asked[0]!.answer(REJECT)
  expect(await verdict).toEqual(REJECT)
})
