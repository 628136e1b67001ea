import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import type { AnswerSink } from '../../chat/answer-sink.ts'
import { MessageBlocks } from './message-blocks.ts'

/** What is told of a message, call by call. */
function told(message: object): unknown[][] {
  const calls: unknown[][] = []
  const sink = new Proxy({} as AnswerSink, {
    get:
      (_, name) =>
      (...args: unknown[]) =>
        calls.push([name, ...args]),
  })
  runAtOnce(new MessageBlocks(sink).addAll(message))
  return calls
}

test('thoughts are blocks of their own, each with its signature', () => {
  const list = [{ length: 1, signature: 'one' }, { redacted: 'secret' }, { length: 2, signature: 'two' }, { length: 1 }]
  const message = { reasoning_content: 'abcd', reasoning_signature: JSON.stringify(list) }
  expect(told(message)).toEqual([
    ['thinking', 0, 'a'],
    ['signature', 0, 'one'],
    ['close', 0],
    ['redacted', 1, 'secret'],
    ['thinking', 2, 'bc'],
    ['signature', 2, 'two'],
    ['close', 2],
    ['thinking', 3, 'd'],
    ['signature', 3, ''],
  ])
})

test.each([
  ['a text', 'why'],
  ['a list of texts', [{ text: 'w' }, { text: 'hy' }]],
])('the thinking of a part may be %s', (_, thinking) => {
  const calls = told({ content: [{ thinking }, { text: 'so' }] })
  const texts = calls.filter(([name]) => name === 'thinking').map(([, , text]) => text)
  expect([texts.join(''), calls.at(-1)]).toEqual(['why', ['text', 1, 'so']])
})
