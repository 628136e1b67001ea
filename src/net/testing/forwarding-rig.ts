import { onTestFinished } from 'vitest'
import { type Listener, type ListenOptions, listen } from '../accept/listener.ts'
import type { Destination } from '../destination.ts'
import { createClientPool } from '../pool/client-pool.ts'
import { ForwardingHandler } from './forwarding-handler.ts'
import { type Accepted, RawClient, RawServer } from './raw-peers.ts'
import { wireTransports } from './wire-transports.ts'

export interface ForwardingRig {
  readonly upstream: RawServer
  readonly proxy: ForwardingHandler
  readonly listener: Listener
  connect(): Promise<RawClient>
}

/** A minimal proxy on real sockets, between clients of the test and an upstream with the behaviour of `serve`; closed after the test. */
export async function startForwarding(
  serve: (peer: Accepted, index: number) => void,
  options: { listen?: Partial<ListenOptions>; destination?: Partial<Destination> } = {},
): Promise<ForwardingRig> {
  const upstream = await new RawServer(serve).start()
  const transports = wireTransports()
  const pool = createClientPool({ transports })
  const proxy = new ForwardingHandler(pool, { ...upstream.destination, ...options.destination })
  const listener = await listen({ host: '127.0.0.1', port: 0, transports, handler: proxy, ...options.listen })
  const clients: RawClient[] = []
  const connect = async () => {
    const client = await RawClient.connect(listener.port)
    clients.push(client)
    return client
  }
  onTestFinished(async () => {
    for (const client of clients) client.close()
    await listener.close()
    pool.close()
    upstream.close()
  })
  return { upstream, proxy, listener, connect }
}
