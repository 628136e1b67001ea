import { expect, test } from 'vitest'
import { translated } from '#test/support/translated-exchange.ts'

// One exchange with each kind of provider that does not have the responses API; what is carried is in `test/llm`.

const MESSAGE = {
  id: 'msg_1',
  model: 'claude-x',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 7, output_tokens: 2 },
}
const COMPLETION = {
  id: 'c',
  model: 'gemini-x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
}
const CONVERSED = {
  output: { message: { role: 'assistant', content: [{ text: 'Hello.' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 7, outputTokens: 2, totalTokens: 9 },
}

const project = { resourceName: 'res', resourceType: 'ResourceTypeTwo', projectName: 'proj' }
const six = { providerSix: { projectId: 'p', region: 'us-east1' } }
const vertex = '/v1/projects/p/locations/us-east1'

test.each<[what: string, provider: object, model: string, path: string, answer: object]>([
  ['a project of provider three', { providerThree: project }, 'claude-opus-5', '/anthropic/v1/messages', MESSAGE],
  ['provider four', { providerFour: {} }, 'claude-opus-5', '/v1/messages', MESSAGE],
  ['provider five', { providerFive: {} }, 'gemini-3-pro', '/v1beta/openai/chat/completions', COMPLETION],
  ['provider six', six, 'gemini-3-pro', `${vertex}/endpoints/openapi/chat/completions`, COMPLETION],
  [
    'provider six, messages',
    six,
    'claude-opus-5',
    `${vertex}/publishers/anthropic/models/claude-opus-5:rawPredict`,
    MESSAGE,
  ],
  ['provider seven', { providerSeven: {} }, 'amazon.nova-pro-v1:0', '/model/amazon.nova-pro-v1:0/converse', CONVERSED],
])('%s', (_, provider, model, path, body) => {
  const exchange = translated(
    { model, instructions: 'Be brief.', input: 'Hi.', metadata: { a: 'b' } },
    { provider, ai: { routes: { '*': 'Responses' } } },
    { body },
  )
  expect(exchange.path).toBe(path)
  expect(JSON.stringify(exchange.request)).toContain('Be brief.')
  expect(exchange.dropped).toEqual(['metadata'])
  expect(JSON.parse(exchange.text)).toMatchObject({
    object: 'response',
    status: 'completed',
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] }],
    usage: { input_tokens: 7, output_tokens: 2, total_tokens: 9 },
    metadata: { a: 'b' },
  })
  expect(exchange.facts).toMatchObject({ translation: { from: 'responses' }, totalTokens: 9 })
})

test('an error of the provider has the form of the API, and its status', () => {
  const body = { type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } }
  const { status, text } = translated(
    { model: 'claude-opus-5', input: 'Hi.' },
    { provider: { providerFour: {} }, ai: { routes: { '*': 'Responses' } } },
    { status: 529, body },
  )
  expect(status).toBe(529)
  expect(JSON.parse(text)).toEqual({
    error: { message: 'Busy.', type: 'server_error', param: null, code: 'overloaded_error' },
  })
})
