import { ClientConnection } from '#net/http1/client-connection.ts'
import { ClientExchange } from '#net/http1/client-exchange.ts'
import { ServerConnection } from '#net/http1/server-connection.ts'
import { DEFAULT_SERVER_LIMITS } from '#net/limits.ts'
import { BODY_NONE, type ClientPool } from '#net/stream.ts'
import { ForwardingHandler } from '#net/testing/forwarding-handler.ts'
import { MemoryTransport } from '#net/testing/memory-transport.ts'
import { destinationOf } from '#net/testing/raw-peers.ts'
import { TimerWheel } from '#net/timer-wheel.ts'
import { PEER } from './read-with-gateway.ts'

/** The response that a client got from the relay. */
export interface Relayed {
  readonly text: string
  /** `finished`, `aborted` or `failed` and their details. */
  readonly events: readonly string[]
}

/** Relays one request to an upstream that sends `pieces` and ends its direction. */
export function relayInMemory(method: string, pieces: readonly string[]): Relayed {
  const upstream = new MemoryTransport()
  const relay = new ForwardingHandler(poolOn(upstream), destinationOf(1))
  const client = new MemoryTransport()
  const settings = { handler: relay, limits: DEFAULT_SERVER_LIMITS, wheel: new TimerWheel(), onClosed: () => {} }
  const connection = new ServerConnection(PEER, settings)
  client.owner = connection
  connection.attach(client)
  client.receive(`${method} / HTTP/1.1\r\nHost: x\r\n\r\n`)
  for (const piece of pieces) if (!upstream.destroyed) upstream.receive(piece)
  if (!upstream.destroyed) upstream.receiveEnd()
  const { text } = client
  const events = [...relay.events]
  connection.abort()
  return { text, events }
}

/** A pool of one connection. */
function poolOn(transport: MemoryTransport): Pick<ClientPool, 'send'> {
  return {
    send: (_destination, head, { kind, length }, _timeoutMs, handler, context) => {
      const exchange = new ClientExchange({ recycle: () => {}, arm: () => {}, disarm: () => {} })
      const connection = new ClientConnection({ put: () => {}, gone: () => {}, replay: () => {} })
      exchange.begin(head, handler, context)
      connection.carry(exchange)
      transport.owner = connection
      connection.attach(transport)
      exchange.request.start(transport, head.writeRequest(kind, length, ''), kind, length)
      if (kind === BODY_NONE) exchange.request.end()
      return exchange
    },
  }
}
