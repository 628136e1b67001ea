import { expect, test } from 'vitest'
import { eventOf, runsOf } from '../../texts/testing.ts'
import { readAnswerTexts, readEventTexts, readRequestTexts } from './texts.ts'

test('items are runs: messages by their role, results of tools, and what the model said', () => {
  const input = [
    { role: 'user', content: 'plain' },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'a' },
        { type: 'input_text', text: 'b' },
      ],
    },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 's' }],
      content: [{ type: 'reasoning_text', text: 'r' }],
      encrypted_content: 'gAAA',
    },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"to":"jane"}' },
    { type: 'function_call_output', call_id: 'c', output: 'found' },
    { type: 'shell_call_output', call_id: 'd', output: [{ stdout: 'out', stderr: 'err', outcome: { type: 'exit' } }] },
    { type: 'newer_item', words: 'unknown' },
  ]
  const body = { input, instructions: 'be brief', prompt: { id: 'p', variables: { who: 'jane' } }, model: 'm' }
  expect(runsOf(body, readRequestTexts)).toEqual([
    ['(system)', 'prompt.variables{0}:name: who!', 'prompt.variables{0}: jane'],
    ['system', 'instructions: be brief'],
    ['user', 'input[0].content: plain'],
    ['user', 'input[1].content[0].text: a', 'input[1].content[1].text: b'],
    ['assistant', 'input[2].summary[0].text: s', 'input[2].content[0].text: r'],
    ['(assistant)', 'input[3].name: f!', 'input[3].arguments: {"to":"jane"} (arguments)'],
    ['tool', 'input[4].output: found'],
    ['tool', 'input[5].output[0].stdout: out', 'input[5].output[0].stderr: err'],
    ['assistant', 'input[6].words: unknown'],
  ])
  expect(runsOf({ input: 'hello' }, readRequestTexts)).toEqual([['user', 'input: hello']])
})

test('tools and formats', () => {
  const tools = [
    { type: 'function', name: 'f', description: 'd', parameters: { properties: { p: { enum: ['e'] } } } },
    { type: 'mcp', server_label: 'l', server_url: 'https://a.test', authorization: 'Bearer x', headers: { a: 'b' } },
  ]
  const text = { format: { type: 'json_schema', name: 'n', description: 'd', schema: { title: 't' } } }
  expect(runsOf({ tools, text }, readRequestTexts)).toEqual([
    [
      '(system)',
      'tools[0].name: f!',
      'tools[0].description: d',
      'tools[0].parameters.properties{0}:name: p!',
      'tools[0].parameters.properties{0}.enum[0]: e!',
    ],
    ['(system)', 'tools[1].server_label: l!'],
    ['(system)', 'text.format.name: n!', 'text.format.description: d', 'text.format.schema.title: t'],
  ])
})

test('an answer: its output; what repeats the request is exempt', () => {
  const content = [
    { type: 'output_text', text: 'hello', annotations: [{ type: 'url_citation', title: 't', url: 'u' }] },
  ]
  const output = [{ type: 'message', id: 'm', role: 'assistant', status: 'completed', content }]
  const body = { id: 'r', object: 'response', instructions: 'be brief', tools: [{ name: 'f' }], output, note: 'new' }
  expect(runsOf(body, readAnswerTexts)).toEqual([
    ['assistant', 'output[0].content[0].text: hello'],
    ['(assistant)', 'output[0].content[0].annotations[0].title: t', 'output[0].content[0].annotations[0].url: u'],
    ['(user)', 'note: new'],
  ])
})

const at = { item_id: 'i', output_index: 2, content_index: 1, summary_index: 3, sequence_number: 9 }
const message = { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'hello' }] }

test.each([
  ['output_text.delta', { delta: 'he' }, ['delta output[2].content[1].text: he'], []],
  ['output_text.done', { text: 'hello' }, ['whole output[2].content[1].text: hello'], ['output[2].content[1].text']],
  ['refusal.delta', { delta: 'no' }, ['delta output[2].content[1].refusal: no'], []],
  ['reasoning_text.delta', { delta: 'hm' }, ['delta output[2].content[1].text: hm'], []],
  ['reasoning_summary_text.delta', { delta: 's' }, ['delta output[2].summary[3].text: s'], []],
  [
    'reasoning_summary_part.done',
    { part: { type: 'summary_text', text: 's' } },
    ['whole output[2].summary[3].text: s'],
    ['output[2].summary[3]'],
  ],
  ['function_call_arguments.delta', { delta: '{"a' }, ['delta output[2].arguments: {"a (arguments)'], []],
  [
    'function_call_arguments.done',
    { arguments: '{}' },
    ['whole output[2].arguments: {} (arguments)'],
    ['output[2].arguments'],
  ],
  ['custom_tool_call_input.delta', { delta: 'x' }, ['delta output[2].input: x (input)'], []],
  ['code_interpreter_call_code.delta', { delta: 'x' }, ['delta output[2].code: x'], []],
  ['content_part.added', { part: { type: 'output_text', text: '' } }, ['delta output[2].content[1].text: '], []],
  [
    'content_part.done',
    { part: { type: 'output_text', text: 'a' } },
    ['whole output[2].content[1].text: a'],
    ['output[2].content[1]'],
  ],
  ['output_item.added', { item: message }, ['delta output[2].content[0].text: hello'], []],
  ['output_item.done', { item: message }, ['whole output[2].content[0].text: hello'], ['output[2]']],
  ['completed', { response: { id: 'r', output: [message] } }, ['whole output[0].content[0].text: hello'], undefined],
  [
    'failed',
    { response: { error: { code: 'c', message: 'why' } } },
    ['delta event response.error.message: why'],
    undefined,
  ],
  ['poem.delta', { delta: 'roses' }, ['delta output[2].poem[1]: roses'], []],
])('the event response.%s', (type, members, texts, closed) => {
  const { closes, texts: found } = eventOf({ type: `response.${type}`, ...at, ...members }, readEventTexts)
  expect(found).toEqual(texts)
  if (closed === undefined) expect(closes).toContain('*')
  else expect(closes).toEqual(closed.flatMap((block) => [block, `${block}.*`]))
})

test('other events: log probabilities, annotations and unknown ones', () => {
  const logprobs = [{ token: 'h' }, { token: 'e' }]
  expect(eventOf({ type: 'response.output_text.delta', ...at, delta: 'he', logprobs }, readEventTexts).texts).toEqual([
    'delta output[2].content[1].text: he',
    'delta event logprobs: [object Object],[object Object] (logprobs)',
  ])
  expect(eventOf({ type: 'weather', news: 'rain' }, readEventTexts)).toEqual({
    texts: ['delta news: rain'],
    closes: [],
  })
})
