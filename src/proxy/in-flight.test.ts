import { afterEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import type { LiveEndpoint } from '#engine/backend/live-backend.ts'
import type { LiveSocket } from '#engine/route/live-listener.ts'
import { ExchangeSlot } from '#exchange/exchange-slot.ts'
import { BodyMemory } from '#net/body/body-memory.ts'
import type { ServerStream } from '#net/stream.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { InFlight, sharedAuthority } from './in-flight.ts'
import type { ProxyContext } from './proxy-context.ts'

/** A value that one request left in a field. */
class Left {}
const SLOT = new ExchangeSlot<object>({})

const CONTEXT = {
  load: { begin: () => {} },
  decisionIds: { next: () => 1 },
  bodyMemory: new BodyMemory(1000),
  now: () => 0,
} as unknown as ProxyContext
const SOCKET = {} as LiveSocket
const { request: HEAD, peer: PEER } = exchangeWith()
/** HTTP/1 uses one stream object for all requests of a connection. */
const STREAM = { head: HEAD, peer: PEER, version: '1.1', body: {} } as unknown as ServerStream

/** All objects reachable by fields, except frozen ones and those that the requests of a connection share. */
function reachable(from: unknown, found = new Set<object>()): Set<object> {
  if (typeof from !== 'object' || from === null || Object.isFrozen(from)) return found
  if (found.has(from) || SHARED.has(from)) return found
  found.add(from)
  for (const name of Reflect.ownKeys(from)) reachable(Reflect.get(from, name), found)
  return found
}

function fill(part: object): void {
  for (const name of Reflect.ownKeys(part)) {
    const value: unknown = Reflect.get(part, name)
    if (typeof value !== 'object' || value === null) Reflect.set(part, name, new Left())
  }
}

const { monotonic } = clock
afterEach(() => {
  clock.monotonic = monotonic
})

test('an endpoint is released once, however often the request ends', () => {
  const flight = new InFlight(CONTEXT, STREAM, SOCKET, () => {})
  const calls: string[] = []
  const health = { begin: () => calls.push('begin'), end: () => calls.push('end') }
  flight.decision.endpoint = { health } as unknown as LiveEndpoint
  flight.releaseEndpoint()
  flight.occupyEndpoint()
  flight.releaseEndpoint()
  flight.releaseEndpoint()
  expect(calls).toEqual(['begin', 'end'])
})

test.each<[ends: string, end: (flight: InFlight) => void, healthy: number[], unhealthy: number]>([
  ['its response ends', (flight) => flight.completeAttempt(), [2], 0],
  ['its upgrade succeeds, and the tunnel breaks', upgrade, [2], 0],
  ['the backend breaks it off', (flight) => flight.breakAttempt(), [], 1],
  ['the stream of a provider ends early', endEarly, [], 1],
  ['the client or the gateway ends it', (flight) => flight.releaseEndpoint(), [], 0],
])('an attempt with a healthy head counts when %s', (_, end, expected, times) => {
  const flight = new InFlight(CONTEXT, STREAM, SOCKET, () => {})
  const healthy: (number | undefined)[] = []
  let unhealthy = 0
  const health = {
    begin: () => {},
    end: () => {},
    recordHealthy: (latencyMs: number | undefined) => healthy.push(latencyMs),
    recordUnhealthy: () => unhealthy++,
  }
  flight.decision.endpoint = { health } as unknown as LiveEndpoint
  flight.occupyEndpoint()
  flight.attemptStartMs = 3
  clock.monotonic = () => 5
  flight.healthyStatus = 200
  end(flight)
  // What ends later counts no more.
  flight.completeAttempt()
  flight.breakAttempt()
  expect([healthy, unhealthy]).toEqual([expected, times])
})

function upgrade(flight: InFlight): void {
  flight.recordHealthy()
  flight.breakAttempt()
}

function endEarly(flight: InFlight): void {
  Object.defineProperty(flight.bodies.response, 'failure', { value: { unhealthy: true } })
  flight.completeAttempt()
}

const SHARED = new Set<object>()
for (const shared of [CONTEXT, SOCKET, STREAM]) for (const object of reachable(shared)) SHARED.add(object)

test('no object of a request is reachable from the next request on its connection', () => {
  const first = new InFlight(CONTEXT, STREAM, SOCKET, () => {})
  const parts = reachable(first)
  expect(parts.size).toBeGreaterThan(8)
  for (const part of parts) {
    if (Array.isArray(part)) part.push(new Left())
    else fill(part)
  }
  first.exchange.slots.set(SLOT, new Left())
  first.exchange.redactQueryParameter('shop')
  first.claim.take(10)
  const left = reachable(first)
  expect([...left].filter((object) => object instanceof Left).length).toBeGreaterThan(60)

  const second = new InFlight(CONTEXT, STREAM, SOCKET, () => {})
  const seen = reachable(second)
  expect([...seen].filter((object) => left.has(object))).toEqual([])
  expect(second.exchange.slots.get(SLOT)).toBe(SLOT.initial)
})

test('each request has its own authority', () => {
  const authorities = ['', 'example.com', 'example.com', 'example.com:8080', 'EXAMPLE.com', '', 'example.com']
  expect(authorities.map(sharedAuthority)).toEqual(authorities)
})
