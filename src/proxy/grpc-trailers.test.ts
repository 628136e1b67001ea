import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { exchangeWith, linesOf } from '#policies/shared/testing.ts'
import { takeGrpcStatus } from './grpc-trailers.ts'
import type { InFlight } from './in-flight.ts'

const STATUS = ['grpc-status: 7', 'grpc-message: no']

test.each([
  ['2', 'application/grpc', STATUS],
  ['2', 'text/plain', undefined],
  ['1.1', 'application/grpc', undefined],
])('HTTP/%s with content-type %s: the status moves to the trailers %j', (version, type, moved) => {
  const exchange = exchangeWith({ headers: { 'content-type': type } })
  const head = Head.response(200)
  head.append('x-a', '1')
  for (const line of STATUS) head.append(...(line.split(': ') as [string, string]))
  const trailers = takeGrpcStatus({ exchange, stream: { version } } as InFlight, head)
  expect(trailers && linesOf(trailers)).toEqual(moved)
  expect(exchange.trailers).toBe(trailers)
  expect(linesOf(head)).toEqual(moved === undefined ? ['x-a: 1', ...STATUS] : ['x-a: 1'])
})
