import { expect, test } from 'vitest'
import { refused, type Setup, sent } from '#test/support/prepare-llm.ts'
import type { RegexGuardSpec } from '../settings/guard-schema.ts'
import type { RouteType } from '../settings/policy-schema.ts'

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
test('messages are checked alone', () => {
  const body = JSON.stringify({ model: 'm', messages: ['forb', 'idden'].map((one) => text('user', one)) })
  expect(sent(body, guarded({ matches: ['forbidden'] })).text).toBe(body)
})

const user = (...content: unknown[]) => text('user', content)
const block = (given: string) => ({ type: 'text', text: given })
const file = (given: string) => ({
  type: 'file',
  file: { filename: 'a.txt', file_data: `data:text/plain;base64,${Buffer.from(given).toString('base64')}` },
})

test.each([{ providerOne: {} }, { providerFour: {} }, { providerSeven: { region: 'us-east-1' } }])(
  'the parts of a message are also read as one: %j',
  (provider) => {
    for (const parts of [
      [block('forb'), block('idden')],
      [file('forb'), file('idden')],
    ]) {
      const body = JSON.stringify({ model: 'm', max_tokens: 9, messages: [user(...parts)] })
      for (const action of ['Reject', 'Mask'] as const) {
        const setup = { ...guarded({ action, matches: ['forbidden'] }), provider }
        expect(refused(body, setup).code).toBe('prompt-guard-rejected')
      }
    }
  },
)

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
