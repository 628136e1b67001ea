import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { Losses } from '../../chat/losses.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import { type JsonValue, parseDocument } from '../../json/json-document.ts'
import { toldAnswer } from '../../testing.ts'
import { readAnswer } from './read-answer.ts'
import { readRequest } from './read-request.ts'

// Answers and requests are in `test/llm/messages`.

const parse = (value: unknown) => parseDocument(new TextEncoder().encode(JSON.stringify(value))) as JsonValue
const sink = new Proxy({}, { get: () => () => {} }) as Parameters<typeof readAnswer>[1]

function outcome(read: () => unknown): string {
  try {
    read()
    return 'read'
  } catch (error) {
    if (error instanceof Untranslatable) return error.message
    throw error
  }
}

test.each<[answer: unknown, why: string]>([
  [[], 'must be an object'],
  [{}, 'content is required'],
  [{ content: 'text' }, 'content: must be a list'],
  [{ content: [1] }, 'content[0]: must be an object'],
  [{ content: [{ type: 'text', text: 1 }] }, 'content[0].text: must be a string'],
])('the answer %j makes no sense', (answer, why) => {
  expect(outcome(() => runAtOnce(readAnswer(parse(answer), sink)))).toBe(why)
})

test('a call without id, name and input, and a thought that is hidden, are told as empty', () => {
  const { sink, told } = toldAnswer()
  runAtOnce(readAnswer(parse({ content: [{ type: 'tool_use' }, { type: 'redacted_thinking' }] }), sink))
  expect(told).toEqual([
    ['start', '', ''],
    ['call', 0, '', ''],
    ['arguments', 0, '{}'],
    ['close', 0],
    ['redacted', 1, ''],
    ['close', 1],
    ['finish', 'end', undefined],
    ['end'],
  ])
})

const block = fc.record(
  {
    type: fc.constantFrom('text', 'image', 'document', 'tool_use', 'tool_result', 'thinking', 'search_result', 'x'),
    text: fc.oneof(fc.string(), fc.jsonValue()),
    id: fc.oneof(fc.string(), fc.jsonValue()),
    input: fc.jsonValue(),
    content: fc.jsonValue(),
    source: fc.jsonValue(),
    citations: fc.jsonValue(),
    cache_control: fc.jsonValue(),
  },
  { requiredKeys: ['type'] },
)
const content = fc.oneof(fc.array(block, { maxLength: 4 }), fc.string(), fc.jsonValue())

test('no answer crashes the reader', () => {
  const answer = fc.record(
    {
      content,
      error: fc.jsonValue(),
      usage: fc.jsonValue(),
      stop_reason: fc.jsonValue(),
      stop_details: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  fc.assert(fc.property(answer, (given) => void outcome(() => runAtOnce(readAnswer(parse(given), sink)))))
})

test('no request crashes the reader', () => {
  const message = fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), content })
  const request = fc.record(
    {
      model: fc.string(),
      max_tokens: fc.nat(),
      messages: fc.oneof(fc.array(message, { maxLength: 4 }), fc.jsonValue()),
      system: content,
      tools: fc.jsonValue(),
      tool_choice: fc.jsonValue(),
      thinking: fc.jsonValue(),
      output_config: fc.jsonValue(),
      metadata: fc.jsonValue(),
    },
    { requiredKeys: ['model', 'max_tokens', 'messages'] },
  )
  fc.assert(fc.property(request, (given) => void outcome(() => runAtOnce(readRequest(parse(given), new Losses())))))
})
