import { expect, test } from 'vitest'
import type { A2aFacts } from '#exchange/a2a-facts.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { RESPONSE_DECODING } from '#net/body/response-decoding.ts'
import { TextSink } from '#net/testing/recording-handler.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { selectAnswerFacts } from './answer-facts.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8' }

interface Answer {
  readonly method?: string
  readonly enveloped?: boolean
  readonly headers?: Record<string, string>
  readonly status?: number
  readonly isCut?: boolean
}

/** What is known after an answer that arrives byte by byte. */
function factsOf(body: string, answer: Answer = {}): Omit<A2aFacts, 'method'> {
  const { method = 'SendMessage', enveloped = true, headers = JSON_TYPE, status = 200, isCut = false } = answer
  const facts: A2aFacts = { method }
  const exchange = exchangeWith({ method: 'POST', status, responseHeaders: headers })
  const claim = new BodyClaim(new BodyMemory(0))
  const filter = selectAnswerFacts(facts, enveloped)(exchange, claim, RESPONSE_DECODING)
  const sink = new TextSink()
  const into = filter?.into(sink) ?? sink
  expect(filter?.changesLength ?? false).toBe(false)
  const bytes = Buffer.from(body)
  for (let at = 0; at < bytes.length; at++) into.bytes(bytes, at, at + 1)
  if (isCut) into.abort('reset')
  else into.end()
  expect(sink.text).toBe(body)
  const { method: _, ...rest } = facts
  return rest
}

const rpc = (result: object) => JSON.stringify({ jsonrpc: '2.0', id: 'call-1', result })
const TASK = {
  id: 't-1',
  contextId: 'c-1',
  artifacts: [{ id: 'x', contextId: 'y' }],
  status: { message: { kind: 'message', taskId: 'z' }, state: 'completed' },
}
const FACTS = { outcome: 'success', taskId: 't-1', contextId: 'c-1', taskState: 'completed', resultKind: 'task' }
const TASK_1_0 = { ...TASK, status: { state: 'TASK_STATE_COMPLETED' } }

test.each<[what: string, body: string, answer: Answer, facts: Omit<A2aFacts, 'method'>]>([
  ['a task of 0.3', rpc({ kind: 'task', ...TASK }), {}, FACTS as never],
  ['a task of 1.0', rpc({ task: TASK_1_0 }), {}, FACTS as never],
  ['a task without kind', rpc(TASK_1_0), { method: 'GetTask' }, FACTS as never],
  ['a task of HTTP+JSON', JSON.stringify({ task: TASK_1_0 }), { enveloped: false }, FACTS as never],
  [
    'a task of HTTP+JSON as it is',
    JSON.stringify(TASK_1_0),
    { method: 'GetTask', enveloped: false, headers: { 'content-type': 'application/a2a+json' } },
    FACTS as never,
  ],
  [
    'a message of 0.3',
    rpc({ kind: 'message', messageId: 'm', contextId: 'c-1' }),
    {},
    { outcome: 'success', resultKind: 'message', contextId: 'c-1' },
  ],
  [
    'a message of 1.0',
    rpc({ message: { messageId: 'm', contextId: 'c-1', id: 'no' } }),
    {},
    { outcome: 'success', resultKind: 'message', contextId: 'c-1' },
  ],
  [
    'a push configuration',
    rpc({ id: 'p-1', taskId: 't-1', url: 'http://x' }),
    { method: 'CreateTaskPushNotificationConfig' },
    { outcome: 'success', taskId: 't-1' },
  ],
  [
    'an error',
    '{"id":1,"error":{"code":-32001,"message":"x","data":{"code":1}}}',
    {},
    { outcome: 'error', errorCode: -32001 },
  ],
  [
    'an error of HTTP+JSON',
    '{"error":{"code":404,"status":"NOT_FOUND"}}',
    { enveloped: false, status: 404 },
    { outcome: 'error', errorCode: 404 },
  ],
  ['another status', 'no', { status: 503, headers: {} }, { outcome: 'error' }],
  ['another type', '<a>', { headers: { 'content-type': 'text/html' } }, { outcome: 'unknown' }],
  ['a compressed answer', 'x', { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } }, { outcome: 'unknown' }],
  ['an answer that breaks off', rpc({ task: TASK_1_0 }), { isCut: true }, { ...FACTS, outcome: 'unknown' } as never],
  [
    'a state that A2A does not have',
    rpc({ status: { state: 'dreaming' } }),
    {},
    { outcome: 'success', taskState: 'unknown', resultKind: 'task' },
  ],
  [
    'ids that are none',
    rpc({ task: { id: 'a b', contextId: 'x'.repeat(129), status: { state: 'TASK_STATE_AUTH_REQUIRED' } } }),
    {},
    { outcome: 'success', resultKind: 'task', taskState: 'auth-required' },
  ],
  ['no object', '[]', {}, { outcome: 'success' }],
])('%s', (_, body, answer, facts) => {
  expect(factsOf(body, answer)).toEqual(facts)
})

const events = (...all: readonly string[]) => all.map((data) => `id: 1\ndata: ${data}\n\n`).join(': heartbeat\n\n')

test.each<[what: string, enveloped: boolean, all: readonly string[], facts: Omit<A2aFacts, 'method'>]>([
  [
    'of 0.3',
    true,
    [
      rpc({ kind: 'task', ...TASK, status: { state: 'working' } }),
      rpc({ kind: 'status-update', taskId: 't-1', contextId: 'c-1', status: { state: 'input-required' }, final: true }),
    ],
    { ...FACTS, resultKind: 'status-update', taskState: 'input-required' } as never,
  ],
  [
    'of 1.0',
    true,
    [
      rpc({ task: TASK_1_0 }),
      rpc({ artifactUpdate: { taskId: 't-1', artifact: { parts: [{ text: '"status":{"state":"x"}' }] } } }),
    ],
    { ...FACTS, resultKind: 'artifact-update' } as never,
  ],
  [
    'of HTTP+JSON',
    false,
    [JSON.stringify({ statusUpdate: { taskId: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_FAILED' } } })],
    { ...FACTS, resultKind: 'status-update', taskState: 'failed' } as never,
  ],
  [
    'with an error at its end',
    true,
    [rpc({ task: TASK_1_0 }), '{"error":{"code":-32603}}'],
    { ...FACTS, outcome: 'error', errorCode: -32603 } as never,
  ],
])('a stream %s', (_, enveloped, all, facts) => {
  expect(factsOf(events(...all), { enveloped, headers: EVENTS, method: 'SendStreamingMessage' })).toEqual(facts)
})
