import { expect, test } from 'vitest'
import { exchangeWith } from '#policies/shared/testing.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'
import { passedHeaders, targetHeaders } from './forward-headers.ts'

const SENT = {
  accept: 'text/event-stream',
  authorization: 'Bearer k',
  cookie: 'a=1',
  'content-type': 'text/plain',
  'last-event-id': '7',
  'mcp-protocol-version': '2024-11-05',
  'mcp-session-id': 'sealed',
  'x-a': '1',
}
const SESSION = {
  target: 'a',
  version: '2025-06-18',
  sessionId: 'own',
  capabilities: new Set<never>(),
  endpoint: undefined,
}

function namesTo(targets: readonly string[], session: typeof SESSION | undefined) {
  const plan = mcpPlan(targets)
  return targetHeaders(plan, exchangeWith({ headers: SENT }), plan.targets[0]!, session).map((pair) => pair.join(': '))
}

test('a target gets the headers of the client and those of its own session', () => {
  expect(namesTo(['a'], SESSION)).toEqual([
    'authorization: Bearer k',
    'cookie: a=1',
    'x-a: 1',
    'accept-encoding: identity',
    'mcp-protocol-version: 2025-06-18',
    'mcp-session-id: own',
  ])
  expect(namesTo(['a'], undefined)).toEqual([
    'authorization: Bearer k',
    'cookie: a=1',
    'mcp-protocol-version: 2024-11-05',
    'x-a: 1',
    'accept-encoding: identity',
  ])
})

test('a name with underscores is that of the gateway too', () => {
  const plan = mcpPlan(['a'])
  const headers = { mcp_session_id: 'forged', Content_Type: 'text/plain', x_a: '1' }
  expect(targetHeaders(plan, exchangeWith({ headers }), plan.targets[0]!, undefined)).toEqual([
    ['x_a', '1'],
    ['accept-encoding', 'identity'],
  ])
})

test('of several targets, none gets credentials and event ids that may be those of another', () => {
  expect(namesTo(['a', 'b'], undefined)).toEqual([
    'mcp-protocol-version: 2024-11-05',
    'x-a: 1',
    'accept-encoding: identity',
  ])
})

test('the headers of an error that is forwarded', () => {
  const headers = ['content-type', 'content-encoding', 'content-length', 'connection', 'mcp-session-id', 'x-a'] as const
  expect(passedHeaders(headers.map((name) => [name, '1'])).map(([name]) => name)).toEqual([
    'content-type',
    'content-encoding',
    'x-a',
  ])
})
