import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import type { ExemptPlace } from '../../texts/body-texts.ts'
import { documentOf, eventOf, runsOf } from '../../texts/testing.ts'
import { readAnswerTexts, readEventTexts, readRequestTexts } from './texts.ts'

test('what the model reads before the messages comes first; results of tools are runs of their own', () => {
  const content = [
    { type: 'text', text: 'see', cache_control: { type: 'ephemeral', ttl: '5m' } },
    { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'found' }] },
    { type: 'tool_result', tool_use_id: 't2', content: 'plain' },
    { type: 'search_result', source: 'a.test', title: 'T', content: [{ type: 'text', text: 'hit' }] },
    { type: 'text', text: 'this' },
  ]
  const tools = [{ name: 'f', description: 'd', input_schema: { properties: { p: { description: 'pd' } } } }]
  const body = { messages: [{ role: 'user', content }], system: [{ type: 'text', text: 'be brief' }], tools }
  expect(runsOf(body, readRequestTexts)).toEqual([
    [
      '(system)',
      'tools[0].name: f!',
      'tools[0].description: d',
      'tools[0].input_schema.properties{0}:name: p!',
      'tools[0].input_schema.properties{0}.description: pd',
    ],
    ['system', 'system[0].text: be brief'],
    ['user', 'messages[0].content[0].text: see', 'messages[0].content[4].text: this'],
    ['(user)', 'messages[0].content[3].source: a.test', 'messages[0].content[3].title: T'],
    ['tool', 'messages[0].content[1].content[0].text: found'],
    ['tool', 'messages[0].content[2].content: plain'],
    ['tool', 'messages[0].content[3].content[0].text: hit'],
  ])
})

test('documents: plain text, text files and contents are text; titles and contexts are seen', () => {
  const document = (source: object) => ({ type: 'document', source, title: 't', context: 'c' })
  const data = Buffer.from('caf\u00e9').toString('base64')
  const binary = Buffer.from('\x89PNG\0', 'latin1').toString('base64')
  const content = [
    document({ type: 'text', media_type: 'text/plain', data: 'typed' }),
    document({ type: 'base64', media_type: 'text/markdown', data }),
    document({ type: 'base64', media_type: 'application/pdf', data: binary }),
    document({ type: 'content', content: [{ type: 'text', text: 'inner' }] }),
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: binary } },
  ]
  const exempt: ExemptPlace[] = []
  const { runs } = runAtOnce(readRequestTexts(documentOf({ messages: [{ role: 'user', content }] }), exempt))
  expect(runs.map(({ joins, places }) => [joins, places.map(({ path, form }) => `${path.slice(12)} ${form}`)])).toEqual(
    [
      [
        true,
        ['content[0].source.data string', 'content[1].source.data base64', 'content[3].source.content[0].text string'],
      ],
      [false, [0, 1, 2, 3].flatMap((index) => [`content[${index}].title string`, `content[${index}].context string`])],
    ],
  )
  expect(exempt.filter(({ path }) => path.endsWith('.data')).map(({ path }) => path.slice(12))).toEqual([
    'content[2].source.data',
    'content[4].source.data',
  ])
})

test('thoughts can change unless they are signed; input of tools can, its names cannot', () => {
  const content = [
    { type: 'thinking', thinking: 'signed', signature: 'c2ln' },
    { type: 'thinking', thinking: 'own', signature: '' },
    { type: 'redacted_thinking', data: 'c2VjcmV0' },
    { type: 'tool_use', id: 't1', name: 'f', input: { to: ['jane'], n: 1 } },
  ]
  expect(runsOf({ messages: [{ role: 'assistant', content }] }, readRequestTexts)).toEqual([
    [
      '(assistant)',
      'messages[0].content[0].thinking: signed!',
      'messages[0].content[1].thinking: own',
      'messages[0].content[3].name: f!',
      'messages[0].content[3].input{0}:name: to!',
      'messages[0].content[3].input{0}[0]: jane',
      'messages[0].content[3].input{1}:name: n!',
    ],
  ])
})

test('an answer with a result of a tool of the provider', () => {
  const content = [
    { type: 'text', text: 'hello', citations: [{ type: 'char_location', cited_text: 'hel', document_title: 'T' }] },
    { type: 'code_execution_tool_result', tool_use_id: 't', content: { type: 'code_execution_result', stdout: 'out' } },
  ]
  expect(runsOf({ id: 'x', role: 'assistant', content, usage: { a: 'b' } }, readAnswerTexts)).toEqual([
    ['assistant', 'content[0].text: hello'],
    ['(assistant)', 'content[0].citations[0].cited_text: hel', 'content[0].citations[0].document_title: T'],
    ['tool', 'content[1].content.stdout: out'],
  ])
})

test.each([
  [{ type: 'message_start', message: { id: 'x', role: 'assistant', content: [] } }, [], []],
  [
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: 'he' } },
    ['delta content[1].text: he'],
    [],
  ],
  [
    {
      type: 'content_block_start',
      index: 2,
      content_block: { type: 'tool_use', id: 't', name: 'f', input: { a: 'b' } },
    },
    [
      'delta event content_block.name: f!',
      'delta event content_block.input{0}:name: a!',
      'delta event content_block.input{0}: b',
    ],
    ['event content_block.name', 'event content_block.input{0}:name', 'event content_block.input{0}'],
  ],
  [
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'llo' } },
    ['delta content[1].text: llo'],
    [],
  ],
  [
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"a' } },
    ['delta content[2].input: {"a (arguments)'],
    [],
  ],
  [
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
    ['delta content[0].thinking: hm!'],
    [],
  ],
  [{ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } }, [], []],
  [
    { type: 'content_block_delta', index: 0, delta: { type: 'new_delta', poem: 'roses' } },
    ['delta content[0].poem: roses'],
    [],
  ],
  [
    { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: { cited_text: 'cited' } } },
    ['delta event delta.citation.cited_text: cited'],
    ['event delta.citation.cited_text'],
  ],
  [{ type: 'content_block_stop', index: 1 }, [], ['content[1].*']],
  [{ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }, [], []],
  [{ type: 'message_stop' }, [], ['*']],
  [{ type: 'weather', news: ['rain', 'sun'] }, ['delta news[0]: rain', 'delta news[1]: sun'], []],
])('the event %j', (event, texts, closes) => {
  expect(eventOf(event, readEventTexts)).toEqual({ texts, closes })
})

test('formats and settings of the answer count as text of the system', () => {
  const body = {
    output_config: { format: { schema: { description: 'a' } } },
    output_format: { schema: { description: 'b' } },
    compaction: { instructions: 'c' },
    context_management: { edits: [{ instructions: 'd' }] },
    messages: [],
  }
  const roles = runsOf(body, readRequestTexts).map(([role]) => String(role).replace(/[()]/g, ''))
  expect(new Set(roles)).toEqual(new Set(['system']))
})
