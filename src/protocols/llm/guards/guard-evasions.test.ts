import { expect, test } from 'vitest'
import { refused, type Setup, sent } from '#test/support/prepare-llm.ts'
import type { RouteType } from '../policy-schema.ts'
import type { RegexGuardSpec } from './guard-schema.ts'

// Ways around a guard that were tried.

function guarded(regex: Partial<RegexGuardSpec>, type: RouteType = 'Completions'): Setup {
  const guard = { regex: { action: 'Mask' as const, ...regex } }
  const provider = type === 'Messages' ? { providerFour: {} } : { providerOne: {} }
  return { provider, ai: { promptGuard: { request: [guard] }, routes: { '*': type } } }
}

const BAD = '\\u0062a\\u0064'
test.each<[what: string, type: RouteType, body: string, masked: string]>([
  ['a text', 'Completions', `{"messages":[{"role":"user","content":"${BAD}"}]}`, '"content":"<masked>"'],
  [
    'the names of the members around it',
    'Completions',
    '{"messages":[{"role":"user","c\\u006fntent":[{"ty\\u0070e":"text","te\\u0078t":"bad"}]}]}',
    '"te\\u0078t":"<masked>"',
  ],
  [
    'arguments, escaped twice',
    'Completions',
    `{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"{\\"a\\":\\"\\${BAD.replaceAll('a\\', 'a\\\\')}\\"}"}}]}]}`,
    '"arguments":"{\\"a\\":\\"<masked>\\"}"',
  ],
  [
    'input of a tool',
    'Messages',
    `{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":{"a":"${BAD}"}}]}]}`,
    '"a":"<masked>"',
  ],
  ['an item', 'Responses', `{"input":[{"role":"user","content":"${BAD}"}]}`, '"content":"<masked>"'],
  ['a text to embed', 'Embeddings', `{"input":["${BAD}"]}`, '"input":["<masked>"]'],
])('escapes in %s hide nothing', (_, type, body, masked) => {
  const { text } = sent(`{"model":"m",${body.slice(1)}`, guarded({ matches: ['bad'] }, type))
  expect(text).toContain(masked)
})

test('escapes in the name of a member hide nothing', () => {
  const call = { role: 'assistant', tool_calls: [{ function: { arguments: `{"${BAD}":1}` } }] }
  expect(refused(JSON.stringify({ model: 'm', messages: [call] }), guarded({ matches: ['bad'] })).code).toBe(
    'prompt-guard-rejected',
  )
})

const text = (role: string, content: unknown) => ({ role, content })
test.each<[what: string, between: object]>([
  ['nothing', { role: 'assistant', content: null, tool_calls: [] }],
  ['an empty text', text('tool', '')],
  ['white space', text('tool', ' \n')],
  ['no part', text('assistant', [])],
  [
    'empty parts',
    text('assistant', [
      { type: 'text', text: '' },
      { type: 'text', text: '\t' },
    ]),
  ],
  ['a call', { role: 'assistant', content: '', tool_calls: [{ function: { name: 'f', arguments: '{"a":"b"}' } }] }],
])('a message with %s does not separate the messages around it', (_, between) => {
  const body = (one: string, other: string) =>
    JSON.stringify({ model: 'm', messages: [text('user', one), between, text('user', other)] })
  expect(sent(body('forb', 'idden'), guarded({ matches: ['forbidden'] })).text).toBe(body('<masked>', '<masked>'))
})

test('a message with text separates those around it', () => {
  const body = JSON.stringify({
    model: 'm',
    messages: ['forb', 'x', 'idden'].map((one, at) => text(at === 1 ? 'tool' : 'user', one)),
  })
  expect(sent(body, guarded({ matches: ['forbidden'] })).text).toBe(body)
})

const user = (...content: unknown[]) => text('user', content)
const said = (...content: unknown[]) => text('assistant', content)
const block = (given: string) => ({ type: 'text', text: given })
const file = (given: string) => ({
  type: 'file',
  file: { filename: 'a.txt', file_data: `data:text/plain;base64,${Buffer.from(given).toString('base64')}` },
})

test.each<[what: string, type: RouteType, body: object]>([
  [
    'texts of the system, around a user',
    'Completions',
    { messages: [text('system', 'forb'), text('user', 'x'), text('developer', 'idden')] },
  ],
  [
    'texts of the system, one of them at the top',
    'Messages',
    { system: 'forb', messages: [user(block('x')), text('system', 'idden')] },
  ],
  [
    'instructions and a message',
    'Responses',
    { instructions: 'forb', input: [text('user', 'x'), text('system', 'idden')] },
  ],
  [
    'messages around a thought',
    'Completions',
    { messages: [text('user', 'forb'), { ...text('assistant', ''), reasoning_content: 'x' }, text('user', 'idden')] },
  ],
  [
    'answers, one of them with a thought',
    'Completions',
    {
      messages: [
        text('user', 'x'),
        text('assistant', 'forb'),
        { ...text('assistant', 'idden'), reasoning_content: 'x' },
        text('user', 'x'),
      ],
    },
  ],
  [
    'items around a thought',
    'Responses',
    {
      input: [
        text('user', 'forb'),
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'x' }] },
        text('user', 'idden'),
      ],
    },
  ],
  [
    'items around a search',
    'Responses',
    { input: [text('user', 'forb'), { type: 'mcp_call', output: 'x', arguments: '' }, text('user', 'idden')] },
  ],
  [
    'messages around a result that a tool of the provider left',
    'Messages',
    {
      messages: [
        user(block('forb')),
        said({ type: 'web_search_tool_result', tool_use_id: 't', content: [{ type: 'web_search_result', text: 'x' }] }),
        user(block('idden')),
      ],
    },
  ],
  [
    'texts around a result',
    'Messages',
    {
      messages: [
        user(block('x')),
        said({ type: 'tool_use', id: 't', name: 'f', input: {} }),
        user(block('forb'), { type: 'tool_result', tool_use_id: 't', content: 'x' }),
        user(block('idden')),
      ],
    },
  ],
  ['two files', 'Completions', { messages: [user(file('forb'), file('idden'))] }],
])('a translation leaves no way to split a text: %s', (_, type, members) => {
  const body = JSON.stringify({ model: 'm', max_tokens: 9, ...members })
  const regex = { action: 'Reject' as const, matches: ['forbidden'] }
  for (const provider of [{ providerOne: {} }, { providerFour: {} }, { providerSeven: { region: 'us-east-1' } }]) {
    expect(refused(body, { ...guarded(regex, type), provider }).code).toBe('prompt-guard-rejected')
  }
})

test('names of members in another case are no way to split a text', () => {
  const body = (one: string, other: string) =>
    JSON.stringify({
      model: 'm',
      messages: [
        { role: 'user', Content: one },
        { role: 'user', 'content\u017f': 'x', CONTENT: other },
      ],
    })
  expect(sent(body('forb', 'idden'), guarded({ matches: ['forbidden'] })).text).toBe(body('<masked>', '<masked>'))
  expect(sent(body('x', 'a@b.example'), guarded({ matches: ['a@'] })).text).toBe(body('x', '<masked>b.example'))
})

test.each<[what: string, type: RouteType, message: object, masked: string | undefined]>([
  ['an id in another case', 'Completions', { ...text('user', 'x'), Tool_Call_ID: 'bad' }, '"Tool_Call_ID":"<masked>"'],
  ['text as data in place of an address', 'Completions', user({ image_url: 'data:text/plain,bad' }), 'plain,%3Cmasked'],
  [
    'a text that looks like base64',
    'Messages',
    user({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'badebadebade' } }),
    '"data":"<masked>e<masked>e<masked>e"',
  ],
  [
    'a name in place of the types of a schema',
    'Messages',
    user({ type: 'tool_reference', tools: [{ name: 'f', input_schema: { type: ['string', 'bad'] } }] }),
    undefined,
  ],
])('%s is checked', (_, type, message, masked) => {
  const body = JSON.stringify({ model: 'm', max_tokens: 9, messages: [message] })
  const setup = guarded({ matches: ['bad'] }, type)
  if (masked === undefined) expect(refused(body, setup).code).toBe('prompt-guard-rejected')
  else expect(sent(body, setup).text).toContain(masked)
})

test('a text file is read as its media type says', () => {
  const hidden = `\x01\x02forbidden${'\x01'.repeat(20)}`
  const source = { type: 'base64', media_type: 'text/plain', data: Buffer.from(hidden, 'utf16le').toString('base64') }
  const body = JSON.stringify({ model: 'm', max_tokens: 9, messages: [user({ type: 'document', source })] })
  expect(refused(body, guarded({ matches: ['forbidden'] }, 'Messages')).code).toBe('prompt-guard-rejected')
})

test.each<[type: RouteType, body: object, path: string]>([
  ['Embeddings', { input: [1212, 318] }, 'input[0]'],
  ['Embeddings', { input: [[1212], [318]] }, 'input[0][0]'],
  ['Embeddings', { input: ['good', [[318]]] }, 'input[1][0][0]'],
  ['Embeddings', { input: 318 }, 'input'],
  ['Completions', { messages: [text('user', 318)] }, 'messages[0].content'],
  ['Completions', { messages: [text('user', [{ type: 'text', text: 318 }])] }, 'messages[0].content[0].text'],
  ['Messages', { messages: [text('user', [318])] }, 'messages[0].content[0]'],
  ['Responses', { instructions: 318, input: 'x' }, 'instructions'],
])('tokens instead of text in %s are refused, because guards cannot read them: %j', (type, members, path) => {
  const body = JSON.stringify({ model: 'm', ...members })
  const refusal = refused(body, guarded({ matches: ['bad'] }, type))
  expect(refusal.code).toBe('llm-body-invalid')
  expect(JSON.parse(refusal.body ?? '').error.message).toContain(`${path}: a number, where guards need text`)
})

test('tokens pass where no guard is', () => {
  const body = '{"model":"m","input":[[1212,318]]}'
  expect(sent(body, { provider: { providerOne: {} }, ai: { routes: { '*': 'Embeddings' } } }).text).toBe(body)
})

test.each<[what: string, url: string, outcome: 'passes' | 'is refused' | 'is masked']>([
  ['path, query and fragment of an address', 'https://images.example/bad/4111111111111111.png?q=bad#bad', 'passes'],
  ['an address with spaces', 'https://images.example/a bad text', 'is refused'],
  ['text as data', 'data:text/plain,bad', 'is masked'],
  ['base64 behind', `https:abc${Buffer.from('a bad text for the model to read').toString('base64')}`, 'is refused'],
])('%s of an image %s: %s', (_, url, outcome) => {
  const body = (now: string) =>
    JSON.stringify({ model: 'm', messages: [text('user', [{ type: 'image_url', image_url: { url: now } }])] })
  const setup = guarded({ matches: ['bad'] })
  if (outcome === 'is refused') expect(refused(body(url), setup)).toMatchObject({ code: 'prompt-guard-rejected' })
  else expect(sent(body(url), setup).text).toBe(body(outcome === 'passes' ? url : 'data:text/plain,%3Cmasked%3E'))
})
