import { expect, test } from 'vitest'
import { type AnswerFormat, compareTexts, ownerOfItem, SEQUENCES, type TextOwner } from './read-together.ts'

const MESSAGE: TextOwner = { role: 'assistant', lasts: true }
const THOUGHT: TextOwner = { role: 'assistant', lasts: false }

test.each<[format: AnswerFormat, path: string, owner: TextOwner, sequences: string[]]>([
  ['Completions', 'choices[0].message.content', MESSAGE, ['choices[0]']],
  ['Completions', 'choices[12].message.refusal', MESSAGE, ['choices[12]']],
  ['Completions', 'x.choices[0]', MESSAGE, []],
  ['Messages', 'content[0].text', MESSAGE, ['content']],
  ['Messages', 'content[1].thinking', MESSAGE, ['thinking']],
  ['Messages', 'content[1].thinking.x', MESSAGE, ['content']],
  ['Messages', 'content[10].source.content', MESSAGE, ['content']],
  ['Messages', 'content[1].content', MESSAGE, ['content[1].content', 'results']],
  ['Messages', 'content[1].content[0].text', MESSAGE, ['content[1].content', 'results']],
  ['Messages', 'content[1].content[0].thinking', MESSAGE, ['content[1].content', 'results']],
  [
    'Responses',
    'output[0].content[0].text',
    MESSAGE,
    ['output[0]', 'assistant', 'assistant messages', 'assistant texts'],
  ],
  [
    'Responses',
    'output[11].content[0].refusal',
    MESSAGE,
    ['output[11]', 'assistant', 'assistant messages', 'assistant refusals'],
  ],
  ['Responses', 'output[1].summary[0].text', THOUGHT, ['output[1]', 'assistant', 'assistant thoughts']],
  ['Responses', 'output_text', MESSAGE, []],
])('%s: %s', (format, path, owner, sequences) => {
  expect([...SEQUENCES[format](path, owner)]).toEqual(sequences)
})

test.each([
  ['content[2].text', 'content[10].text', -8],
  ['output[0].summary[1].text', 'output[0].content[0].text', -1],
  ['choices[0].message.reasoning_content', 'choices[0].message.content', -4],
  ['choices[0].message.content', 'choices[0].message.content[0].text', 0],
  ['content[0].thinking', 'content[0].summary', -1],
  ['content[0].text', 'content[0].refusal', -1],
  ['choices[0].message.refusal', 'choices[0].message.audio', -1],
  ['content[0].text', 'content[0].other', 0],
  ['content[0].other', 'content[0].text', 0],
])('%s and %s', (one, other, order) => {
  expect([compareTexts(one, other), 0 - compareTexts(other, one)]).toEqual([order, order])
})

test.each([
  ['assistant', 'message', { role: 'assistant', lasts: true }],
  ['system', undefined, { role: 'system', lasts: true }],
  ['developer', undefined, { role: 'system', lasts: true }],
  ['tool', undefined, { role: 'tool', lasts: true }],
  ['function', undefined, { role: 'tool', lasts: true }],
  ['other', undefined, { role: 'user', lasts: true }],
  [undefined, undefined, { role: 'user', lasts: true }],
  [undefined, 'shell_call_output', { role: 'tool', lasts: true }],
  [undefined, 'message', { role: 'assistant', lasts: true }],
  [undefined, 'reasoning', { role: 'assistant', lasts: false }],
])('an item of the role %s and the type %s', (role, type, owner) => {
  expect(ownerOfItem(role, type)).toEqual(owner)
})
