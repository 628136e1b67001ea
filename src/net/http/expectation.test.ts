import { expect, test } from 'vitest'
import { Expectation } from './expectation.ts'
import { BODY_LENGTH, BODY_NONE } from './framing.ts'
import { Head } from './head.ts'

function expectationOf(expectsContinue: boolean, kind: typeof BODY_NONE | typeof BODY_LENGTH): Expectation {
  const head = new Head()
  head.expectsContinue = expectsContinue
  const expectation = new Expectation()
  expectation.begin(head, kind)
  return expectation
}

test.each([
  [true, BODY_LENGTH, true],
  [true, BODY_NONE, false],
  [false, BODY_LENGTH, false],
] as const)('expected %s, body kind %i: 100 is owed %s', (expected, kind, owed) => {
  expect(expectationOf(expected, kind).owed).toBe(owed)
  expect(expectationOf(expected, kind).pass()).toBe(owed)
  expect(expectationOf(expected, kind).bodyWanted()).toBe(owed)
})

test('100 is sent once, when the body is read', () => {
  const expectation = expectationOf(true, BODY_LENGTH)
  expect([expectation.bodyWanted(), expectation.owed]).toEqual([true, false])
  expect([expectation.bodyWanted(), expectation.answered(), expectation.pass()]).toEqual([false, false, false])
})

test('an expectation that was passed on waits for its answer', () => {
  const expectation = expectationOf(true, BODY_LENGTH)
  expect([expectation.pass(), expectation.bodyWanted(), expectation.owed]).toEqual([true, false, true])
  expect([expectation.answered(), expectation.answered()]).toEqual([true, false])
})

test('the next request on the connection begins anew', () => {
  const expectation = expectationOf(true, BODY_LENGTH)
  expectation.pass()
  const next = new Head()
  next.expectsContinue = true
  expectation.begin(next, BODY_LENGTH)
  expect(expectation.bodyWanted()).toBe(true)
})
