import { afterEach, expect, test, vi } from 'vitest'
import { backendItem, listenerItem, livePlan, relayRouteItem } from '#engine/testing.ts'
import type { ClientStream, ConnectHandler } from '#net/stream.ts'
import { DecisionIds } from '#observe/decision-ids.ts'
import { EndpointHealth } from '#state/endpoint-health.ts'
import { CutOff } from './cut-off.ts'
import type { ProxyContext } from './proxy-context.ts'
import { Relay } from './relay.ts'

afterEach(() => void vi.restoreAllMocks())

/** A route to one backend, with a recorded pool and a recorded observer. */
function relayTo(protocol: 'TLS' | 'TCP' = 'TLS') {
  const listener = listenerItem({ protocol, tlsMode: protocol === 'TLS' ? 'Passthrough' : undefined })
  const { plan, socket } = livePlan(listener, relayRouteItem('r'), backendItem('b'))
  const calls = {
    bug: vi.fn(),
    relayEnded: vi.fn(),
    cancel: vi.fn(),
    connect: vi.fn(() => ({ cancel: calls.cancel })),
    abort: vi.fn(),
    tunnel: vi.fn(),
  }
  const cutOff = new CutOff()
  const context = {
    decisionIds: new DecisionIds(),
    cutOff,
    observer: { bug: calls.bug, relayEnded: calls.relayEnded },
    pool: { connect: calls.connect },
    index: plan.index,
    random: () => 0,
    now: () => 0,
  } as unknown as ProxyContext
  const connection = { peer: {}, context: undefined, tunnel: calls.tunnel, abort: calls.abort }
  return { relay: new Relay(context, socket), connection: connection as never, calls, plan, cutOff }
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

test.each([
  ['TLS', 'tls'],
  ['TCP', 'tcp'],
] as const)('the log has the protocol of the listener (%s), and its settings', (protocol, logged) => {
  const { relay, connection, calls } = relayTo(protocol)
  relay.accepted(connection)
  relay.closed(connection, 0, 0, undefined)
  const [ended] = calls.relayEnded.mock.calls[0]!
  expect(ended.protocol).toBe(logged)
  expect(ended.settings).toBeDefined()
})

test('a connection that the maximum of a shutdown ends is logged as cut off', () => {
  const { relay, connection, calls, cutOff } = relayTo()
  relay.accepted(connection)
  cutOff.begin()
  relay.closed(connection, 0, 0, 'reset')
  expect(calls.relayEnded).toHaveBeenCalledWith(expect.anything(), 'cut off: the maximum of the shutdown was reached')
})

test.each([
  ['has another hostname', listenerItem({ protocol: 'TLS', tlsMode: 'Passthrough', hostname: 'other.test' })],
  ['serves HTTP', listenerItem({ protocol: 'HTTPS', tlsMode: 'Terminate' })],
])('a connection is closed if the listener of its socket %s since it was accepted', (_, listener) => {
  const { relay, connection, calls, plan } = relayTo()
  plan.update({ set: [listener], removed: [] })
  relay.socket = plan.sockets.get('127.0.0.1:8080')!
  relay.accepted(connection)
  expect(calls.connect).not.toHaveBeenCalled()
  expect(calls.abort).toHaveBeenCalledOnce()
  relay.closed(connection, 0, 0, 'reset')
  expect(calls.relayEnded.mock.calls[0]![0].exchange.refusal).toBe('listener-not-found')
})

test('a connection to the backend that breaks ends that of the client', () => {
  const { relay, connection, calls } = relayTo()
  relay.accepted(connection)
  const [, handler, flight] = calls.connect.mock.calls[0] as unknown as [unknown, ConnectHandler, unknown]
  handler.broken({ context: flight } as ClientStream, 'reset')
  expect(calls.abort).toHaveBeenCalledOnce()
})

test('a connection to the backend counts as healthy, and then carries the bytes', () => {
  const healthy = vi.spyOn(EndpointHealth.prototype, 'recordHealthy')
  const { relay, connection, calls } = relayTo()
  relay.accepted(connection)
  const [, handler, flight] = calls.connect.mock.calls[0] as unknown as [unknown, ConnectHandler, unknown]
  const stream = { context: flight } as ClientStream
  handler.connected(stream)
  expect(healthy).toHaveBeenCalledOnce()
  expect(calls.tunnel).toHaveBeenCalledWith(stream)
})
