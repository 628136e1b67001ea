import { expect, test } from 'vitest'
import { exchangeWith, type Fields, linesOf } from '../../shared/testing.ts'
import { immediateAnswer } from './immediate-response.ts'
import type { ImmediateResponse } from './messages.ts'

function answerTo(response: ImmediateResponse, headers: Fields = {}) {
  const answer = immediateAnswer(response, exchangeWith({ headers }))
  if (answer === undefined) return undefined
  const { kind, head, body } = answer
  const text = typeof body === 'string' ? body : body && new TextDecoder().decode(body)
  return [kind, head.status, linesOf(head), text]
}

const bytes = (text: string) => new TextEncoder().encode(text)
const setting = (...fields: [key: string, value: string][]) => ({
  setHeaders: fields.map(([key, value]) => ({ header: { key, value } })),
})
const WITH_TEXT = { body: bytes('no') }

test.each<[response: ImmediateResponse, status: number, lines: string[], body: string]>([
  [{}, 200, [], ''],
  [{ status: { code: 200 } }, 200, [], ''],
  [{ status: { code: 599 } }, 599, [], ''],
  [{ ...WITH_TEXT, status: { code: 403 } }, 403, ['content-type: text/plain'], 'no'],
  [{ ...WITH_TEXT, headers: setting(['Content-Type', 'text/html']) }, 200, ['content-type: text/html'], 'no'],
  [{ ...WITH_TEXT, headers: { removeHeaders: ['content-type'] } }, 200, [], 'no'],
  [{ body: bytes('1') }, 200, ['content-type: text/plain'], '1'],
  [{ grpcStatus: {} }, 200, ['grpc-status: 0'], ''],
  [{ grpcStatus: { status: 7 } }, 200, ['grpc-status: 7'], ''],
])('an HTTP client gets %j', (response, status, lines, body) => {
  expect(answerTo(response)).toEqual(['answer', status, lines, body])
})

test.each([-1, 0, 100, 199, 600])('a response cannot have status %i', (code) => {
  expect(answerTo({ status: { code } })).toBeUndefined()
  expect(answerTo({ status: { code } }, { 'content-type': 'application/grpc' })).toBeUndefined()
})

test.each<[response: ImmediateResponse, status: number]>([
  [{}, 0],
  [{ status: { code: 200 } }, 0],
  [{ status: { code: 403 } }, 7],
  [{ status: { code: 201 } }, 2],
  [{ status: { code: 403 }, grpcStatus: { status: 8 } }, 8],
  [{ status: { code: 200 }, grpcStatus: { status: 5 } }, 5],
])('a gRPC client gets %j as status %i', (response, status) => {
  expect(answerTo({ ...WITH_TEXT, ...response }, { 'content-type': 'application/grpc' })).toEqual([
    'answer',
    200,
    ['content-type: application/grpc', `grpc-status: ${status}`, 'grpc-message: no'],
    undefined,
  ])
})

test('fields of framing, and those of a gRPC response, are not the processor’s', () => {
  const framing: [string, string][] = [
    ['content-length', '99'],
    ['transfer-encoding', 'chunked'],
    ['content_length', '99'],
    ['connection', 'close'],
    [':status', '500'],
    ['x-split', 'a\r\nset-cookie: b'],
  ]
  expect(answerTo({ headers: setting(...framing, ['x-why', 'no']) })).toEqual(['answer', 200, ['x-why: no'], ''])
  const headers = setting(
    ['content-type', 'text/html'],
    ['grpc-status', '0'],
    ['grpc-message', 'fine'],
    ['x-why', 'no'],
  )
  const refused = answerTo({ status: { code: 403 }, headers }, { 'content-type': 'application/grpc' })
  expect(refused![2]).toEqual(['x-why: no', 'content-type: application/grpc', 'grpc-status: 7', 'grpc-message: '])
})
