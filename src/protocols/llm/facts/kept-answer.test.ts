import { expect, test } from 'vitest'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { KeptAnswer } from './kept-answer.ts'

const ALL = { tokens: false, completion: true, toolCalls: true }

test('parts of texts and calls find each other, in the order in which they began', () => {
  const kept = new KeptAnswer(ALL, 10_000)
  kept.addText(1, 'b')
  kept.addText(0, 'a')
  kept.addText(1, 'B')
  kept.beginCall('x', 'id-1', 'add')
  kept.addArguments('x', '{"n":')
  kept.beginCall('x', undefined, undefined)
  kept.addArguments('x', '12345678901234567890}')
  kept.addArguments('unknown', 'x')
  expect(kept.completion).toEqual(['bB', 'a'])
  expect(JSON.stringify(kept.toolCalls)).toBe('[{"id":"id-1","name":"add","arguments":{"n":12345678901234567890}}]')
})

test.each([
  ['{"city":"Oslo"}', { city: 'Oslo' }],
  ['[1]', [1]],
  ['{"city":"Os', '{"city":"Os'],
  ['', ''],
])('arguments %j are JSON where they can be', (text, value) => {
  const kept = new KeptAnswer(ALL, 10_000)
  kept.beginCall(0, 'i', 'n')
  kept.addArguments(0, text)
  expect(kept.toolCalls).toEqual([{ id: 'i', name: 'n', arguments: value }])
})

test('arguments that are a value stay one', () => {
  for (const value of [{ city: 'Oslo' }, [1], 7, null]) {
    const kept = new KeptAnswer(ALL, 100)
    kept.beginCall(0, 'i', 'n')
    kept.setArguments(0, value)
    kept.addArguments(0, 'more')
    expect([kept.maxLength, kept.toolCalls]).toEqual([100, [{ id: 'i', name: 'n', arguments: value }]])
  }
})

test('a text that is empty so far needs no memory', () => {
  const kept = new KeptAnswer(ALL, 100)
  for (const key of [0, 1, 2]) kept.addText(key, '')
  kept.addText(3, 'a'.repeat(50))
  expect(kept.completion).toEqual(['a'.repeat(36)])
})

test('a text for which there is no memory is not kept', () => {
  const kept = new KeptAnswer(ALL, 100)
  kept.areValidFor(new BodyClaim(new BodyMemory(66)))
  kept.addText(0, 'abc')
  expect([kept.completion, kept.isFull]).toEqual([[], true])
})

test('values other than text are omitted', () => {
  const kept = new KeptAnswer(ALL, 10_000)
  for (const part of [undefined, null, 7, {}, '']) kept.addText(0, part)
  kept.beginCall(0, 7, null)
  kept.addArguments(0, 7)
  expect([kept.completion, kept.toolCalls]).toEqual([[], [{ id: '', name: '', arguments: '' }]])
})

test('only parts that are read are kept', () => {
  const calls = new KeptAnswer({ ...ALL, completion: false }, 10_000)
  const texts = new KeptAnswer({ ...ALL, toolCalls: false }, 10_000)
  for (const kept of [calls, texts]) {
    kept.addText(0, 'text')
    kept.beginCall(0, 'i', 'n')
  }
  expect([calls.completion, calls.toolCalls.length]).toEqual([[], 1])
  expect([texts.completion, texts.toolCalls.length]).toEqual([['text'], 0])
})

test('a long answer is cut off, and many short parts are bounded too', () => {
  const kept = new KeptAnswer(ALL, 200)
  kept.addText(0, 'x'.repeat(150))
  expect(kept.isFull).toBe(true)
  kept.addText(0, 'y')
  kept.beginCall(0, 'i', 'n')
  expect(kept.completion).toEqual(['x'.repeat(136)])
  expect(kept.toolCalls).toEqual([])

  const many = new KeptAnswer(ALL, 1000)
  for (let i = 0; i < 1000; i++) {
    many.addText(i, 'x')
    many.beginCall(i, '', '')
  }
  expect(many.completion.length + many.toolCalls.length).toBeLessThan(20)
})
