import { expect, test } from 'vitest'
import type { Decision } from '#engine/request/decide.ts'
import { RequestTrailerGate } from './passing-fields.ts'

test('request trailers that policies change are not forwarded, except the status of a gRPC call', () => {
  const changed = { fields: { request: new Set(['x-a', 'grpc-status']), response: new Set() }, readers: [] }
  const gate = new RequestTrailerGate({ preRouting: changed } as unknown as Decision)
  expect(['x-a', 'x-b', 'grpc-status'].map((name) => gate.admits(name))).toEqual([false, true, true])
})
