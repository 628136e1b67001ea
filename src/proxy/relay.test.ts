import { afterEach, expect, test, vi } from 'vitest'
import { backendItem, listenerItem, livePlan, relayRouteItem } from '#engine/testing.ts'
import { DecisionIds } from '#observe/decision-ids.ts'
import { EndpointHealth } from '#state/endpoint-health.ts'
import { CutOff } from './cut-off.ts'
import type { ProxyContext } from './proxy-context.ts'
import { Relay } from './relay.ts'

afterEach(() => void vi.restoreAllMocks())

/** A TLS route to one backend, with a recorded pool and a recorded observer. */
function relayTo() {
  const listener = listenerItem({ protocol: 'TLS', tlsMode: 'Passthrough' })
  const { plan, socket } = livePlan(listener, relayRouteItem('r'), backendItem('b'))
  const calls = {
    bug: vi.fn(),
    relayEnded: vi.fn(),
    cancel: vi.fn(),
    connect: vi.fn(() => ({ cancel: calls.cancel })),
    abort: vi.fn(),
  }
  const context = {
    decisionIds: new DecisionIds(),
    cutOff: new CutOff(),
    observer: { bug: calls.bug, relayEnded: calls.relayEnded },
    pool: { connect: calls.connect },
    index: plan.index,
    random: () => 0,
    now: () => 0,
  } as unknown as ProxyContext
  const connection = { peer: {}, context: undefined, tunnel: vi.fn(), abort: calls.abort }
  return { relay: new Relay(context, socket), connection: connection as never, calls }
}

test('a bug closes the connection as an internal error, and is reported', () => {
  const error = new Error('broken')
  const { relay, connection, calls } = relayTo()
  calls.connect.mockImplementation(() => {
    throw error
  })
  relay.accepted(connection)
  expect(calls.bug).toHaveBeenCalledWith(expect.any(String), error)
  expect(calls.abort).toHaveBeenCalledOnce()
  relay.closed(connection, 0, 0, 'reset')
  expect(calls.relayEnded.mock.calls[0]![0].exchange.refusal).toBe('internal-error')
})

test.each([
  ['an abort cancels the connection to the backend', 'reset', 1],
  ['after an orderly end, what is still on its way reaches the backend', undefined, 0],
] as const)('%s', (_, why, cancelled) => {
  const released = vi.spyOn(EndpointHealth.prototype, 'end')
  const { relay, connection, calls } = relayTo()
  relay.accepted(connection)
  expect(calls.connect).toHaveBeenCalledOnce()
  expect(released).not.toHaveBeenCalled()
  relay.closed(connection, 3, 5, why)
  expect(calls.cancel).toHaveBeenCalledTimes(cancelled)
  expect(released).toHaveBeenCalledOnce()
  expect(calls.relayEnded).toHaveBeenCalledWith(
    expect.objectContaining({ receivedBytes: 3, sentBytes: 5 }),
    why && 'connection ended: reset',
  )
})
