import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { CallError, type CallFailure } from '#exchange/call.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { ask } from './ask.ts'
import { around, type FakeAnswer, fakeCall } from './testing.ts'

const SECRET = 'the text under guard'

async function verdictOf(answer: FakeAnswer | CallFailure) {
  const { call, closed } = fakeCall(() => answer)
  const verdict = await ask({ destination: 'k', path: '/p', body: { text: SECRET } }, around(call), () => ({
    kind: 'pass',
  }))
  return { verdict, closed }
}

const failed = (detail: string) => ({ kind: 'failed', detail })
const sparing = (detail: string, sparesService = 'answered') => ({ ...failed(detail), sparesService })
const MIB = 1024 * 1024

test.each<[what: string, answer: FakeAnswer | CallFailure, verdict: object]>([
  ['200', { body: {} }, { kind: 'pass' }],
  ['204 with JSON', { status: 204, body: {} }, { kind: 'pass' }],
  ['a byte order mark', { body: '\ufeff{}' }, { kind: 'pass' }],
  ['many pieces', { body: { text: '😀'.repeat(100) }, piece: 1 }, { kind: 'pass' }],
  ['the largest answer', { body: `"${'a'.repeat(2 * MIB - 2)}"`, piece: 65_536 }, { kind: 'pass' }],
  [
    'a larger answer',
    { body: `"${'a'.repeat(2 * MIB - 1)}"`, piece: 65_536 },
    sparing('the answer of the service is larger than 2097152 bytes'),
  ],
  ['no body', { body: '' }, failed('the answer of the service is not JSON')],
  ['HTML', { body: `<p>${SECRET}` }, failed('the answer of the service is not JSON')],
  ['half of it', { body: '{"action":' }, failed('the answer of the service is not JSON')],
  [
    'text that is not UTF-8',
    { body: Buffer.from([0x22, 0xff, 0x22]) },
    failed('the answer of the service is not JSON'),
  ],
  ['two values', { body: '{} {}' }, failed('the answer of the service is not JSON')],
  [
    'a compressed body',
    { headers: { 'content-encoding': 'gzip' }, body: gzipSync('{}') },
    failed('the answer of the service is compressed, although it must not be'),
  ],
  ['a coding that is none', { headers: { 'content-encoding': 'Identity' }, body: {} }, { kind: 'pass' }],
  [
    'a redirect',
    { status: 307, headers: { location: 'http://elsewhere.example/' }, body: {} },
    failed('the service answered 307'),
  ],
  ['a refused text', { status: 400, body: { error: SECRET } }, sparing('the service answered 400')],
  ['a text that is too long', { status: 413 }, sparing('the service answered 413')],
  ['a text that it cannot process', { status: 422 }, sparing('the service answered 422')],
  ['the last status of success', { status: 299, body: {} }, { kind: 'pass' }],
  ['the first one that is none', { status: 300, body: {} }, failed('the service answered 300')],
  [
    'a key twice',
    { body: '{"action":1,"action":2}' },
    failed('the answer of the service has a duplicate key, or is nested too deeply'),
  ],
  ['a credential that it does not know', { status: 401, body: {} }, sparing('the service answered 401')],
  ['one that may not ask', { status: 403, body: {} }, sparing('the service answered 403')],
  ['headers that are too long', { status: 431, body: {} }, sparing('the service answered 431')],
  ['a path that it does not have', { status: 404, body: {} }, failed('the service answered 404')],
  ['a limit', { status: 429, body: {} }, failed('the service answered 429')],
  ['a fault', { status: 500, body: { action: {} } }, failed('the service answered 500')],
  ['no connection', 'connect-failed' as CallFailure, failed('connect-failed')],
  ['no credential', 'backend-auth-failed', sparing('backend-auth-failed', 'unasked')],
  ['no destination', 'no-endpoint', failed('no-endpoint')],
  ['nothing, in explain', 'not-made', { kind: 'pass' }],
  ['a time limit', 'timeout', failed('timeout')],
  ['a cut answer', { body: '{}', breaks: 'reset' as CallFailure }, failed('reset')],
])('%s', async (_, answer, verdict) => {
  const outcome = await verdictOf(answer)
  expect(outcome.verdict).toEqual(verdict)
  expect(JSON.stringify(outcome.verdict)).not.toContain(SECRET)
})

test.each([
  ['a body that is too large', { body: 'a'.repeat(3 * MIB), piece: 65_536 }],
  ['an error', { status: 500, body: 'a'.repeat(3 * MIB), piece: 65_536 }],
])('the rest of %s is not waited for', async (_, answer) => {
  const { call } = fakeCall(() => answer)
  let read = 0
  const counting: typeof call = async (destination, request) => {
    const response = await call(destination, request)
    const body = (async function* () {
      for await (const piece of response.body) {
        read += piece.length
        yield piece
      }
    })()
    return { ...response, body }
  }
  await ask({ destination: 'k', path: '/', body: {} }, around(counting), () => ({ kind: 'pass' }))
  expect(read).toBeLessThanOrEqual(2 * MIB + 65_536)
})

test.each([
  [{ 'x-amzn-requestid': '1c0f-22', 'x-request-id': 'other' }, '1c0f-22'],
  [{ 'x-request-id': 'req_853047ee45d5' }, 'req_853047ee45d5'],
  [{ 'request-id': 'req_1' }, 'req_1'],
  [{ 'x-goog-request-id': 'g-1' }, 'g-1'],
  [{ 'x-request-id': 'a'.repeat(128) }, 'a'.repeat(128)],
  [{ 'x-request-id': 'a'.repeat(129) }, undefined],
  [{ 'x-request-id': `id of ${SECRET}` }, undefined],
  [{ 'x-request-id': '' }, undefined],
  [{}, undefined],
])('notes the id of the service: %j', async (headers, requestId) => {
  const { verdict } = await verdictOf({ headers, body: {} })
  expect(verdict.requestId).toBe(requestId)
  const { verdict: failure } = await verdictOf({ status: 500, headers })
  expect(failure.requestId).toBe(requestId)
})

test('asks for JSON that is not compressed, with the headers of the service', async () => {
  const { call, asked } = fakeCall(() => ({ body: {} }))
  const headers = [['x-team', 'blue']] as const
  await ask({ destination: 'k', path: '/', headers, body: {} }, around(call), () => ({ kind: 'pass' }))
  expect(asked[0]!.headers).toEqual({
    'x-team': 'blue',
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'identity',
  })
})

test('a failed call says why', async () => {
  const call = () => Promise.reject(new CallError('connect-failed', 'ECONNREFUSED'))
  const question = { destination: 'k', path: '/', body: {} }
  expect(await ask(question, around(call), () => ({ kind: 'pass' }))).toEqual(failed('connect-failed (ECONNREFUSED)'))
})

test('the body of an error is given up', async () => {
  const { call } = fakeCall(() => ({ status: 500 }))
  let returned = 0
  const watched: typeof call = async (destination, request) => {
    const next = () => Promise.resolve({ done: true as const, value: undefined })
    const body = { [Symbol.asyncIterator]: () => ({ next, return: () => next().finally(() => returned++) }) }
    return { ...(await call(destination, request)), body }
  }
  await ask({ destination: 'k', path: '/', body: {} }, around(watched), () => ({ kind: 'pass' }))
  expect(returned).toBe(1)
})

test('asks for as long as the request has time', async () => {
  const { call, asked } = fakeCall(() => 'timeout')
  const untilMs = clock.monotonic() + 60_000
  await ask({ destination: 'k', path: '/', body: {} }, around(call, { untilMs }), () => ({ kind: 'pass' }))
  expect(asked[0]!.request.defaultDeadlineMs).toBe(10_000)
  expect(asked[0]!.request.maxDeadlineMs).toBeGreaterThan(50_000)
  const late = await ask(
    { destination: 'k', path: '/', body: {} },
    around(call, { untilMs: clock.monotonic() }),
    () => ({ kind: 'pass' }),
  )
  expect(late).toEqual(sparing('the guards of the request took too long together', 'unasked'))
  expect(asked).toHaveLength(1)
})

test('a question in which the time of the request runs out tells nothing about the service', async () => {
  using time = new VirtualTime()
  expect(time).toBeDefined()
  let now = 0
  clock.monotonic = () => now
  const { call, asked } = fakeCall(() => {
    now = 100
    return 'timeout'
  })
  const read = () => ({ kind: 'pass' as const })
  const question = { destination: 'k', path: '/', body: {} }
  expect(await ask(question, around(call, { untilMs: 0 }), read)).toEqual(
    sparing('the guards of the request took too long together', 'unasked'),
  )
  expect(asked).toEqual([])
  expect(await ask(question, around(call, { untilMs: 100 }), read)).toEqual(
    sparing('the guards of the request took too long together', 'out-of-time'),
  )
  expect(await ask(question, around(call, { untilMs: 101 }), read)).toEqual(failed('timeout'))
})

test('what a mistake of the gateway throws is not a verdict', async () => {
  const { call } = fakeCall(() => ({ body: {} }))
  const asked = ask({ destination: 'k', path: '/', body: {} }, around(call), () => {
    throw new TypeError('mistake')
  })
  await expect(asked).rejects.toThrow('mistake')
})
