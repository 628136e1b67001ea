import { expect, test } from 'vitest'
import { prepare, refused, type Setup, sent } from '#test/support/prepare-llm.ts'
import { verifies } from '#test/support/verifies.ts'
import type { RouteType } from '../settings/policy-schema.ts'

const CHAT = '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"hi"}]}'

test('a body that needs no change is forwarded with identical bytes', () => {
  const { prepared, bytes } = prepare(CHAT)
  expect(prepared.kind === 'send' && prepared.body === bytes).toBe(true)
})

test('facts of the request', () => {
  expect(sent('{"model":"gpt-4o-mini","stream":true,"stream_options":{"include_usage":true}}').facts).toMatchObject({
    provider: 'openai',
    serverAddress: 'api.openai.com',
    requestModel: 'gpt-4o-mini',
    streaming: true,
  })
})

test.each<[model: string, known: string | undefined, setup?: Setup]>([
  ['gpt-4o-mini', 'gpt-4o-mini'],
  ['gpt-4o-mini-2024-07-18', 'gpt-4o-mini'],
  ['invented', undefined],
  ['invented', 'pinned', { provider: { providerOne: { model: 'pinned' } } }],
  ['fast', 'target', { ai: { modelAliases: { fast: 'target' } } }],
  ['target', 'target', { ai: { modelAliases: { fast: 'target' } } }],
  ['invented', undefined, { ai: { modelAliases: { fast: 'target' } } }],
  ['gpt-4o', 'gpt-4o', { ai: { routes: { '*': 'Detect' } } }],
  ['invented', undefined, { ai: { routes: { '*': 'Detect' } } }],
])('model %s is known as %s', (model, known, setup = {}) => {
  expect(sent(JSON.stringify({ model }), setup).facts?.knownModel).toBe(known)
})

verifies(
  [
    'backend.ai.provider/path-default',
    'backend.ai.provider/providerOne',
    'llm.routes/responses',
    'llm.routes/embeddings',
  ],
  'provider one has a path for each format',
  () => {
    const paths: [RouteType, string][] = [
      ['Completions', '/v1/chat/completions'],
      ['Responses', '/v1/responses'],
      ['Embeddings', '/v1/embeddings'],
    ]
    for (const [type, path] of paths) {
      expect(sent(CHAT, { ai: { routes: { '*': type } }, target: '/anything?a=b' }).path).toBe(`${path}?a=b`)
    }
  },
)

verifies('backend.ai.provider/pathPrefix', 'the prefix replaces the base of the path', () => {
  const spec = { providerOne: {}, pathPrefix: '/openai/api/' }
  expect(sent(CHAT, { provider: spec }).path).toBe('/openai/api/chat/completions')
})

verifies('backend.ai.provider/pathPrefix-translation', 'with the prefix, other formats are still translated', () => {
  const four: Setup = { provider: { providerFour: {}, pathPrefix: '/gate' } }
  const asked = '{"model":"claude-opus-5","messages":[{"role":"user","content":"Hi."}]}'
  const inMessages = '"messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]}]'
  const chat = sent(asked, four)
  expect(chat.path).toBe('/gate/messages')
  expect(chat.text).toContain(inMessages)
  const response = sent('{"model":"claude-opus-5","input":"Hi."}', { ...four, ai: { routes: { '*': 'Responses' } } })
  expect(response.path).toBe('/gate/messages')
  expect(response.text).toContain(inMessages)
})

verifies('backend.ai.provider/path', 'a configured path replaces that of the provider, the query stays', () => {
  const setup = { provider: { providerOne: {}, path: '/chat?api-version=7' }, target: '/x?api-version=1&b=2' }
  expect(sent(CHAT, setup).path).toBe('/chat?api-version=7&b=2')
})

test('pin beats client, alias is looked up once on the result (B18, B19)', () => {
  const ai = { modelAliases: { fast: 'gpt-4o-mini', 'gpt-4o-mini': 'never', 'claude-*': 'gpt-4o' } }
  expect(sent('{"model": "fast", "n":1}', { ai }).text).toBe('{"model": "gpt-4o-mini", "n":1}')
  expect(sent('{"model":"claude-x"}', { ai }).text).toBe('{"model":"gpt-4o"}')
  expect(sent('{"model":"x"}', { ai, provider: { providerOne: { model: 'fast' } } }).text).toBe(
    '{"model":"gpt-4o-mini"}',
  )
  expect(sent('{}', { provider: { providerOne: { model: 'pinned' } } }).text).toBe('{"model":"pinned"}')
})

test('streams are made to ask for usage (B35)', () => {
  const plain = sent('{"model":"m","stream":true}')
  expect(plain.text).toBe('{"model":"m","stream":true,"stream_options":{"include_usage":true}}')
  expect(plain.response.hidesUsage).toBe(true)

  const asked = '{"model":"m","stream":true,"stream_options":{"include_usage":true}}'
  expect(sent(asked).text).toBe(asked)
  expect(sent(asked).response.hidesUsage).toBe(false)

  const declined = '{"model":"m","stream":true,"stream_options":{"include_usage":false,"x":1}}'
  expect(sent(declined).text).toBe(declined)
  const forced = sent(declined, { reads: { tokens: true } })
  expect(forced.text).toBe('{"model":"m","stream":true,"stream_options":{"include_usage":true,"x":1}}')
  expect(forced.response.hidesUsage).toBe(true)
  for (const odd of ['5', '{"include_usage":true,"include_usage":false}']) {
    expect(sent(`{"model":"m","stream":true,"stream_options":${odd}}`, { reads: { tokens: true } }).text).toBe(
      plain.text,
    )
  }
})

test('max_tokens moves for models that refuse it (B27)', () => {
  expect(sent('{"model":"gpt-5","max_tokens":7}').text).toBe('{"model":"gpt-5","max_completion_tokens":7}')
  expect(sent('{"max_tokens":7,"model":"o3","max_completion_tokens":9}').text).toBe(
    '{"model":"o3","max_completion_tokens":9}',
  )
  expect(sent('{"model":"omni","max_tokens":7}').text).toBe('{"model":"omni","max_tokens":7}')
})

verifies(
  [
    'backend.ai.defaults/merged',
    'backend.ai.defaults/request-wins',
    'backend.ai.defaults/field-of-body',
    'backend.ai.defaults/value-any-json',
    'backend.ai.overrides/overwrite',
    'backend.ai.transformations/overwrite',
    'backend.ai.transformations/beats-overrides',
  ],
  'body settings keep everything else byte for byte (B29, B102)',
  () => {
    const ai = {
      defaults: [
        { field: 'temperature', value: 0 },
        { field: 'user', value: 'default' },
        { field: 'seed', value: 1 },
      ],
      overrides: [
        { field: 'n', value: [1, { a: null }] },
        { field: 'é', value: 2 },
      ],
      transformations: [
        { field: 'user', expression: 'fails' },
        { field: 'n', expression: 'works' },
      ],
    }
    const body = '{ "10":1, "2" : 12345678901234567890.10, "model":"m" ,"seed":null,"user":"u","n":1, "\\u00e9":1 }'
    expect(sent(body, { ai, results: { works: 5 } }).text).toBe(
      '{ "10":1, "2" : 12345678901234567890.10, "model":"m" ,"seed":null,"user":"default","n":5, "\\u00e9":2,"temperature":0 }',
    )
  },
)

verifies('backend.ai.defaults/system', 'a default can set the system text of the messages format', () => {
  const defaults = [{ field: 'system', value: [{ type: 'text', text: 'rules' }] }]
  const setup = { provider: { providerFour: {} }, ai: { defaults, routes: { '*': 'Messages' as const } } }
  expect(sent('{"model":"m"}', setup).text).toBe('{"model":"m","system":[{"type":"text","text":"rules"}]}')
  expect(sent('{"model":"m","system":"own"}', setup).text).toBe('{"model":"m","system":"own"}')
})

test('a transformation that fails removes the field, and is recorded', () => {
  const ai = {
    transformations: [
      { field: 'max_tokens', expression: 'fails' },
      { field: 'n', expression: 'works' },
    ],
  }
  const given = { ai, results: { works: 5 } }
  const { text, facts } = sent('{"model":"m","max_tokens":9999}', given)
  expect([text, facts?.removedFields]).toEqual(['{"model":"m","n":5}', ['max_tokens']])
  expect(sent('{"model":"m"}', given).facts?.removedFields).toEqual([])
  const overridden = { ...given, ai: { ...ai, overrides: [{ field: 'max_tokens', value: 1 }] } }
  expect(sent('{"model":"m"}', overridden).facts?.removedFields).toEqual(['max_tokens'])
  expect(sent('{"model":"m"}', { ai: { defaults: [{ field: 'n', value: 1 }] } }).facts?.removedFields).toEqual([])
})

test('a field whose transformation fails is removed wherever it stands', () => {
  const ai = { transformations: [{ field: 'max_tokens', expression: 'fails' }] }
  expect(sent('{"model":"m","max_tokens":9999}', { ai }).text).toBe('{"model":"m"}')
  expect(sent('{"max_tokens":9999,"model":"m"}', { ai }).text).toBe('{"model":"m"}')
})

type LlmRefusal = [name: string, body: string | undefined, setup: Setup, status: number, code: string, message: string]
const refusals: LlmRefusal[] = [
  ['no model', '{"messages":[]}', {}, 400, 'llm-model-missing', 'model is required'],
  ['model is no string', '{"model":4}', {}, 400, 'llm-model-missing', 'model is required'],
  ['bad JSON', '{"model":"m",}', {}, 400, 'llm-body-invalid', 'invalid request body: not JSON at byte 13'],
  [
    'a broken escape',
    '{"model":"m","a":[{"b":"\\x"}]}',
    {},
    400,
    'llm-body-invalid',
    'invalid request body: not JSON at byte 24',
  ],
  [
    'a line feed in a string',
    '{"model":"m","a":"b\n"}',
    {},
    400,
    'llm-body-invalid',
    'invalid request body: not JSON at byte 19',
  ],
  ['no body', undefined, {}, 400, 'llm-body-invalid', 'invalid request body: a JSON object is required'],
  ['empty', '', {}, 400, 'llm-body-invalid', 'invalid request body: a JSON object is required'],
  ['no object', '[1]', {}, 400, 'llm-body-invalid', 'invalid request body: a JSON object is required'],
  [
    'twice',
    '{"model":"m","\\u006dodel":"x"}',
    {},
    400,
    'llm-body-invalid',
    'invalid request body: duplicate key at byte 13',
  ],
  ...[
    ...[
      'Model',
      '\u017ftream',
      'Stream_Options',
      'U\u017fer',
      'Metadata',
      'Messages',
      'System',
      'Instructions',
      'Input',
    ],
    ...['Max_Tokens', 'Max_Completion_Tokens', 'Max_Output_Tokens', 'N', 'Temperature', 'Top_P', 'Seed'],
    ...['Frequency_Penalty', 'Presence_Penalty', 'Dimensions', 'Encoding_Format', 'Tools', 'Tool_Choice'],
  ].map(
    (key): LlmRefusal => [
      `${key} beside model`,
      `{"model":"m","${key}":"x"}`,
      {},
      400,
      'llm-body-invalid',
      'invalid request body: key with different letter case at byte 13',
    ],
  ),
  ...[
    ['first', '{"Model":"x","model":"m"}', 1],
    ['later', '{"a":1,"b":2,"Model":"x","model":"m"}', 13],
  ].map(
    ([place, body, at]): LlmRefusal => [
      `a key in another case, ${place}`,
      `${body}`,
      {},
      400,
      'llm-body-invalid',
      `invalid request body: key with different letter case at byte ${at}`,
    ],
  ),
  [
    'a configured field in another case',
    '{"model":"m","TOPK":1}',
    { ai: { overrides: [{ field: 'topK', value: 4 }] } },
    400,
    'llm-body-invalid',
    'invalid request body: key with different letter case at byte 13',
  ],
]
test.each(['Models', 'topk', 'Nothing', 'x-Model'])('%s is no member that anything reads', (key) => {
  expect(sent(`{"model":"m","${key}":1}`).text).toBe(`{"model":"m","${key}":1}`)
})

test('an option of usage in another case does not hide usage from limits', () => {
  const body = '{"model":"m","stream":true,"stream_options":{"include_usage":true,"Include_Usage":false}}'
  const { text } = sent(body, { reads: { tokens: true } })
  expect(text).toBe('{"model":"m","stream":true,"stream_options":{"include_usage":true}}')
})

test('a body that is not UTF-8 is refused with the byte', () => {
  const body = Buffer.from('{"model":"m","user":"\xe9"}', 'latin1')
  expect(refused(body, {}).body).toContain('"invalid request body: not JSON at byte 21"')
})

test('Detect forwards what is not JSON', () => {
  const ai = { routes: { '*': 'Detect' } } as const
  for (const body of ['{"model":"a', '{"model":"a","b":"\n"}', '{"model":"a","b":"\\x"}']) {
    expect(sent(body, { ai })).toMatchObject({ text: undefined, facts: { requestModel: '' } })
  }
})

test('Detect finds nothing in an ambiguous body', () => {
  const ai = { routes: { '*': 'Detect' } } as const
  expect(sent('{"model":"a","Model":"b"}', { ai }).facts).toMatchObject({ requestModel: '' })
})

for (const [name, body, setup, status, code, message] of refusals) {
  test(`refusal in the dialect of chat completions: ${name}`, () => {
    const refusal = refused(body, setup)
    expect(refusal).toMatchObject({ code, contentType: 'application/json' })
    const type = status < 500 ? 'invalid_request_error' : 'server_error'
    expect(JSON.parse(refusal.body ?? '')).toEqual({ error: { message, type, param: null, code } })
  })
}

test('a request that cannot be translated names the provider and the model, for operators only', () => {
  const image = '{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}'
  const body = `{"model":"fast","messages":[{"role":"user","content":[${image}]}]}`
  const ai = { modelAliases: { fast: 'anthropic.claude-sonnet-4-5' } }
  const refusal = refused(body, { provider: { providerSeven: {} }, ai })
  const why = 'messages[0].content[0]: the provider of this request does not accept URLs; send the data itself'
  expect(refusal.detail).toBe(`${why} (for aws.bedrock, model anthropic.claude-sonnet-4-5)`)
  expect(JSON.parse(refusal.body ?? '').error.message).toBe(`invalid request body: ${why}`)
})

test('a translated request has no fields for the vendor of the client, except a configured key', () => {
  const headers = { 'anthropic-version': '2023-06-01', 'x-stainless-lang': 'js', 'x-api-key': 'k', 'x-tenant': 'a' }
  const body = '{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"Hi"}]}'
  const removed = (provider: object, credential?: Setup['credential']) => {
    const ai = { routes: { '*': 'Messages' } } as const
    const setup = { provider, headers, ai, ...(credential && { credential }) }
    return sent(body, setup).headers.remove.toSorted()
  }
  const keyElsewhere = { source: 'key', location: 'elsewhere' } as const
  expect(removed({ providerOne: {} })).toEqual([
    'accept-encoding',
    'anthropic-version',
    'x-api-key',
    'x-stainless-lang',
  ])
  expect(removed({ providerOne: {} }, keyElsewhere)).toEqual([
    'accept-encoding',
    'anthropic-version',
    'x-stainless-lang',
  ])
  expect(removed({ providerFour: {} })).toEqual(['accept-encoding'])
})

test('a body has at most 1,000 members, besides those of settings', () => {
  const body = (count: number) => `{"model":"m"${Array.from({ length: count - 1 }, (_, i) => `,"m${i}":1`).join('')}}`
  const ai = { overrides: [{ field: 'user', value: 'u' }] }
  expect(sent(body(1000), { ai }).text).toBe(`${body(1000).slice(0, -1)},"user":"u"}`)
  expect(refused(body(1001)).detail).toBe('more than 1000 members')
})

test('a digest of the body of the client is not sent with another body', () => {
  const headers = { 'content-digest': 'sha-256=:x:', 'repr-digest': 'x', digest: 'x', 'content-md5': 'x', 'x-a': 'x' }
  const removedWith = (ai: object) =>
    sent(CHAT, { ai, headers })
      .headers.remove.filter((name) => Object.hasOwn(headers, name))
      .sort()
  expect(removedWith({})).toEqual([])
  expect(removedWith({ overrides: [{ field: 'user', value: 'u' }] })).toEqual(Object.keys(headers).slice(0, -1).sort())
})

test.each<[given: string, translated: boolean, set: string | undefined]>([
  ['', true, 'application/json'],
  ['text/plain', true, 'application/json'],
  ['application/json', true, undefined],
  ['', false, 'application/json'],
  ['text/plain', false, 'application/json'],
  ['application/json', false, undefined],
  ['application/json; charset=utf-8', true, undefined],
  ['Application/JSON;charset="UTF-8"', false, undefined],
  // Express reads it so: +AGY- is the letter f.
  ['application/json; charset=utf-7', false, 'application/json'],
  ['application/json; charset=utf-8; charset=utf-7', false, 'application/json'],
  ['application/json, application/json; charset=utf-7', false, 'application/json'],
])('with content type %s (translated: %j), the provider gets %s', (given, translated, set) => {
  const provider = translated ? { providerFour: {} } : { providerOne: {} }
  const { headers } = sent(CHAT, { provider, headers: { 'content-type': given } })
  expect(new Map(headers.set).get('content-type')).toBe(set)
})
