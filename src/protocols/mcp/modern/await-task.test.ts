import { expect, test } from 'vitest'
import { parseMessage } from '../message/json-rpc.ts'
import type { TargetMessage, TargetReply } from '../message/target-reply.ts'
import { awaitTask } from './await-task.ts'

const RESULT = { content: [] }
const note = { jsonrpc: '2.0', method: 'notifications/message', params: {} }
const created = (task: unknown, id = 7) => ({ jsonrpc: '2.0', id, result: { task } })
const WORKING = created({ taskId: 't', status: 'working' })

async function* said(messages: readonly object[]): AsyncGenerator<TargetMessage> {
  for (const message of messages) {
    const parsed = parseMessage(JSON.stringify(message))
    if (parsed.kind === 'unreadable') throw new Error('not a message')
    yield { message: parsed, eventId: undefined, retryMs: undefined, keep: () => {} }
  }
}

function messagesOf(messages: readonly object[], abort = () => {}): TargetReply {
  return { kind: 'messages', sessionId: undefined, endpoint: 'a', messages: said(messages), abort }
}

/** @param reply of the target to the request for the result, which has that id */
async function wait(first: readonly object[], reply: (id: string) => TargetReply) {
  const sent: { readonly id: string; readonly method: string; readonly params: object }[] = []
  const cancelled: { readonly method: string; readonly params: object }[] = []
  const received: unknown[] = []
  const waiting = awaitTask({
    id: 7,
    created: said(first),
    send: async (text) => {
      sent.push(JSON.parse(text))
      return reply(sent.at(-1)!.id)
    },
    open: async () => ({ kind: 'nothing' }),
    signal: new AbortController().signal,
    cancel: (text) => void cancelled.push(JSON.parse(text)),
  })
  let failure: unknown
  try {
    for await (const { message } of waiting) received.push(message?.json)
  } catch (error) {
    failure = error
  }
  return { sent, cancelled, received, failure }
}

const answered = (id: string) => messagesOf([{ jsonrpc: '2.0', id, result: RESULT }])

test('what comes before the task passes, and nothing of its stream after the result', async () => {
  const after = { ...note, params: { late: true } }
  const { sent, cancelled, received } = await wait([note, WORKING, after], (id) =>
    messagesOf([note, { jsonrpc: '2.0', id, result: RESULT }, after]),
  )
  expect(sent).toMatchObject([{ jsonrpc: '2.0', method: 'tasks/result', params: { taskId: 't' } }])
  expect(received).toEqual([note, note, { jsonrpc: '2.0', id: 7, result: RESULT }])
  expect(cancelled).toEqual([])
})

test.each([
  ['a result', { jsonrpc: '2.0', id: 7, result: RESULT }],
  ['an error', { jsonrpc: '2.0', id: 7, error: { code: -32601, message: 'no' } }],
  ['a task without an id', created({ status: 'working' })],
  ['a task whose id is no text', created({ taskId: 7 })],
  ['a task that is no object', created('t')],
  ['a task of another request', created({ taskId: 't' }, 8)],
])('%s instead of a task passes as it is', async (_, message) => {
  const { sent, received, cancelled } = await wait([message], answered)
  expect([sent, received, cancelled]).toEqual([[], [message], []])
})

test('an error of the task is that of the call', async () => {
  const error = { code: -32000, message: 'failed' }
  const { received } = await wait([WORKING], (id) => messagesOf([{ jsonrpc: '2.0', id, error }]))
  expect(received).toEqual([{ jsonrpc: '2.0', id: 7, error }])
})

test('a target that does not tell the result has its task cancelled', async () => {
  const { failure, cancelled } = await wait([WORKING], () => ({ kind: 'nothing' }))
  expect(String(failure)).toContain('the target does not return the result of its task')
  expect(cancelled).toMatchObject([{ method: 'tasks/cancel', params: { taskId: 't' } }])
})

test('a target that ends the stream of the result has its task cancelled, and what it says afterwards does not pass', async () => {
  const { received, cancelled } = await wait([WORKING, note], () => messagesOf([]))
  expect(received).toEqual([])
  expect(cancelled).toMatchObject([{ method: 'tasks/cancel', params: { taskId: 't' } }])
})

test('an answer to another request is not the result', async () => {
  const other = { jsonrpc: '2.0', id: 'other', result: { forged: true } }
  const { received } = await wait([WORKING], (id) => messagesOf([other, { jsonrpc: '2.0', id, result: RESULT }]))
  expect(received).toEqual([other, { jsonrpc: '2.0', id: 7, result: RESULT }])
})
