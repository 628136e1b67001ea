import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { linesOf } from '../../shared/testing.ts'
import { editTrailers, mutateHead } from './mutate-head.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const set = (key: string, value: string, more: object = {}) => ({ header: { key, rawValue: bytes(value) }, ...more })

function request(): Head {
  const head = Head.request('GET', '/a')
  head.set('host', 'a.test')
  head.append('x-a', '1')
  head.append('x-a', '2')
  return head
}

test('no mutation changes nothing', () => {
  const head = request()
  expect([mutateHead(head, undefined, ':path'), linesOf(head)]).toEqual([undefined, ['x-a: 1', 'x-a: 2']])
})

test('a change without a header changes nothing', () => {
  const head = request()
  expect([mutateHead(head, { setHeaders: [{}] }, ':path'), linesOf(head)]).toEqual([undefined, ['x-a: 1', 'x-a: 2']])
})

test('a header that is removed and set is set', () => {
  const head = request()
  mutateHead(head, { removeHeaders: ['X-A'], setHeaders: [set('X-A', 'new')] }, ':path')
  expect(linesOf(head)).toEqual(['x-a: new'])
})

test.each([
  ['host', 'b.test'],
  [':authority', 'b.test'],
  [':method', 'POST'],
  [':scheme', 'https'],
  [':status', '500'],
  ['content-length', '3'],
  ['transfer-encoding', 'chunked'],
  ['connection', 'close'],
  ['x a', '1'],
])('%s of a request is not the processor’s', (name, value) => {
  const head = request()
  const mutation = { removeHeaders: [name], setHeaders: [set(name, value)] }
  expect(mutateHead(head, mutation, ':path')).toBeUndefined()
  expect([head.method, head.target, head.authority, linesOf(head)]).toEqual([
    'GET',
    '/a',
    'a.test',
    ['x-a: 1', 'x-a: 2'],
  ])
})

test.each([
  ['/b?c=d', undefined],
  ['b', ':path is invalid: "b"'],
  ['/b c', ':path is invalid: "/b c"'],
  ['*', ':path is invalid: "*"'],
  ['', ':path is invalid: ""'],
  ['/b\r\nc', ':path is invalid: ""'],
])('the path %j', (path, problem) => {
  const head = request()
  expect(mutateHead(head, { setHeaders: [set(':path', path)] }, ':path')).toBe(problem)
  expect(head.target).toBe(problem === undefined ? path : '/a')
})

test.each([
  ['200', 200],
  ['599', 599],
  ['100', 204],
  ['600', 204],
  ['20', 204],
  ['2000', 204],
])('the status %j', (status, expected) => {
  const head = Head.response(204)
  const problem = mutateHead(head, { setHeaders: [set(':status', status), set(':path', '/x')] }, ':status')
  expect([head.status, problem === undefined]).toEqual([expected, expected !== 204])
})

test('trailers get no fields of heads', () => {
  const trailers = new Head()
  trailers.append('x-a', '1')
  const names = [
    'x-b',
    'grpc-status',
    'content-type',
    'set-cookie',
    'host',
    'X_Forwarded_For',
    'content-length',
    ':path',
  ]
  editTrailers(trailers, { removeHeaders: ['x-a'], setHeaders: names.map((name) => set(name, '1')) })
  expect(linesOf(trailers)).toEqual(['x-b: 1', 'grpc-status: 1'])
})
