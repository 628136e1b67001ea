import { type Listener, type ListenOptions, listen } from '../accept/listener.ts'
import { createClientPool } from '../client-pool.ts'
import type { Destination } from '../stream.ts'
import { type Accepted, RawClient, RawServer } from './raw-peers.ts'
import { RelayHandler } from './relay-handler.ts'

export interface RelayRig {
  readonly upstream: RawServer
  readonly relay: RelayHandler
  readonly listener: Listener
  connect(): Promise<RawClient>
  close(): Promise<void>
}

/** A relay on real sockets between clients of the test and an upstream that does what `serve` says. */
export async function startRelay(
  serve: (peer: Accepted, index: number) => void,
  options: { listen?: Partial<ListenOptions>; destination?: Partial<Destination> } = {},
): Promise<RelayRig> {
  const upstream = await new RawServer(serve).start()
  const pool = createClientPool()
  const relay = new RelayHandler(pool, { ...upstream.destination, ...options.destination })
  const listener = await listen({ host: '127.0.0.1', port: 0, handler: relay, ...options.listen })
  const clients: RawClient[] = []
  const connect = async () => {
    const client = await RawClient.connect(listener.port)
    clients.push(client)
    return client
  }
  const close = async () => {
    for (const client of clients) client.close()
    await listener.close()
    pool.close()
    upstream.close()
  }
  return { upstream, relay, listener, connect, close }
}
