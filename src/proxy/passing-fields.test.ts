import { expect, test } from 'vitest'
import type { Decision } from '#engine/request/decide.ts'
import type { Head } from '#net/http/head.ts'
import { parseHeadText } from '#net/http1/parse-head-text.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { RequestTrailerGate, screenInterim, screenTrailers } from './passing-fields.ts'

const NAMES = new Set(['x-a', 'grpc-status'])
const CHANGED = {
  preRouting: { fields: { request: NAMES, response: NAMES }, readers: [] },
} as unknown as Decision

/** Fields as they are received, in this order. */
function received(): Head {
  const head = parseHeadText('GET / HTTP/1.1\r\nX-A: 1\r\nhost: a.test\r\ngrpc-status: 0\r\nx-b: 2\r\nx-a: 3\r\n\r\n')
  if (typeof head === 'number') throw new Error(`refused with ${head}`)
  return head
}

function namesOf(head: Head): string[] {
  const names: string[] = []
  head.each((name) => names.push(name))
  return names
}

test('request trailers that policies change are not forwarded, except the status of a gRPC call', () => {
  const gate = new RequestTrailerGate(CHANGED)
  expect(['x-a', 'x-b', 'grpc-status'].map((name) => gate.admits(name))).toEqual([false, true, true])
})

test('interim responses have no fields that policies change', () => {
  const head = received()
  screenInterim(CHANGED, head)
  expect(namesOf(head)).toEqual(['host', 'x-b'])
})

test.each([
  ['takes them', { te: 'trailers' }, ['host', 'grpc-status', 'x-b']],
  ['makes a gRPC call', { 'content-type': 'application/grpc' }, ['host', 'grpc-status', 'x-b']],
  ['does not ask for them', {}, []],
])('response trailers for a client that %s', (_, headers, names) => {
  const trailers = received()
  screenTrailers(CHANGED, exchangeWith({ headers }), trailers)
  expect(namesOf(trailers)).toEqual(names)
})
