import { expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'
import { testSealer } from '#test/support/test-sealer.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { openInputState, sealInputState } from './input-state.ts'

const TARGET = { name: 'a' }
const ITEM = { method: 'tools/call', params: { name: 'x' } }
const session = {
  target: 'a',
  sessionId: 's',
  version: '2025-11-25',
  endpoint: undefined,
  capabilities: new Set<never>(),
}
const at = { key: 'k', thread: 'w1', round: 1 }

function start() {
  const request = {
    plan: mcpPlan(['a']),
    exchange: exchangeWith(),
    deps: { sealer: testSealer() },
  } as unknown as McpRequest
  const requestState = sealInputState(request, ITEM, { session, at })
  const open = (changed: Partial<McpRequest> = {}, target = TARGET, item: typeof ITEM = ITEM) =>
    openInputState({ ...request, ...changed }, target, { ...item, params: { ...item.params, requestState } as never })
  return { request, open }
}

test('a state names the session of the target, and where its call waits', () => {
  expect(start().open()).toEqual({ session, at })
})

test.each<[what: string, open: (started: ReturnType<typeof start>) => unknown]>([
  ['another target', ({ open }) => open({}, { name: 'b' })],
  ['another method', ({ open }) => open({}, TARGET, { ...ITEM, method: 'prompts/get' })],
  ['another item', ({ open }) => open({}, TARGET, { ...ITEM, params: { name: 'y' } })],
  [
    'another backend',
    ({ open, request }) => open({ plan: { ...request.plan, backend: 'ProxyBackend/default/other' } }),
  ],
  [
    'another caller',
    ({ open }) => {
      const exchange = exchangeWith()
      exchange.identity.basicAuth = { username: 'alice', credential: '' }
      return open({ exchange })
    },
  ],
  [
    'ten minutes later',
    ({ open }) => {
      const now = clock.now() + 10 * 60_000 + 1
      vi.spyOn(clock, 'now').mockReturnValue(now)
      return open()
    },
  ],
])('a state is not valid for %s', (_, open) => {
  expect(open(start())).toBe('invalid')
})

test('a state that a target has made is its own', () => {
  const { request } = start()
  for (const requestState of ['made by the target', 7, undefined]) {
    expect(openInputState(request, TARGET, { ...ITEM, params: { name: 'x', requestState } as never })).toBeUndefined()
  }
})
