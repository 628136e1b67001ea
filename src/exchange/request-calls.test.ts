import { expect, test } from 'vitest'
import type { EndedCall } from './call.ts'
import { RequestCalls } from './request-calls.ts'

const call: EndedCall = {
  purpose: 'guard',
  backend: 'default/b',
  status: 200,
  grpcStatus: undefined,
  failure: undefined,
  durationMs: 1,
  span: undefined,
  of: undefined,
}

test('calls are kept until their request ends, up to a bound', () => {
  const calls = new RequestCalls()
  expect(calls.keep(call)).toBe(true)
  for (let i = 0; i < 999; i++) calls.keep(call)
  expect(calls.keep(call)).toBe(false)
  expect(calls.take()).toHaveLength(1000)
  expect([calls.keep(call), calls.take()]).toEqual([false, []])
})
