import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { protocolOf } from '#protocols/backend-protocols.ts'
import { responseTimeout } from './response-timeout.ts'

interface Case {
  /** `backend.http.requestTimeout`. */
  readonly configured?: number
  /** `timeouts.backendRequest`. */
  readonly attempt?: number
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
  ['a limit of the route rule for each attempt', { attempt: 2000 }, 2000],
  ['such a limit at a provider', { attempt: 2000, type: 'ai' }, 2000],
  ['such a limit, and one for the whole request', { attempt: 2000, whole: 600_000 }, 2000],
  ['such a limit, and one of the backend', { attempt: 2000, configured: 1000 }, 1000],
  ['an explicit absence of a limit for each attempt', { attempt: 0 }, 0],
  ['gRPC', { contentType: 'application/grpc' }, 0],
  ['gRPC with a backend policy', { contentType: 'application/grpc+proto', configured: 1000 }, 1000],
  ['gRPC-Web', { contentType: 'application/grpc-web' }, 300_000],
]

test.each(cases)('%s', (_, { configured = 0, attempt, whole, type = 'static', contentType }, expectedMs) => {
  const request = Head.request('POST', '/')
  if (contentType !== undefined) request.append('content-type', contentType)
  const endpoint = { requestTimeoutMs: configured, defaultTimeoutMs: protocolOf(type).responseTimeoutMs }
  expect(responseTimeout(endpoint, { attemptTimeoutMs: attempt, requestTimeoutMs: whole, request })).toBe(expectedMs)
})
