import { expect, test } from 'vitest'
import type { SocketPlace } from '#engine/places.ts'
import type { ServerStream } from '#net/stream.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { InFlight } from './in-flight.ts'
import type { ProxyContext } from './proxy-context.ts'

/** What one caller left in a field. */
const LEFT = { left: 'by the request before' }

type Fields = Record<string, unknown>

/** Parts of the state of a request, which are made once: what is in them is looked at, field by field. */
function isPart(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && value !== LEFT && !SHARED.has(value)
}

const CONTEXT = {
  load: { begin: () => {} },
  decisionIds: { next: () => 1 },
  now: () => 0,
} as unknown as ProxyContext
const SOCKET = {} as SocketPlace

/** What every request is given anew, or what belongs to the worker. */
const SHARED = new Set<unknown>([CONTEXT, SOCKET])

function streamOf(target: string): ServerStream {
  const { request: head, peer } = exchangeWith({ target })
  SHARED.add(head).add(peer)
  const stream = { head, peer, version: '1.1' } as unknown as ServerStream
  SHARED.add(stream)
  return stream
}

function* fieldsOf(
  part: Fields,
  path = '',
  seen = new Set<unknown>(),
): Generator<{ part: Fields; name: string; path: string }> {
  if (seen.has(part)) return
  seen.add(part)
  for (const name of Object.keys(part)) {
    const at = path === '' ? name : `${path}.${name}`
    if (isPart(part[name])) yield* fieldsOf(part[name], at, seen)
    else yield { part, name, path: at }
  }
}

/** Fields that keep what they held, each with the reason why that tells nothing of a caller. */
const KEPT: Readonly<Record<string, string>> = {
  deadline: 'the timer of the connection, armed anew by each request that has a limit',
  'exchange.gateway': 'of the worker',
  'exchange.workloads': 'of the worker',
  attemptStartMs: 'set by every attempt before anything reads it',
  'framing.kind': 'set by every attempt, as all of the framing',
  'framing.length': '',
  'framing.upgrade': '',
  'framing.trailers': '',
  'framing.patient': '',
}

test('nothing of one request is in the state of the next one on the connection', () => {
  const flight = new InFlight(CONTEXT)
  flight.begin(streamOf('/first'), SOCKET)
  const written: string[] = []
  for (const { part, name, path } of fieldsOf(flight as unknown as Fields)) {
    if (SHARED.has(part[name])) continue
    part[name] = LEFT
    written.push(path)
  }
  flight.exchange.redactQueryParameter('shop')
  expect(written.length).toBeGreaterThan(60)

  flight.dropBodies()
  flight.begin(streamOf('/second?shop=1'), SOCKET)
  const left = [...fieldsOf(flight as unknown as Fields)].filter(({ part, name }) => part[name] === LEFT)
  expect(left.map(({ path }) => path).filter((path) => KEPT[path] === undefined)).toEqual([])
  expect(flight.exchange.loggedTarget).toBe('/second?shop=1')
})
