import { expect, test } from 'vitest'
import { exchangeWith } from '#policies/shared/testing.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'
import { testSealer } from '#test/support/test-sealer.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { addressOf, endpointOf } from './stream-address.ts'

const ADDRESS = { key: 'k', thread: 'w1' }
const plan = mcpPlan(['a'])
const deps = { sealer: testSealer() }

function requestFor(target: string, changed: Partial<McpRequest> = {}): McpRequest {
  const exchange = exchangeWith({ target })
  exchange.originalTarget = target
  return { plan, exchange, deps, era: 'legacy', ...changed } as McpRequest
}

const endpoint = endpointOf(requestFor('/x/sse?a=1&sessionId=old&b=2'), ADDRESS)

test('an endpoint leads its client to the stream, with the rest of the query', () => {
  expect(endpoint).toMatch(/^\/x\/sse\?a=1&b=2&sessionId=[\w-]{64,}$/)
  expect(addressOf(requestFor(endpoint))).toEqual(ADDRESS)
})

test('an endpoint is of one backend and one caller', () => {
  const other = { ...plan, backend: 'ProxyBackend/default/other' }
  expect(addressOf(requestFor(endpoint, { plan: other }))).toBeUndefined()
  const request = requestFor(endpoint)
  request.exchange.identity.basicAuth = { username: 'alice', credential: '' }
  expect(addressOf(request)).toBeUndefined()
  for (const target of ['/sse', '/sse?sessionId=', '/sse?sessionId=made-up']) {
    expect(addressOf(requestFor(target))).toBeUndefined()
  }
})
