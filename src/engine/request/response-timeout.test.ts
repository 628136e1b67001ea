import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { protocolOf } from '#protocols/backend-protocols.ts'
import { responseTimeout } from './response-timeout.ts'

interface Case {
  /** `backend.http.requestTimeout`. */
  readonly configured?: number
  /** `timeouts.request`. */
  readonly whole?: number
  readonly type?: 'static' | 'service' | 'ai' | 'mcp' | 'a2a'
  readonly contentType?: string
}

const cases: [name: string, given: Case, expectedMs: number][] = [
  ['no configuration', {}, 300_000],
  ['a Service', { type: 'service' }, 300_000],
  ['a backend policy', { configured: 900_000 }, 900_000],
  ['a backend policy of a provider', { configured: 900_000, type: 'ai' }, 900_000],
  ['a provider', { type: 'ai' }, 0],
  ['an MCP target', { type: 'mcp' }, 0],
  ['an agent', { type: 'a2a' }, 0],
  ['a limit for the whole request', { whole: 600_000 }, 0],
  ['an explicit absence of a limit for the whole request', { whole: 0 }, 0],
  ['both limits', { whole: 600_000, configured: 1000 }, 1000],
  ['gRPC', { contentType: 'application/grpc' }, 0],
  ['gRPC with a backend policy', { contentType: 'application/grpc+proto', configured: 1000 }, 1000],
  ['gRPC-Web', { contentType: 'application/grpc-web' }, 300_000],
]

test.each(cases)('%s', (_, { configured = 0, whole, type = 'static', contentType }, expectedMs) => {
  const request = Head.request('POST', '/')
  if (contentType !== undefined) request.append('content-type', contentType)
  const endpoint = { requestTimeoutMs: configured, defaultTimeoutMs: protocolOf(type).responseTimeoutMs }
  expect(responseTimeout(endpoint, { requestTimeoutMs: whole, request })).toBe(expectedMs)
})
