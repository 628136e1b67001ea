import { expect, test } from 'vitest'
import { GRPC } from '#test/support/ext-auth-policy.ts'
import { fakeServer } from '#test/support/fake-authorization-server.ts'
import { contextWith, exchangeWith, runContext, sourceOf, specFrom } from '../../shared/testing.ts'
import { extAuth } from './index.ts'
import { backendExtAuth } from './schema.ts'

test('the same policy at a backend', async () => {
  const server = fakeServer(() => ({ check: { status: { code: 7 } } }))
  const run = extAuth.compile([sourceOf(specFrom(backendExtAuth, GRPC))], contextWith())
  const exchange = exchangeWith()
  exchange.context = runContext({ call: server.call })
  expect(await run?.request?.(exchange)).toMatchObject({ code: 'ext-auth-denied' })
  expect(server.destinations).toEqual(['Service/default/authz/9000'])
})
