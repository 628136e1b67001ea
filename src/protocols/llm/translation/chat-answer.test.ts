import { expect, test } from 'vitest'
import { NO_LLM } from '#exchange/llm-facts.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { RESPONSE_DECODING } from '#net/body/response-decoding.ts'
import { Head } from '#net/http/head.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { sent } from '#test/support/prepare-llm.ts'
import { translated } from '#test/support/translated-exchange.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { observeResponse } from '../answer/read-response.ts'
import { Collector } from '../testing.ts'

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

test.each([
  [200, 502, 'unknown or damaged content coding'],
  [429, 429, ''],
])('a response with status %i that cannot be decoded is an error with status %i', (status, given, message) => {
  const request = { model: 'm', messages: [{ role: 'user', content: 'q' }] }
  const answer = { status, headers: { 'content-encoding': 'gzip' }, body: 'no gzip' }
  const { status: got, text } = translated(request, { provider: { providerFour: {} }, ai: {} }, answer)
  expect([got, JSON.parse(text).error.message]).toEqual([given, expect.stringContaining(message)])
})

/** Cancels the response of the provider when text arrives, as a guard that rejects it does. */
class Rejecting extends ForwardingSink {
  cancelResponse = () => {}

  override bytes(buffer: Buffer, start: number, end: number): void {
    super.bytes(buffer, start, end)
    this.cancelResponse()
  }
}

test.each([
  ['while a guard gets its end', 0],
  ['afterwards', 0],
  ['never', 1],
] as const)(
  'the rest of a response is cancelled after a second, unless that has been done: %s',
  async (when, cancels) => {
    using time = new VirtualTime()
    const request = { model: 'm', stream: true, messages: [{ role: 'user', content: 'q' }] }
    const { response, facts = { ...NO_LLM } } = sent(JSON.stringify(request), {
      provider: { providerFour: {} },
      ai: {},
    })
    const exchange = exchangeWith()
    exchange.llm = facts
    exchange.response = Head.response(200)
    exchange.response.set('content-type', 'text/event-stream')
    const claim = new BodyClaim(new BodyMemory(2 ** 24))
    const filter = observeResponse(response, exchange, { claim, decoding: RESPONSE_DECODING })!
    let cancelled = 0
    filter.whenOver?.(() => cancelled++)
    const client = new Rejecting(new Collector())
    const sink = filter.into(client)
    if (when === 'while a guard gets its end') client.cancelResponse = () => sink.abort('cancelled')
    const answer = Buffer.from(messagesStream(1))
    sink.bytes(answer, 0, answer.length)
    if (when === 'afterwards') sink.abort('cancelled')
    await time.pass(2000)
    expect(cancelled).toBe(cancels)
  },
)

test('a translated stream that the client leaves is charged for what has arrived', () => {
  const request = { model: 'm', stream: true, messages: [{ role: 'user', content: 'q' }] }
  const { response, facts = { ...NO_LLM } } = sent(JSON.stringify(request), {
    ...{ provider: { providerFour: {} }, ai: {}, reads: { tokens: true } },
  })
  const exchange = exchangeWith()
  exchange.llm = facts
  exchange.response = Head.response(200)
  exchange.response.set('content-type', 'text/event-stream')
  const claim = new BodyClaim(new BodyMemory(2 ** 24))
  const sink = observeResponse(response, exchange, { claim, decoding: RESPONSE_DECODING })!.into(new Collector())
  const answer = Buffer.from(messagesStream(100))
  sink.bytes(answer, 0, answer.indexOf('message_delta'))
  sink.abort('cancelled')
  response.account!.settle(false)
  expect(facts.areTokensEstimated).toBe(true)
  expect(facts.outputTokens).toBeGreaterThan(90)
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

const OVERLOADED = event({ type: 'error', error: { type: 'overloaded_error', message: 'busy with q' } })
const GATEWAY_ERROR = { type: 'overloaded_error', code: 'llm-response-invalid', message: 'busy with q' }
const UNREADABLE = 'event: message_start\ndata: no\n\n'

test.each([
  [false, OVERLOADED, 'busy with q', 'busy with q'],
  [true, OVERLOADED, "the provider's response failed: overloaded_error", 'busy with q'],
  [
    true,
    event({ type: 'error', error: GATEWAY_ERROR }),
    "the provider's response failed: overloaded_error",
    'busy with q',
  ],
  [true, UNREADABLE, 'an event of the stream is not JSON', 'an event of the stream is not JSON'],
])('where guards check answers (%s), the log has no words of the provider: %j', (isGuarded, answer, detail, shown) => {
  const request = { model: 'm', stream: true, messages: [{ role: 'user', content: 'q' }] }
  const { response, facts = { ...NO_LLM } } = sent(JSON.stringify(request), { provider: { providerFour: {} }, ai: {} })
  const exchange = exchangeWith()
  exchange.llm = { ...facts, isGuarded }
  exchange.response = Head.response(200)
  exchange.response.set('content-type', 'text/event-stream')
  const claim = new BodyClaim(new BodyMemory(2 ** 24))
  const filter = observeResponse(response, exchange, { claim, decoding: RESPONSE_DECODING })!
  filter.whenBegun?.(() => {})
  const sink = filter.into(new Collector())
  const bytes = Buffer.from(answer)
  sink.bytes(bytes, 0, bytes.length)
  sink.end()
  expect(filter.refusal?.detail).toBe(detail)
  expect(JSON.parse(String(filter.refusal?.body)).error.message).toBe(`invalid provider response: ${shown}`)
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
