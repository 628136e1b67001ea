import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import type { ClientStream } from '#net/stream.ts'
import { exchangeWith, linesOf } from '#policies/shared/testing.ts'
import { lacksGrpcStatus, takeGrpcStatus } from './grpc-trailers.ts'
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

const GRPC = { 'content-type': 'application/grpc' }
const answers: [
  what: string,
  lacks: boolean,
  request: object,
  response: readonly string[],
  trailers: readonly string[],
][] = [
  ['no status', true, { headers: GRPC }, ['content-type: application/grpc+proto'], []],
  ['other trailers', true, { headers: GRPC }, ['content-type: application/grpc'], ['x-a: 1']],
  ['a status in the trailers', false, { headers: GRPC }, ['content-type: application/grpc'], ['grpc-status: 0']],
  ['a status in the head', false, { headers: GRPC }, ['content-type: application/grpc', 'grpc-status: 5'], []],
  ['another type', false, { headers: GRPC }, ['content-type: text/html'], []],
  ['gRPC-Web', false, { headers: GRPC }, ['content-type: application/grpc-web'], []],
  ['another request', false, { headers: {} }, ['content-type: application/grpc'], []],
  ['another method', false, { headers: GRPC, method: 'GET' }, ['content-type: application/grpc'], []],
  ['another status', false, { headers: GRPC, status: 503 }, ['content-type: application/grpc'], []],
]
test.each(answers)(
  '%s: a call lacks its status: %j',
  (_, lacks, { status, ...request }: { status?: number }, response, end) => {
    const exchange = exchangeWith({ method: 'POST', ...request })
    const head = Head.response(status ?? 200)
    for (const line of response) head.append(...(line.split(': ') as [string, string]))
    const trailers = new Head()
    for (const line of end) trailers.append(...(line.split(': ') as [string, string]))
    const flight = { exchange } as InFlight
    expect(lacksGrpcStatus(flight, { head, trailers: end.length === 0 ? undefined : trailers } as ClientStream)).toBe(
      lacks,
    )
  },
)
