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
])('%s of an image %s: %s', (_, url, outcome) => {
  const body = (now: string) =>
    JSON.stringify({ model: 'm', messages: [text('user', [{ type: 'image_url', image_url: { url: now } }])] })
  const setup = guarded({ matches: ['bad'] })
  if (outcome === 'is refused') expect(refused(body(url), setup)).toMatchObject({ code: 'prompt-guard-rejected' })
  else expect(sent(body(url), setup).text).toBe(body(outcome === 'passes' ? url : 'data:text/plain,%3Cmasked%3E'))
})
