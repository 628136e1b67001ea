import { expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { exchangeWith, specFrom } from '#policies/shared/testing.ts'
import { compile, refused, type Setup, sent } from '#test/support/prepare-llm.ts'
import { verifies } from '#test/support/verifies.ts'
import { type PromptGuardRequestSpec, promptGuard, type RegexGuardSpec } from '../settings/guard-schema.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import type { PromptGuards } from './guard.ts'
import { guardRequest } from './guard-request.ts'
import { loadPhoneNumbers } from './rules/phone-numbers.ts'
import type { ServiceVerdict } from './services/service.ts'

function guarded(
  regex: Partial<RegexGuardSpec>,
  type: RouteType = 'Completions',
  response?: PromptGuardRequestSpec['response'],
): Setup {
  const guard = { regex: { action: 'Mask' as const, ...regex }, ...(response && { response }) }
  const provider = type === 'Messages' ? { providerFour: {} } : { providerOne: {} }
  return { provider, ai: { promptGuard: { request: [guard] }, routes: { '*': type } } }
}

const chat = (content: string) => JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] })

verifies(
  ['backend.ai.promptGuard.regex/matches', 'backend.ai.promptGuard.regex/action-mask'],
  'a match is masked in place, everything else keeps its bytes',
  () => {
    const body = '{ "model":"m", "n": 1.0, "messages":[{"content":"my code is k-1234\\n, say it","role":"user"}] }'
    expect(sent(body, guarded({ matches: ['k-\\d+'] })).text).toBe(
      '{ "model":"m", "n": 1.0, "messages":[{"content":"my code is <masked>\\n, say it","role":"user"}] }',
    )
  },
)

verifies('backend.ai.promptGuard.regex/action-default', 'a rule without action masks', () => {
  const { request } = specFrom(promptGuard, { request: [{ regex: { matches: ['k-\\d+'] } }] })
  const setup: Setup = { ai: { promptGuard: { request: request! } } }
  expect(sent(chat('k-12'), setup).text).toBe(chat('<masked>'))
})

test('texts are found whatever the case of their member: which one a provider reads is not known', () => {
  const body =
    '{"model":"m","messages":[{"role":"user","content":"k-1","Content":[{"type":"text","Te\u212at":"x","TEXT":"k-2"}]}]}'
  expect(sent(body, guarded({ matches: ['k-\\d'] })).text).toBe(
    '{"model":"m","messages":[{"role":"user","content":"<masked>","Content":[{"type":"text","Te\u212at":"x","TEXT":"<masked>"}]}]}',
  )
})

verifies('backend.ai.promptGuard.regex/action-reject', 'a match refuses the request', () => {
  const setup = guarded({ matches: ['secret'], action: 'Reject' })
  expect(sent(chat('nothing'), setup).text).toBe(chat('nothing'))
  expect(refused(chat('a secret'), setup)).toMatchObject({ code: 'prompt-guard-rejected' })
})

verifies(
  ['backend.ai.promptGuard.response/statusCode-default', 'backend.ai.promptGuard.response/message'],
  'the refusal is exactly the message',
  () => {
    const regex = { matches: ['x'], action: 'Reject' as const }
    expect(refused(chat('x'), guarded(regex))).toMatchObject({
      status: 403,
      body: 'The request was rejected due to inappropriate content',
      contentType: 'text/plain; charset=utf-8',
    })
    const message = '{"error":"no"}'
    expect(refused(chat('x'), guarded(regex, 'Completions', { message }))).toMatchObject({
      status: 403,
      body: message,
      contentType: 'application/json',
    })
  },
)

verifies('backend.ai.promptGuard.response/statusCode', 'the refusal has the configured status', () => {
  const regex = { matches: ['x'], action: 'Reject' as const }
  expect(refused(chat('x'), guarded(regex, 'Completions', { statusCode: 422 }))).toMatchObject({ status: 422 })
  expect(refused(chat('x'), guarded(regex, 'Completions', { statusCode: 204 }))).toMatchObject({
    status: 204,
    body: '',
  })
})

const builtins: [name: 'Ssn' | 'CreditCard' | 'PhoneNumber' | 'Email' | 'CaSin', text: string, masked: string][] = [
  ['Ssn', 'it is 123-45-6789.', 'it is <SSN>.'],
  [
    'Ssn',
    '123 45 6789 or 123.45.6789 or 12345-6789 or 123-456789 or 123456789',
    '<SSN> or <SSN> or <SSN> or <SSN> or <SSN>',
  ],
  ['Ssn', 'part 1234567890', 'part 1234567890'],
  ['CreditCard', 'pay 4111 1111 1111 1111 now', 'pay <CREDIT_CARD> now'],
  ['CreditCard', '5500-0000-0000-0004', '<CREDIT_CARD>'],
  ['CreditCard', 'order 2111111111111111', 'order 2111111111111111'],
  ['Email', 'write to a.b+c@mail.example.org!', 'write to <EMAIL_ADDRESS>!'],
  ['PhoneNumber', 'call (212) 736-5000 now', 'call <PHONE_NUMBER> now'],
  ['CaSin', '046-454-286 and 046 454 286', '<CA_SIN> and <CA_SIN>'],
]
verifies(
  [
    'backend.ai.promptGuard.regex/builtin-ssn',
    'backend.ai.promptGuard.regex/builtin-credit-card',
    'backend.ai.promptGuard.regex/builtin-phone-number',
    'backend.ai.promptGuard.regex/builtin-email',
    'backend.ai.promptGuard.regex/builtin-ca-sin',
  ],
  'built-in patterns',
  async () => {
    await loadPhoneNumbers()
    for (const [name, text, masked] of builtins) {
      expect(sent(chat(text), guarded({ builtins: [name] })).text).toBe(chat(masked))
    }
  },
)

verifies('backend.ai.promptGuard.regex/additive', 'own patterns run before the built-in ones', () => {
  const setup = guarded({ matches: ['code \\d+'], builtins: ['Email'] })
  expect(sent(chat('code 7, a@b.example'), setup).text).toBe(chat('<masked>, <EMAIL_ADDRESS>'))
})

const places: [type: RouteType, body: object, masked: object][] = [
  [
    'Completions',
    {
      model: 'm',
      messages: [
        { role: 'developer', content: 'bad' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'bad', function: { name: 'good', arguments: '{"a":["bad"]}' } }],
        },
        { role: 'tool', tool_call_id: 'bad', content: 'bad' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'bad' },
            { type: 'image_url', image_url: { url: 'bad' } },
          ],
        },
      ],
    },
    {
      model: 'm',
      messages: [
        { role: 'developer', content: '<masked>' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'bad', function: { name: 'good', arguments: '{"a":["<masked>"]}' } }],
        },
        { role: 'tool', tool_call_id: 'bad', content: '<masked>' },
        {
          role: 'user',
          content: [
            { type: 'text', text: '<masked>' },
            { type: 'image_url', image_url: { url: 'bad' } },
          ],
        },
      ],
    },
  ],
  [
    'Messages',
    {
      model: 'm',
      system: [{ type: 'text', text: 'bad', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: 'bad' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'bad' },
            { type: 'tool_use', input: { a: 'bad' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', content: [{ type: 'text', text: 'bad' }] },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'bad' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'bad' } },
          ],
        },
      ],
    },
    {
      model: 'm',
      system: [{ type: 'text', text: '<masked>', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: '<masked>' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: '<masked>' },
            { type: 'tool_use', input: { a: '<masked>' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', content: [{ type: 'text', text: '<masked>' }] },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: '<masked>' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'bad' } },
          ],
        },
      ],
    },
  ],
  [
    'Responses',
    {
      model: 'm',
      instructions: 'bad',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'bad' }] },
        { type: 'function_call', name: 'good', arguments: 'bad' },
        { type: 'function_call_output', call_id: 'bad', output: 'bad' },
      ],
    },
    {
      model: 'm',
      instructions: '<masked>',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: '<masked>' }] },
        { type: 'function_call', name: 'good', arguments: '<masked>' },
        { type: 'function_call_output', call_id: 'bad', output: '<masked>' },
      ],
    },
  ],
  ['Embeddings', { model: 'm', input: ['bad', 'good'] }, { model: 'm', input: ['<masked>', 'good'] }],
]
for (const [type, body, masked] of places) {
  test(`texts of ${type} that are masked (B43, B44)`, () => {
    const { text } = sent(JSON.stringify(body), guarded({ matches: ['bad'] }, type))
    expect(JSON.parse(text ?? '')).toEqual(masked)
  })
}

test('texts to embed are checked one by one, because the model reads each by itself', () => {
  const input = ['write to ann@example.org', 'sales', 'card 4111', '1111 1111 1111', 'bob@example.com']
  const { text } = sent(
    JSON.stringify({ model: 'm', input }),
    guarded({ builtins: ['Email', 'CreditCard'] }, 'Embeddings'),
  )
  expect(JSON.parse(text ?? '').input).toEqual([
    'write to <EMAIL_ADDRESS>',
    'sales',
    'card 4111',
    '1111 1111 1111',
    '<EMAIL_ADDRESS>',
  ])
})

test('texts to embed are rejected one by one', () => {
  const setup = guarded({ action: 'Reject', matches: ['project\\s+bluebird'] }, 'Embeddings')
  expect(sent('{"model":"m","input":["project ","bluebird"]}', setup).text).toContain('bluebird')
  expect(refused('{"model":"m","input":["eggs","project bluebird"]}', setup).code).toBe('prompt-guard-rejected')
  expect(refused('{"model":"m","input":"project bluebird"}', setup).code).toBe('prompt-guard-rejected')
})

test('a match in a name rejects, because a name cannot be masked', () => {
  const tools = [{ type: 'function', function: { name: 'bad', description: 'good' } }]
  const body = JSON.stringify({ model: 'm', tools, messages: [] })
  expect(refused(body, guarded({ matches: ['bad'] })).code).toBe('prompt-guard-rejected')
})

test('arguments of tool calls are checked for rejection', () => {
  const call = (input: string) =>
    JSON.stringify({ model: 'm', messages: [{ role: 'assistant', tool_calls: [{ function: { arguments: input } }] }] })
  const setup = guarded({ matches: ['^se\nret$'], action: 'Reject' })
  expect(refused(call('{"q":["se\\nret"]}'), setup).code).toBe('prompt-guard-rejected')
  expect(sent(call('{"q":["open"]}'), setup).kind).toBe('send')
})

test('a match across the parts of a message rejects (B44)', () => {
  const body = (...texts: string[]) =>
    JSON.stringify({ model: 'm', messages: [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }] })
  expect(refused(body('my ssn 123-', '45-', '6789 ok'), guarded({ builtins: ['Ssn'] })).code).toBe(
    'prompt-guard-rejected',
  )
  expect(sent(body('write to ann@example.org', 'now'), guarded({ builtins: ['Email'] })).text).toBe(
    body('write to <EMAIL_ADDRESS>', 'now'),
  )
  const reject = guarded({ matches: ['forbidden'], action: 'Reject' })
  expect(refused(body('forb', 'idden'), reject).code).toBe('prompt-guard-rejected')
})

test('a member that is there twice hides nothing', () => {
  const body = '{"model":"m","messages":[{"role":"user","content":"bad","content":"good"}]}'
  expect(refused(body, guarded({ matches: ['bad'] })).code).toBe('llm-body-invalid')
})

test('a text with half of a character is refused', () => {
  const body = '{"model":"m","messages":[{"role":"user","content":"\\ud83d"}]}'
  const { code, body: text } = refused(body, guarded({ matches: ['bad'] }))
  expect(code).toBe('llm-body-invalid')
  expect(JSON.parse(text ?? '').error.message).toContain('messages[0].content: text with a lone surrogate')
})

test('guards see the configured messages, and texts masked by earlier guards (B51)', () => {
  const promptGuard = {
    request: [
      { regex: { matches: ['alpha'], action: 'Mask' as const } },
      { regex: { matches: ['alpha'], action: 'Reject' as const } },
    ],
  }
  const ai = { promptGuard, prompt: { prepend: [{ role: 'system', content: 'alpha rules' }] } }
  expect(sent(chat('alpha'), { ai }).text).toBe(
    '{"model":"m","messages":[{"role":"system","content":"<masked> rules"},{"role":"user","content":"<masked>"}]}',
  )
})

test('guards that cannot be run close the route, loudly', () => {
  const cases: [guards: object, path: string][] = [
    [{ request: [{ moderationEndpoint: {} }] }, '.promptGuard.request[0].moderationEndpoint'],
    [{ request: [{ regex: { action: 'Mask', matches: ['a', '(?=b)'] } }] }, '.promptGuard.request[0].regex.matches[1]'],
    [{ response: [{ regex: { action: 'Mask', matches: ['(?<=a)'] } }] }, '.promptGuard.response[0].regex.matches[0]'],
  ]
  for (const [promptGuard, path] of cases) {
    const setup = { ai: { promptGuard } }
    expect(compile({ provider: { providerOne: {} } }, setup).problems).toEqual([`${path}: guard-not-runnable`])
    const refusal = refused(chat('hi'), setup)
    expect(refusal.code).toBe('prompt-guard-failed')
    expect(JSON.parse(refusal.body ?? '').error.message).toBe('prompt guard failed')
  }
})

test('a route type that guards do not reach is reported (B42)', () => {
  const ai = {
    ...guarded({ matches: ['x'] }).ai,
    routes: { '/raw': 'Passthrough' as const, '/seen': 'Detect' as const },
  }
  expect(compile({ provider: { providerOne: {} } }, { ai }).problems).toEqual([
    '.routes["/seen"]: guard-not-applied',
    '.routes["/raw"]: guard-not-applied',
  ])
})

test('a request waits for its services, which get the head of the client', async () => {
  const exchange = exchangeWith()
  const heads: Head[] = []
  const guardThat = (verdict: ServiceVerdict): PromptGuards => ({
    closed: false,
    response: [],
    request: [
      {
        ...{ phase: 'request', index: 0, kind: 'webhook' },
        refusal: reject('prompt-guard-rejected', { status: 403, body: 'no' }),
        service: {
          ...{ kind: 'webhook', destination: 'ProxyBackend/default/judge', masks: true },
          judge: ({ head }) => {
            heads.push(head)
            return Promise.resolve(verdict)
          },
        },
      },
    ],
  })
  const guarded = async (content: string, verdict: ServiceVerdict) => {
    const sent = await guardRequest(guardThat(verdict), 'Completions', Buffer.from(chat(content)), exchange)
    return 'kind' in sent ? sent : Buffer.from(sent).toString()
  }
  expect(await guarded('one', { kind: 'pass' })).toBe(chat('one'))
  expect(await guarded('two', { kind: 'mask', contents: ['2'] })).toBe(chat('2'))
  expect(await guarded('three', { kind: 'reject' })).toMatchObject({ status: 403, body: 'no' })
  expect(heads).toEqual([exchange.request, exchange.request, exchange.request])
  exchange.clientHead = Head.request('POST', '/as-received')
  await guarded('four', { kind: 'pass' })
  expect(heads[3]).toBe(exchange.clientHead)
})

test('explain is told which strings guards see', async () => {
  const exchange = exchangeWith()
  const told: string[] = []
  exchange.trace = {
    note: (text: string) => told.push(text),
    step: ({ detail }: { detail: string }) => told.push(detail),
  } as never
  await guardRequest({ closed: false, request: [], response: [] }, 'Completions', Buffer.from(chat('hi')), exchange)
  expect(told).toEqual([
    'user      messages[0].content',
    'unchecked messages[0].role: The provider refuses names of types and roles that it does not know.',
    'unchecked model: The name of a model or of a tier decides where a request goes; the model does not read it.',
    'guards see 1 string of the request',
  ])
})

test('a body that is no JSON is refused in the dialect of the client', async () => {
  const guards: PromptGuards = { closed: false, request: [], response: [] }
  expect(await guardRequest(guards, 'Messages', Buffer.from('{"a":1,"a":2}'), exchangeWith())).toMatchObject({
    code: 'llm-body-invalid',
    body: expect.stringContaining('"type":"error"'),
  })
})
