import { expect, test } from 'vitest'
import { translated } from '#test/support/translated-exchange.ts'

const event = (data: Readonly<Record<string, unknown>>) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

/** A stream of the messages API with as many pieces of text. */
function messagesStream(pieces: number): string {
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage }
  return [
    event({ type: 'message_start', message }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'word ' } }).repeat(pieces),
    event({ type: 'content_block_stop', index: 0 }),
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } }),
    event({ type: 'message_stop' }),
  ].join('')
}

test('the limit of bodies is not a limit of streams, also where the end repeats all of the stream', () => {
  const setup = { provider: { providerFour: {} }, ai: { routes: { '*': 'Responses' } } } as const
  const answer = { headers: { 'content-type': 'text/event-stream' }, body: messagesStream(500) }
  // 1,000 bytes are the limit of bodies here.
  const { text, facts } = translated({ model: 'm', input: 'q', stream: true }, setup, answer)
  expect(text).toContain('event: response.completed')
  expect(text).toContain(`"text":"${'word '.repeat(500)}"`)
  expect(facts.outputTokens).toBe(9)
})

test('an answer without an id has that of its request in the facts', () => {
  const body = { output: { message: { content: [{ text: 'x' }] } }, stopReason: 'end_turn' }
  const answer = { headers: { 'x-amzn-requestid': 'c0ffee' }, body }
  const request = { model: 'm', messages: [{ role: 'user', content: 'q' }] }
  const { facts } = translated(request, { provider: { providerSeven: {} }, ai: {} }, answer)
  expect(facts.responseId).toBe('c0ffee')
})

test.each([
  ['Completions', { providerFour: {} }, 'a page'],
  ['Messages', { providerOne: {} }, '{"choices":1}'],
  ['Completions', { providerSeven: {} }, '{}'],
] as const)('an answer that cannot be translated has the type of its refusal: %s of %j', (type, provider, body) => {
  const setup = { provider, ai: { routes: { '*': type } } }
  const { status, text, facts } = translated(
    { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'q' }] },
    setup,
    { body },
  )
  expect([status, facts.errorType]).toEqual([502, 'llm-response-invalid'])
  expect(text).toContain('llm-response-invalid')
})

test('an answer that is whole is limited', () => {
  const setup = { provider: { providerFour: {} }, ai: { routes: { '*': 'Responses' } } } as const
  const answer = { headers: { 'content-type': 'text/event-stream' }, body: messagesStream(500) }
  const { status, text } = translated({ model: 'm', input: 'q' }, setup, answer)
  expect([status, JSON.parse(text).error.message]).toEqual([
    502,
    "invalid provider response: the provider's response is too large to be translated",
  ])
})
