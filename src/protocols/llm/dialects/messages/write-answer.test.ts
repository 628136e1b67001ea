import { expect, test } from 'vitest'
import type { AnswerSink } from '../../chat/answer-sink.ts'
import { type JsonValue, parseDocument } from '../../json/json-document.ts'
import { writeAnswer } from './write-answer.ts'

// Whole answers are in `test/llm`.

const request = parseDocument(new TextEncoder().encode('{}')) as JsonValue
const context = {
  request,
  model: 'asked',
  createdSeconds: 0,
  provider: 'completions' as const,
  newId: (prefix: string) => `${prefix}1`,
}

function written(tell: (writer: AnswerSink) => void): string {
  let text = ''
  const writer = writeAnswer(context, (body) => {
    text += new TextDecoder().decode(body)
  })
  writer.start('m', 'model')
  tell(writer)
  writer.end()
  return text
}

const content = (tell: (writer: AnswerSink) => void) => JSON.parse(written(tell)).content

test('blocks that overlap are put together, in the order in which they began', () => {
  const blocks = content((to) => {
    to.text(5, 'a')
    to.call(2, 'x', 'first')
    to.text(5, 'b')
    to.arguments(2, '{"a":')
    to.call(9, 'y', 'second')
    to.arguments(2, '1}')
    to.finish('calls')
  })
  expect(blocks).toEqual([
    { type: 'text', text: 'ab' },
    { type: 'tool_use', id: 'x', name: 'first', input: { a: 1 }, caller: { type: 'direct' } },
    { type: 'tool_use', id: 'y', name: 'second', input: {}, caller: { type: 'direct' } },
  ])
})

test.each<[text: string, input: string]>([
  ['{"n":10000000000000000001}', '{"n":10000000000000000001}'],
  ['', '{}'],
  ['[1.0]', '{"input":[1.0]}'],
  ['null', '{"input":null}'],
  ['{"cut', String.raw`{"input":"{\"cut"}`],
])('the arguments %j become the input %s', (text, input) => {
  const body = written((to) => {
    to.call(0, '', 'tool')
    to.arguments(0, text)
    to.finish('calls')
  })
  expect(body).toContain(`{"type":"tool_use","id":"toolu_1","name":"tool","input":${input},"caller":{"type":"direct"}}`)
})

test('an answer that fails is an error', () => {
  const body = written((to) => {
    to.text(0, 'a')
    to.fail({ status: 529, type: undefined, message: 'Busy', code: undefined, param: undefined })
  })
  expect(JSON.parse(body)).toEqual({ type: 'error', error: { type: 'overloaded_error', message: 'Busy' } })
})
