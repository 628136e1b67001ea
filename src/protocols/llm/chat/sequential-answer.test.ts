import { expect, test } from 'vitest'
import { type Call, Told, tell } from '#test/llm/harness.ts'
import { SequentialAnswer } from './sequential-answer.ts'

function sequence(...calls: readonly Call[]): readonly Call[] {
  const told = new Told()
  tell(calls, new SequentialAnswer(told, undefined))
  return told.calls
}

test('what does not overlap passes at once, in its order', () => {
  const calls: Call[] = [
    ['start', 'a', 'm'],
    ['thinking', 0, 'Hm.'],
    ['signature', 0, 's'],
    ['close', 0],
    ['text', 1, 'A'],
    ['citation', 1, { url: 'u' }],
    ['close', 1],
    ['call', 2, 'x', 'f'],
    ['arguments', 2, '{}'],
    ['close', 2],
    ['finish', 'calls'],
    ['end'],
  ]
  expect(sequence(...calls)).toEqual(calls)
})

test('a text ends when something else begins, and goes on as a new block', () => {
  expect(sequence(['text', 0, 'A'], ['thinking', 1, 'Hm.'], ['text', 0, 'B'], ['close', 1], ['close', 0])).toEqual([
    ['text', 0, 'A'],
    ['close', 0],
    ['thinking', 1, 'Hm.'],
    ['close', 1],
    ['text', 0, 'B'],
    ['close', 0],
  ])
})

test('what begins before a call is complete waits for it', () => {
  const before: Call[] = [
    ['call', 0, 'x', 'f'],
    ['call', 1, 'y', 'g'],
    ['arguments', 1, '{"b"'],
    ['text', 2, 'T'],
    ['refusal', 3, 'R'],
    ['redacted', 4, 'D'],
    ['arguments', 0, '{}'],
  ]
  const first: Call[] = [
    ['call', 0, 'x', 'f'],
    ['arguments', 0, '{}'],
  ]
  expect(sequence(...before)).toEqual(first)
  const second: Call[] = [
    ['close', 0],
    ['call', 1, 'y', 'g'],
    ['arguments', 1, '{"b"'],
  ]
  expect(sequence(...before, ['close', 0])).toEqual([...first, ...second])
  // From there on, the second call passes at once, and the rest when it ends.
  expect(sequence(...before, ['close', 0], ['arguments', 1, ':1}'])).toEqual([
    ...first,
    ...second,
    ['arguments', 1, ':1}'],
  ])
  expect(sequence(...before, ['close', 0], ['close', 2], ['close', 1], ['close', 3], ['close', 4]).slice(5)).toEqual([
    ['close', 1],
    ['text', 2, 'T'],
    ['close', 2],
    ['refusal', 3, 'R'],
    ['close', 3],
    ['redacted', 4, 'D'],
    ['close', 4],
  ])
})

test('a call that began and ended while it waited is complete', () => {
  const calls: Call[] = [
    ['call', 0, 'x', 'f'],
    ['call', 1, 'y', 'g'],
    ['close', 1],
    ['call', 2, 'z', 'h'],
    ['close', 0],
    ['close', 2],
  ]
  expect(sequence(...calls)).toEqual([
    ['call', 0, 'x', 'f'],
    ['close', 0],
    ['call', 1, 'y', 'g'],
    ['close', 1],
    ['call', 2, 'z', 'h'],
    ['close', 2],
  ])
})

test('a failure passes at once, without what waited', () => {
  const error = { status: 500, type: undefined, message: 'Sorry.', code: undefined, param: undefined }
  expect(sequence(['call', 0, 'x', 'f'], ['text', 1, 'T'], ['fail', error], ['end'])).toEqual([
    ['call', 0, 'x', 'f'],
    ['fail', { status: 500, message: 'Sorry.' }],
    ['end'],
  ])
})
