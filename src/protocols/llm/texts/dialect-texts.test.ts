import { expect, test } from 'vitest'
import { answerPath, sequencesOf } from './dialect-texts.ts'
import { type AnswerFormat, SEQUENCES } from './read-together.ts'

test.each<[format: AnswerFormat, block: string, path: string]>([
  ['Completions', 'choices[0].delta.content', 'choices[0].message.content'],
  ['Completions', 'choices[12].delta', 'choices[12].message'],
  ['Completions', 'choices[0].delta.tool_calls[1].delta', 'choices[0].message.tool_calls[1].delta'],
  ['Completions', 'choices[0].deltas', 'choices[0].deltas'],
  ['Completions', 'choices[0].logprobs.content', 'choices[0].logprobs.content'],
  ['Completions', 'extra.choices[0].delta', 'extra.choices[0].delta'],
  ['Messages', 'choices[0].delta.content', 'choices[0].delta.content'],
  ['Responses', 'choices[0].delta.content', 'choices[0].delta.content'],
])('%s: the text of the block %s is at %s in a whole answer', (format, block, path) => {
  expect(answerPath(format, block)).toBe(path)
})

test.each<[format: AnswerFormat, path: string, joins: boolean]>([
  ['Completions', 'choices[3].message.content', true],
  // Some clients read names in any case.
  ['Completions', 'choices[3].message.Content', true],
  ['Completions', 'choices[3].message.role', false],
  ['Completions', 'choices[3].message.tool_calls[0].function.name', false],
  ['Messages', 'content[1].text', true],
  ['Messages', 'content[1].name', false],
  ['Responses', 'output[2].content[0].text', true],
  ['Responses', 'output[2].name', false],
])('%s: the text at %s is read in the sequences of its message: %j', (format, path, joins) => {
  const owner = { role: 'assistant', lasts: true } as const
  const sequences = SEQUENCES[format](path, owner)
  expect(sequences).not.toEqual([])
  expect(sequencesOf(format, path, owner)).toEqual(joins ? sequences : [])
})
