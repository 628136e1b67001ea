import { expect, test } from 'vitest'
import { answerPath, sequencesOf } from './dialect-texts.ts'
import type { AnswerFormat } from './read-together.ts'

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

test.each<[format: AnswerFormat, path: string, sequences: string[]]>([
  ['Completions', 'choices[3].message.content', ['choices[3]']],
  ['Completions', 'choices[3].message.role', []],
  ['Completions', 'choices[3].message.tool_calls[0].function.name', []],
  ['Messages', 'content[1].text', ['content']],
  ['Messages', 'content[1].name', []],
  ['Responses', 'output[2].content[0].text', ['output[2]', 'assistant', 'assistant messages']],
  ['Responses', 'output[2].name', []],
])('%s: the text at %s is read in the sequences %j', (format, path, sequences) => {
  expect([...sequencesOf(format, path, { role: 'assistant', lasts: true })]).toEqual(sequences)
})
