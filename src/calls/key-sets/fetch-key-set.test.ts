import { expect, test } from 'vitest'
import { type Call, CallError, type CallRequest } from '#exchange/call.ts'
import { importKey } from '#test/support/import-key.ts'
import { createSigningKey, keySetOf } from '#test/support/token-issuer.ts'
import { fetchKeySet } from './fetch-key-set.ts'

const KEY = createSigningKey('P-256', 'k')
const GOOD = keySetOf(KEY)
const ADDRESS = { backend: 'Service/default/idp/80', path: '/keys', cacheMs: 300_000 }

interface Said {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly failure?: CallError
}

/** Fetches from a server with this response. @returns the result, the requests, and how much of the response was read */
async function fetched({ status = 200, headers = {}, body = GOOD, failure }: Said) {
  const sent: [string, CallRequest][] = []
  let read = 0
  let closed = false
  async function* pieces() {
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
    try {
      for (let at = 0; at < bytes.length; at += 65_536) {
        read++
        yield bytes.subarray(at, at + 65_536)
      }
    } finally {
      closed = true
    }
  }
  const call: Call = async (...words) => {
    sent.push(words)
    if (failure !== undefined) throw failure
    return {
      status,
      headers: Object.entries(headers),
      header: (name) => headers[name],
      endpoint: '127.0.0.1:80',
      trailer: () => undefined,
      body: pieces(),
    }
  }
  const { signal } = new AbortController()
  const outcome = await fetchKeySet(ADDRESS, { call, importKey, signal })
  return { outcome, sent, read, closed }
}

test('the request is a GET with a deadline', async () => {
  const { outcome, sent } = await fetched({})
  expect(outcome).toEqual({ value: GOOD, forMs: 300_000 })
  expect(sent).toEqual([
    [
      'Service/default/idp/80',
      {
        purpose: 'key-set',
        method: 'GET',
        path: '/keys',
        headers: [['accept', 'application/jwk-set+json, application/json']],
        body: undefined,
        timeoutMs: 0,
        deadlineMs: 10_000,
        signal: expect.any(AbortSignal),
      },
    ],
  ])
})

const manyKeys = (kidOf: (i: number) => string) =>
  JSON.stringify({ keys: Array.from({ length: 1001 }, (_, i) => ({ ...KEY.jwk, kid: kidOf(i) })) })

const failures: [what: string, said: Said, failure: string][] = [
  ['no answer', { failure: new CallError('timeout') }, 'timeout'],
  ['no answer, with a cause', { failure: new CallError('name-unknown', 'idp.test') }, 'name-unknown: idp.test'],
  ['a redirect', { status: 302, headers: { location: '/elsewhere' } }, 'the server answered 302'],
  ['another success', { status: 204, body: '' }, 'the server answered 204'],
  ['an error', { status: 503 }, 'the server answered 503'],
  ['compressed', { headers: { 'content-encoding': 'gzip' } }, 'the response is compressed'],
  ['not JSON', { body: '<html>' }, 'the response has no usable key (is not JSON)'],
  ['no set', { body: '{}' }, 'it has no array "keys"'],
  ['an empty set', { body: '{"keys":[]}' }, 'the response has no usable key'],
  ['no usable key', { body: keySetOf({ kty: 'PQ', kid: 'q' }) }, 'keys[0] is not used: its key type is not supported'],
  ['not UTF-8', { body: Uint8Array.of(0x7b, 0xff) }, 'the response is not UTF-8'],
  ['too many keys', { body: manyKeys((i) => `k${i}`) }, 'has more than 1000 keys'],
  ['too many keys of one name', { body: manyKeys(() => 'k') }, 'has more than 1000 keys'],
]
for (const [what, said, failure] of failures) {
  test(`${what}: ${failure}`, async () => {
    const { outcome } = await fetched(said)
    expect('failure' in outcome ? outcome.failure : outcome).toContain(failure)
  })
}

test('an answer that is too large is not read to its end', async () => {
  const exact = GOOD.padEnd(1024 * 1024, ' ')
  expect((await fetched({ body: exact })).outcome).toEqual({ value: exact, forMs: 300_000 })
  const { outcome, read, closed } = await fetched({ body: GOOD.padEnd(100 * 1024 * 1024, ' ') })
  expect(outcome).toEqual({ failure: 'the response has more than 1 MiB' })
  expect([read, closed]).toEqual([17, true])
})

test('a bug is no failure of the server', async () => {
  const bug = new Error('a bug')
  await expect(fetched({ failure: bug as CallError })).rejects.toBe(bug)
})
