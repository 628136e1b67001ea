import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import type { GuardPhase } from './service.ts'
import { around, fakeCall, question } from './testing.ts'
import { type ForwardedHeader, webhook } from './webhook.ts'

const KEY = 'Service/default/judge/80'

async function judged(answer: unknown, phase: GuardPhase = 'request', contents = ['one', 'two']) {
  const { call } = fakeCall(() => ({ body: answer }))
  return await webhook(KEY, []).judge(question(contents, phase), around(call))
}

test('sends texts with their roles, as messages or choices', async () => {
  const { call, asked } = fakeCall(() => ({ body: { action: {} } }))
  await webhook(KEY, []).judge(question(['hello']), around(call))
  await webhook(KEY, []).judge(question(['hi'], 'response'), around(call))
  expect(asked.map(({ destination, path, body }) => [destination, path, body])).toEqual([
    [KEY, '/request', { body: { messages: [{ role: 'user', content: 'hello' }] } }],
    [KEY, '/response', { body: { choices: [{ message: { role: 'assistant', content: 'hi' } }] } }],
  ])
  expect(asked[0]?.request).toMatchObject({ method: 'POST', purpose: 'guard', defaultDeadlineMs: 10_000, timeoutMs: 0 })
})

const messages = (...contents: unknown[]) => ({ messages: contents.map((content) => ({ role: 'user', content })) })
const NO_ACTION = { kind: 'failed', detail: 'the answer of the guard server has no action' }
const HALF = {
  kind: 'failed',
  detail: 'the guard server rejects without a text as body, or without a status from 200 to 599',
}
const UNKNOWN = { kind: 'failed', detail: 'the action of the guard server has an unknown member, and no body' }
const BAD_MASK = { kind: 'failed', detail: 'the guard server masks, but does not return a text for each text' }

test.each([
  [{ action: {} }, { kind: 'pass' }],
  [{ action: { reason: 'fine' } }, { kind: 'pass' }],
  [{ action: { body: null, status_code: null, reason: null } }, { kind: 'pass' }],
  [{ action: { reason: 'fine' }, more: 1 }, { kind: 'pass' }],
  [{ action: { pass: true } }, UNKNOWN],
  [{ action: { reason: 'bad', Body: 'no', statusCode: 403 } }, UNKNOWN],
  [{ action: { extra: { body: 'x' } } }, UNKNOWN],
  [{ action: { body: 'no', status_code: 403, extra: 1 } }, { kind: 'reject', status: 403, body: 'no' }],
  [{ action: { body: 'no', status_code: 403 } }, { kind: 'reject', status: 403, body: 'no' }],
  [{ action: { body: '', status_code: 200 } }, { kind: 'reject', status: 200, body: '' }],
  [{ action: { body: 'no', status_code: 599, reason: 'r' } }, { kind: 'reject', status: 599, body: 'no' }],
  [{ action: { body: messages('ONE', 'two') } }, { kind: 'mask', contents: ['ONE', 'two'] }],
  [
    { action: { body: { messages: [{ content: 'a', extra: 1 }, { content: '' }] } } },
    { kind: 'mask', contents: ['a', ''] },
  ],
  // A mask with a status is still a mask.
  [{ action: { body: messages('a', 'b'), status_code: 403 } }, { kind: 'mask', contents: ['a', 'b'] }],
  [{}, NO_ACTION],
  [[], NO_ACTION],
  [null, NO_ACTION],
  ['"allow"', NO_ACTION],
  [{ action: null }, NO_ACTION],
  [{ action: 'allow' }, NO_ACTION],
  [{ action: [] }, NO_ACTION],
  [{ error: { message: 'down' } }, NO_ACTION],
  [{ Action: {} }, NO_ACTION],
  [{ action: { body: 'no' } }, HALF],
  [{ action: { status_code: 403 } }, HALF],
  [{ action: { body: null, status_code: 403 } }, HALF],
  [{ action: { body: 'no', status_code: '403' } }, HALF],
  [{ action: { body: 'no', status_code: 199 } }, HALF],
  [{ action: { body: 'no', status_code: 600 } }, HALF],
  [{ action: { body: 'no', status_code: 403.5 } }, HALF],
  [{ action: { body: false } }, HALF],
  [{ action: { body: 1, status_code: 403 } }, HALF],
  [{ action: { body: [] } }, BAD_MASK],
  [{ action: { body: {} } }, BAD_MASK],
  [{ action: { body: messages('one') } }, BAD_MASK],
  [{ action: { body: messages('one', 'two', 'three') } }, BAD_MASK],
  [{ action: { body: messages('one', null) } }, BAD_MASK],
  [{ action: { body: messages('one', ['two']) } }, BAD_MASK],
  [{ action: { body: messages('one', '\ud800') } }, BAD_MASK],
  [{ action: { body: { messages: ['one', 'two'] } } }, BAD_MASK],
  [{ action: { body: { choices: [{ message: { content: 'a' } }, { message: { content: 'b' } }] } } }, BAD_MASK],
])('%j', async (answer, verdict) => {
  expect(await judged(answer)).toEqual(verdict)
})

test('masks choices of answers', async () => {
  const choices = (...contents: string[]) => ({
    choices: contents.map((content) => ({ message: { role: 'x', content } })),
  })
  expect(await judged({ action: { body: choices('a', 'b') } }, 'response')).toEqual({
    kind: 'mask',
    contents: ['a', 'b'],
  })
  expect(await judged({ action: { body: choices('a') } }, 'response')).toEqual(BAD_MASK)
  expect(await judged({ action: { body: messages('a', 'b') } }, 'response')).toEqual(BAD_MASK)
})

test('forwards all values of a header of which one matches', async () => {
  const head = Head.request('POST', '/')
  const fields = [
    ['X-Team', 'blue'],
    ['X-Team', 'red'],
    ['X-Other', 'red'],
    ['X-Name', 'M\u00c3\u00bcller'],
    ['Authorization', 'Bearer caller'],
    ['Connection', 'keep-alive'],
    ['Content-Type', 'application/json'],
    ['Content-Length', '12'],
    ['Accept', '*/*'],
    ['Accept-Encoding', 'gzip'],
    ['Expect', '100-continue'],
    ['Host', 'gateway.example'],
    ['Proxy-Authenticate', 'Basic'],
    ['Proxy-Authorization', 'Basic eA=='],
  ] as const
  for (const [name, value] of fields) head.append(name, value)
  const header = (name: string, matches: ForwardedHeader['matches'] = () => true) => ({ name, matches })
  const sent = async (...forwarded: ForwardedHeader[]) => {
    const { call, asked } = fakeCall(() => ({ body: { action: {} } }))
    await webhook(KEY, forwarded).judge(question(['x'], 'request', head), around(call))
    return asked[0]!.request.headers.slice(0, -3)
  }
  expect(await sent()).toEqual([])
  expect(await sent(header('x-team', (value) => value === 'red'))).toEqual([
    ['x-team', 'blue'],
    ['x-team', 'red'],
  ])
  expect(await sent(header('x-team', (value) => value === 'green'))).toEqual([])
  expect(await sent(header('x-name', (value) => value === 'Müller'))).toEqual([['x-name', 'M\u00c3\u00bcller']])
  expect(await sent(header('authorization'))).toEqual([['authorization', 'Bearer caller']])
  const never = fields.slice(5).map(([name]) => name.toLowerCase())
  expect(await sent(...never.map((name) => header(name)))).toEqual([])
})
