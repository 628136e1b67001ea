import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { parseDocument } from '../../json/json-document.ts'
import { readCountablePrompt } from './countable-prompt.ts'

function read(body: object): { texts: readonly string[]; otherTokens: number } {
  const document = parseDocument(new TextEncoder().encode(JSON.stringify(body)))
  if ('fault' in document) throw new Error(document.fault)
  const { texts, otherTokens } = runAtOnce(readCountablePrompt(document))
  return { texts, otherTokens }
}

const said = (...content: readonly unknown[]) => ({ messages: [{ role: 'user', content }] })
const file = (source: object) => said({ type: 'document', title: 'T', context: 'C', source })

test.each<[string, object, readonly string[], number]>([
  ['nothing', {}, [], 3],
  ['a text', { messages: [{ role: 'user', content: 'a "b"' }] }, ['a "b"'], 7],
  ['a system text', { system: 'S', messages: [] }, ['S'], 7],
  ['blocks of system text', { system: [{ type: 'text', text: 'S' }], messages: [] }, ['S'], 7],
  [
    'several messages',
    { messages: ['a', 'b', 'c'].map((content) => ({ role: 'user', content })) },
    ['a', 'b', 'c'],
    3 + 3 * 4,
  ],
  ['tools', { tools: [{ name: 'f', input_schema: {} }] }, ['[{"name":"f","input_schema":{}}]'], 3],
  ['no tools', { tools: [] }, [], 3],
  ['an image', said({ type: 'image', source: { type: 'base64', data: 'A'.repeat(9000) } }), [], 7 + 1600],
  ['thoughts', said({ type: 'thinking', thinking: 't', signature: 's' }), ['t'], 7],
  ['hidden thoughts', said({ type: 'redacted_thinking', data: 'r' }), ['r'], 7],
  ['a call', said({ type: 'tool_use', id: 'i', name: 'f', input: { a: 1.0 } }), ['f', '{"a":1}'], 7],
  ['a result', said({ type: 'tool_result', tool_use_id: 'i', content: 'r' }), ['r'], 7],
  [
    'a result with an image',
    said({ type: 'tool_result', tool_use_id: 'i', content: [{ type: 'text', text: 'r' }, { type: 'image' }] }),
    ['r'],
    7 + 1600,
  ],
  ['a result without content', said({ type: 'tool_result', tool_use_id: 'i' }), [], 7],
  ['a document by URL', file({ type: 'url', url: 'https://a.example' }), ['T', 'C'], 7 + 2000],
  ['a short document', file({ type: 'base64', data: 'A'.repeat(60_000) }), ['T', 'C'], 7 + 2000],
  ['a long document', file({ type: 'base64', data: 'A'.repeat(200_000) }), ['T', 'C'], 7 + 4 * 2000],
  ['a document of text', file({ type: 'text', data: 'text' }), ['T', 'C', 'text'], 7],
  ['a document of blocks', file({ type: 'content', content: [{ type: 'text', text: 'x' }] }), ['T', 'C', 'x'], 7],
  ['an unknown block', said({ type: 'new', q: 'x' }), ['{"type":"new","q":"x"}'], 7],
  [
    'what the API does not have',
    { messages: [{ content: 5 }, {}, 'x'], system: { a: 1 } },
    ['{"a":1}', '5'],
    3 + 2 * 4,
  ],
])('%s', (_, body, texts, otherTokens) => {
  expect(read(body)).toEqual({ texts, otherTokens })
})
