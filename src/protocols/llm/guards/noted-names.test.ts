import { expect, test } from 'vitest'
import { KNOWN_LLM_ERRORS } from '#exchange/known-llm-errors.ts'
import { reject } from '#exchange/outcome.ts'
import { encodeEvent } from '#net/event-stream/event-frame.ts'
import { encodeHeaders } from '#net/event-stream/event-header.ts'
import { inOneTurn } from '#test/support/in-one-turn.ts'
import { translated } from '#test/support/translated-exchange.ts'
import type { ChatType } from '../dialects/index.ts'
import { type Answer, pass } from '../testing.ts'
import type { RegexGuard } from './guard.ts'
import { compileRules } from './rules/compile-rules.ts'

// What log, records, spans and metrics tell of a guarded answer in the words of its provider.

const NUMBER = '078-05-1120'

const GUARD: RegexGuard = {
  phase: 'response',
  index: 0,
  kind: 'regex',
  rules: compileRules({ builtins: ['Ssn'] }, (_, message) => {
    throw new Error(message)
  }),
  rejects: false,
  refusal: reject('prompt-guard-rejected'),
}

const JSON_TYPE = 'application/json'
const sse = (...events: object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const native = (type: ChatType, streamed: boolean) => ({
  native: { type, streamed, body: Buffer.from('{}') },
})

/** Answers with an error of this type, each with how it arrives. */
const FAILED: readonly (readonly [way: string, answer: Answer, bodyOf: (type: string) => object | string])[] = [
  ['a whole answer', { contentType: JSON_TYPE }, (type) => ({ error: { message: 'm', type } })],
  ['a whole answer with a code', { contentType: JSON_TYPE }, (code) => ({ error: { message: 'm', code } })],
  ['a stream', {}, (type) => sse({ choices: [{ delta: { content: 'a' } }] }, { error: { message: 'm', type } })],
  ['a stream of messages', { type: 'Messages' }, (type) => sse({ type: 'error', error: { type, message: 'm' } })],
  [
    'a response',
    { type: 'Responses' },
    (code) => sse({ type: 'response.failed', response: { error: { code, message: 'm' } } }),
  ],
  [
    'a whole answer instead of a stream',
    { contentType: JSON_TYPE, ...native('Completions', true) },
    (type) => ({ error: { message: 'm', type } }),
  ],
  [
    'a stream instead of a whole answer',
    native('Completions', false),
    (type) => sse({ error: { message: 'm', type } }),
  ],
]

function failing([, answer, bodyOf]: (typeof FAILED)[number], type: string, guards: readonly RegexGuard[]) {
  const body = bodyOf(type)
  const { facts, failure } = pass(typeof body === 'string' ? body : JSON.stringify(body), { ...answer, guards })
  return [facts.errorType, failure?.detail]
}

test.each(FAILED)('the type of an error in %s is told if the gateway knows it, or no guard checks it', (...way) => {
  const told = (type: string) => [type, `the provider's response failed: ${type}`]
  expect(failing(way, NUMBER, [GUARD])).toEqual(told('error'))
  expect(failing(way, 'overloaded_error', [GUARD])).toEqual(told('overloaded_error'))
  expect(failing(way, NUMBER, [])).toEqual(told(NUMBER))
})

const GUARDED = { promptGuard: { response: [{ regex: { builtins: ['Ssn'] } }] } }

const frame = (headers: Readonly<Record<string, string>>, payload: object) => {
  const given = Object.entries(headers).map(([name, value]) => ({ name, type: 'text' as const, value }))
  return Buffer.from(encodeEvent(encodeHeaders(given), Buffer.from(JSON.stringify(payload))))
}
const exception = (type: string) => frame({ ':message-type': 'exception', ':exception-type': type }, { message: 'm' })
const stop = (stopReason: string) => frame({ ':message-type': 'event', ':event-type': 'messageStop' }, { stopReason })

test.each<[what: string, provider: object, body: object | string, guarded: string, unguarded: string]>([
  ['messages', { providerFour: {} }, sse({ type: 'error', error: { type: NUMBER, message: 'm' } }), 'error', NUMBER],
  ['Converse', { providerSeven: {} }, exception(NUMBER), 'error', NUMBER],
  ['Converse', { providerSeven: {} }, exception('throttlingException'), 'throttlingException', 'throttlingException'],
  ['Converse', { providerSeven: {} }, stop(`malformed_${NUMBER}`), 'error', `malformed_${NUMBER}`],
  ['Converse', { providerSeven: {} }, stop('malformed_tool_use'), 'malformed_tool_use', 'malformed_tool_use'],
  ['Converse', { providerSeven: {} }, Buffer.from('no frame'), 'incomplete', 'incomplete'],
])('the same for a translated stream of %s', (_, provider, body, guarded, unguarded) => {
  const type = typeof body === 'string' ? 'text/event-stream' : 'application/vnd.amazon.eventstream'
  const typeWith = (ai: object) => {
    const answer = { headers: { 'content-type': type }, body }
    const request = { model: 'm', stream: true, messages: [{ role: 'user', content: 'q' }] }
    return inOneTurn(() => translated(request, { provider, ai }, answer)).facts.errorType
  }
  expect([typeWith(GUARDED), typeWith({})]).toEqual([guarded, unguarded])
})

test('what the gateway says of an answer that it cannot use is known', () => {
  for (const type of ['llm-response-invalid', 'upstream-failed', 'error']) expect(KNOWN_LLM_ERRORS).toContain(type)
})

/** Answers with this text as their id, model and reason to stop. */
const NAMED: readonly (readonly [way: string, answer: Answer, bodyOf: (name: string) => object | string])[] = [
  [
    'a completion',
    { contentType: JSON_TYPE },
    (name) => ({ id: name, model: name, choices: [{ message: { content: '' }, finish_reason: name }] }),
  ],
  ['chunks', {}, (name) => sse({ id: name, model: name, choices: [{ delta: {}, finish_reason: name }] })],
  [
    'a message',
    { type: 'Messages', contentType: JSON_TYPE },
    (name) => ({ id: name, model: name, content: [], stop_reason: name }),
  ],
  [
    'events of a message',
    { type: 'Messages' },
    (name) =>
      sse(
        { type: 'message_start', message: { id: name, model: name, content: [] } },
        { type: 'message_delta', delta: { stop_reason: name } },
      ),
  ],
  [
    'a response',
    { type: 'Responses', contentType: JSON_TYPE },
    (name) => ({ id: name, model: name, output: [], incomplete_details: { reason: name } }),
  ],
  [
    'events of a response',
    { type: 'Responses' },
    (name) => sse({ type: 'response.completed', response: { id: name, model: name, status: name } }),
  ],
]

test.each(NAMED)('the names in %s are told if guards let them pass unread, or there are none', (_, answer, bodyOf) => {
  const told = (name: string, guards: readonly RegexGuard[]) => {
    const body = bodyOf(name)
    const { facts } = pass(typeof body === 'string' ? body : JSON.stringify(body), { ...answer, guards })
    return [facts.responseId, facts.responseModel, facts.finishReasons]
  }
  expect(told(`my number is ${NUMBER}`, [GUARD])).toEqual([undefined, undefined, []])
  expect(told('m-1', [GUARD])).toEqual(['m-1', 'm-1', ['m-1']])
  expect(told('two words', [])).toEqual(['two words', 'two words', ['two words']])
})

test('the same for a translated answer', () => {
  const named = (name: string, ai: object) => {
    const body = { id: name, model: name, type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn' }
    const request = { model: 'm', messages: [{ role: 'user', content: 'q' }] }
    const { facts } = inOneTurn(() => translated(request, { provider: { providerFour: {} }, ai }, { body }))
    return [facts.responseId, facts.responseModel]
  }
  expect([named('two words', GUARDED), named('m-1', GUARDED), named('two words', {})]).toEqual([
    [undefined, undefined],
    ['m-1', 'm-1'],
    ['two words', 'two words'],
  ])
})

/** Answers in a service tier of this name. */
const IN_TIER: readonly (readonly [way: string, answer: Answer, bodyOf: (tier: string) => object | string])[] = [
  ['a completion', { contentType: JSON_TYPE }, (service_tier) => ({ service_tier, choices: [] })],
  ['chunks', {}, (service_tier) => sse({ service_tier, choices: [{ delta: {} }] })],
  ['a response', { type: 'Responses', contentType: JSON_TYPE }, (service_tier) => ({ service_tier, output: [] })],
  [
    'events of a response',
    { type: 'Responses' },
    (service_tier) => sse({ type: 'response.completed', response: { service_tier } }),
  ],
]

test.each(IN_TIER)('the service tier of %s is told like its names', (_, answer, bodyOf) => {
  const told = (tier: string, guards: readonly RegexGuard[]) => {
    const body = bodyOf(tier)
    return pass(typeof body === 'string' ? body : JSON.stringify(body), { ...answer, guards }).facts.serviceTier
  }
  expect([told('two words', [GUARD]), told('flex', [GUARD]), told('two words', [])]).toEqual([
    undefined,
    'flex',
    'two words',
  ])
})

test('the same for the tier of a translated answer', () => {
  const told = (tier: string, ai: object) => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
    const body = { id: 'c', model: 'm', service_tier: tier, choices, usage }
    const request = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'q' }] }
    const given = { provider: { providerFive: {} }, ai: { routes: { '*': 'Messages' as const }, ...ai } }
    const { facts } = inOneTurn(() => translated(request, given, { body }))
    return [facts.serviceTier, facts.outputTokens]
  }
  expect([told('two words', GUARDED), told('flex', GUARDED), told('two words', {})]).toEqual([
    [undefined, 2],
    ['flex', 2],
    ['two words', 2],
  ])
})
