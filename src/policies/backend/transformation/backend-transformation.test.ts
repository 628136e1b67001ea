import { expect } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { contextWith, exchangeWith, linesOf, sourceOf, specFrom } from '../../shared/testing.ts'
import { transformation } from './index.ts'
import { backendTransformation } from './schema.ts'

verifies('backend.transformation/applies', 'request and response are transformed as in traffic', () => {
  const context = contextWith()
  const spec = specFrom(backendTransformation, {
    request: { set: [{ name: 'x-out', value: 'request.method' }] },
    response: { remove: ['server'], body: 'string(response.code)' },
  })
  const run = transformation.compile([sourceOf(spec)], context)!
  const exchange = exchangeWith({ status: 201, responseHeaders: { server: 'x', 'x-kept': '1' } })
  expect([run.request!(exchange), run.response!(exchange)]).toEqual([undefined, undefined])
  expect(linesOf(exchange.request)).toEqual(['x-out: GET'])
  expect(linesOf(exchange.response!)).toEqual(['x-kept: 1'])
  expect(new TextDecoder().decode(exchange.newResponseBody)).toBe('201')
  expect(context.reports).toEqual([])
})
