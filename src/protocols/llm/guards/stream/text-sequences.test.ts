import { expect, test } from 'vitest'
import { SequencedText, TextSequences } from './text-sequences.ts'

const ASSISTANT = { role: 'assistant', lasts: true } as const

test('the only text of a stream is not placed in any sequence', () => {
  const sequences = new TextSequences('Messages', () => true)
  const first = new SequencedText('content[0].text', ASSISTANT)
  const second = new SequencedText('content[1].text', ASSISTANT)
  expect(sequences.enter(first)).toBe(true)
  expect(first.links).toEqual([])
  expect(sequences.enter(second)).toBe(true)
  expect(first.links.map(({ sequence, after }) => [sequence, after?.text])).toEqual([['content', second]])
  expect(second.links.map(({ before, after }) => [before?.text, after])).toEqual([[first, undefined]])
})

test('what has left before a text is the end of the text before it', () => {
  const sequences = new TextSequences('Messages', () => true)
  const [first, second, third] = [0, 1, 2].map((at) => new SequencedText(`content[${at}].text`, ASSISTANT))
  for (const text of [first!, second!, third!]) sequences.enter(text)
  second!.block = { tail: 'the end' }
  expect([first!.tailBefore, second!.tailBefore, third!.tailBefore]).toEqual(['', '', 'the end'])
})
