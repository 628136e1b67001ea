import { describe, expect, test } from 'vitest'
import { refused, type Setup } from '#test/support/prepare-llm.ts'
import { translated } from '#test/support/translated-exchange.ts'
import { verifies } from '#test/support/verifies.ts'

const routes = { '*': 'Embeddings' } as const
const six: Setup = { provider: { providerSix: { projectId: 'p', region: 'us-east1' } }, ai: { routes } }
const seven: Setup = { provider: { providerSeven: {} }, ai: { routes } }

interface Row {
  readonly setup: Setup
  readonly request: object
  readonly path: string
  readonly sent: object
  readonly answer: object
  readonly headers?: Readonly<Record<string, string>>
  readonly vectors: readonly unknown[]
  readonly tokens: number
  readonly dropped?: readonly string[]
}

const rows: Readonly<Record<string, Row>> = {
  'predict, several texts': {
    setup: six,
    request: { model: 'text-embedding-005', input: ['a', 'é"'], dimensions: 256, user: 'u', x: { y: 1 } },
    path: '/v1/projects/p/locations/us-east1/publishers/google/models/text-embedding-005:predict',
    sent: {
      instances: [
        { content: 'a', task_type: 'RETRIEVAL_QUERY' },
        { content: 'é"', task_type: 'RETRIEVAL_QUERY' },
      ],
      parameters: { outputDimensionality: 256 },
    },
    answer: {
      predictions: [
        { embeddings: { values: [0.5, -1], statistics: { token_count: 3 } } },
        { embeddings: { values: [1e-7, 2], statistics: { token_count: 4 } } },
      ],
    },
    vectors: [
      [0.5, -1],
      [1e-7, 2],
    ],
    tokens: 7,
    dropped: ['user', 'x'],
  },
  'predict, its own members': {
    setup: six,
    request: { model: 'm', input: 'a', task_type: 'CLUSTERING', title: 't', auto_truncate: false },
    path: '/v1/projects/p/locations/us-east1/publishers/google/models/m:predict',
    sent: { instances: [{ content: 'a', task_type: 'CLUSTERING', title: 't' }], parameters: { autoTruncate: false } },
    answer: { predictions: [{ embeddings: { values: [1] } }] },
    vectors: [[1]],
    tokens: 0,
  },
  titan: {
    setup: seven,
    request: { model: 'amazon.titan-embed-text-v2:0', input: ['a'], dimensions: 512, normalize: true, x: 1 },
    path: '/model/amazon.titan-embed-text-v2:0/invoke',
    sent: { inputText: 'a', dimensions: 512, normalize: true },
    answer: { embedding: [1, 2], inputTextTokenCount: 5 },
    vectors: [[1, 2]],
    tokens: 5,
    dropped: ['x'],
  },
  'titan, by type': {
    setup: seven,
    request: { model: 'amazon.titan-embed-text-v2:0', input: 'a' },
    path: '/model/amazon.titan-embed-text-v2:0/invoke',
    sent: { inputText: 'a' },
    answer: { embeddingsByType: { float: [3] }, inputTextTokenCount: 1 },
    vectors: [[3]],
    tokens: 1,
  },
  cohere: {
    setup: seven,
    request: { model: 'cohere.embed-english-v3', input: ['a', 'b'], dimensions: 512, truncate: 'END', x: 1 },
    path: '/model/cohere.embed-english-v3/invoke',
    sent: { texts: ['a', 'b'], input_type: 'search_query', truncate: 'END' },
    answer: { embeddings: [[1], [2]] },
    headers: { 'x-amzn-bedrock-input-token-count': '9' },
    vectors: [[1], [2]],
    tokens: 9,
    dropped: ['x', 'dimensions (the model supports only one vector size)'],
  },
  'cohere, version 4': {
    setup: seven,
    request: { model: 'arn:aws:bedrock:x/cohere.embed-v4:0', input: 'a', dimensions: 512, input_type: 'clustering' },
    path: '/model/arn:aws:bedrock:x%2Fcohere.embed-v4:0/invoke',
    sent: { texts: ['a'], input_type: 'clustering', output_dimension: 512 },
    answer: { embeddings: { float: [[1]] } },
    vectors: [[1]],
    tokens: 0,
  },
  nova: {
    setup: seven,
    request: { model: 'amazon.nova-2-multimodal-embeddings-v1:0', input: 'a', dimensions: 384, x: 1 },
    path: '/model/amazon.nova-2-multimodal-embeddings-v1:0/invoke',
    sent: {
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: 'GENERIC_INDEX',
        embeddingDimension: 384,
        text: { truncationMode: 'END', value: 'a' },
      },
    },
    answer: { embeddings: [{ embeddingType: 'TEXT', embedding: [0.25] }] },
    headers: { 'x-amzn-bedrock-input-token-count': '2' },
    vectors: [[0.25]],
    tokens: 2,
    dropped: ['x'],
  },
}

describe('embeddings for clients of the API that OpenAI made', () => {
  test.each(Object.entries(rows))('%s', (_name, row) => {
    const { model } = row.request as { model: string }
    const { headers = {}, answer } = row
    const exchange = translated(row.request, row.setup, { headers, body: answer })
    expect([exchange.path, exchange.request, exchange.dropped]).toEqual([row.path, row.sent, row.dropped ?? []])
    expect([exchange.status, exchange.contentType]).toEqual([200, 'application/json'])
    expect(JSON.parse(exchange.text)).toEqual({
      object: 'list',
      data: row.vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      model,
      usage: { prompt_tokens: row.tokens, total_tokens: row.tokens },
    })
    const counted = row.tokens === 0 ? undefined : row.tokens
    expect([exchange.facts.inputTokens, exchange.facts.totalTokens]).toEqual([counted, counted])
  })
})

verifies(['llm.routes/embeddings'], 'vectors as base64 of 32-bit floats, as the official clients ask for them', () => {
  const request = { model: 'm', input: 'a', encoding_format: 'base64' }
  const { text } = translated(request, six, { body: { predictions: [{ embeddings: { values: [1, -0.5] } }] } })
  const floats = new Float32Array(Uint8Array.fromBase64(JSON.parse(text).data[0].embedding).buffer)
  expect([...floats]).toEqual([1, -0.5])
})

test.each(['-5', '1.5', '1e13', '1e400', '"7"', '[7]', 'null'])('%s is no count of tokens', (count) => {
  const vector = '{"embedding":[1],"embeddings":{"float":[[1]]},"inputTextTokenCount":'
  const answers = [
    translated({ model: 'm', input: 'a' }, six, {
      body: `{"predictions":[{"embeddings":{"values":[1],"statistics":{"token_count":${count}}}}]}`,
    }),
    translated({ model: 'amazon.titan-embed-text-v2:0', input: 'a' }, seven, { body: `${vector}${count}}` }),
    translated({ model: 'cohere.embed-english-v3', input: 'a' }, seven, {
      headers: { 'x-amzn-bedrock-input-token-count': count },
      body: `${vector}1}`,
    }),
  ]
  for (const { facts, text } of answers) {
    expect([facts.inputTokens, facts.totalTokens]).toEqual([undefined, undefined])
    expect(JSON.parse(text).usage).toEqual({ prompt_tokens: 0, total_tokens: 0 })
  }
})

test('numbers keep all their digits', () => {
  const body = '{"predictions":[{"embeddings":{"values":[0.12345678901234567890, 1e-3]}}]}'
  expect(translated({ model: 'm', input: 'a' }, six, { body }).text).toContain(
    '"embedding":[0.12345678901234567890, 1e-3]',
  )
})

test.each<[input: unknown, more: object, setup: Setup, message: string]>([
  [undefined, {}, six, 'input is required'],
  [[], {}, six, 'input: must not be empty'],
  [[1, 2], {}, six, 'input[0]: must be a string; this provider does not accept tokens'],
  ['a', { dimensions: '1' }, six, 'dimensions: must be a number'],
  ['a', { encoding_format: 'int8' }, six, 'encoding_format: must be one of float, base64'],
  [['a', 'b'], {}, seven, 'input: this model embeds one text at a time'],
])('an input that cannot be embedded is refused: %j %j', (input, more, setup, message) => {
  const { code, body } = refused(JSON.stringify({ model: 'm', input, ...more }), setup)
  expect([code, JSON.parse(String(body)).error.message]).toEqual([
    'llm-body-invalid',
    `invalid request body: ${message}`,
  ])
})

test.each<[answer: unknown, message: string]>([
  [{}, 'the response has 0 vectors for 1 inputs'],
  [{ predictions: [{ embeddings: { values: 3 } }] }, 'predictions[0].embeddings.values: must be a list'],
  ['{"predictions":', 'the response is not JSON at byte 15'],
  ['x'.repeat(2000), 'the response is too large'],
])('a response that makes no sense is refused with 502: %j', (body, message) => {
  const { status, text } = translated({ model: 'm', input: 'a' }, six, { body })
  expect([status, JSON.parse(text).error.message]).toEqual([502, `invalid provider response: ${message}`])
})

test('an error of the provider keeps its status, in the form of the client', () => {
  const error = { error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' } }
  const { status, contentType, text } = translated({ model: 'm', input: 'a' }, six, { status: 429, body: error })
  expect([status, contentType, JSON.parse(text).error]).toEqual([
    429,
    'application/json',
    { message: 'Quota exceeded', type: 'rate_limit_error', param: null, code: 'RESOURCE_EXHAUSTED' },
  ])
})
