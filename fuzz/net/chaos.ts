import { listen } from '#net/accept/listener.ts'
import { createClientPool } from '#net/pool/client-pool.ts'
import { destinationOf } from '#net/testing/raw-peers.ts'
import { chooseTransports } from '#net/transport/choose-transports.ts'
import { runChaosClient, type Tally } from './chaos-client.ts'
import { startChaosUpstream } from './chaos-upstream.ts'
import { CountingRelay } from './counting-relay.ts'
import { seeded } from './mutate.ts'

// Usage: node fuzz/net/chaos.ts [seconds] [seed]
// A relay between clients and an upstream that misbehave: truncate, reset, delay, disconnect, respond early. Every response must belong
// to its request, every request must end, and nothing may stay open. Timing is not reproducible, even with the same seed.

const seconds = Number(process.argv[2] ?? 20)
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32)
const CLIENTS = 40
/** Connections of disconnected clients end within the linger time of the server. */
const SETTLE_MS = 3500

const random = seeded(seed)
const upstream = await startChaosUpstream(random)
const { transports } = await chooseTransports('auto')
const pool = createClientPool({ transports })
const relay = new CountingRelay(pool, destinationOf(upstream.port))
const listener = await listen({ host: '127.0.0.1', port: 0, transports, handler: relay })
const tally: Tally = { whole: 0, refused: 0, cut: 0 }

const stuck = setTimeout(() => finish('stuck'), seconds * 1000 + 20_000)
const until = performance.now() + seconds * 1000
await Promise.all(
  Array.from({ length: CLIENTS }, async () => {
    while (performance.now() < until) await runChaosClient(listener.port, random, tally)
  }),
)
await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
const leftOpen = listener.connections
await listener.close()
pool.close()
await new Promise((resolve) => setTimeout(resolve, 200))
clearTimeout(stuck)
finish(leftOpen > 0 || upstream.connections() > 0 || relay.begun !== relay.ended ? 'something is left' : 'fine')

function finish(verdict: string): never {
  const { begun, ended } = relay
  const open = { clients: listener.connections, upstream: upstream.connections() }
  console.log(`seed ${seed}: ${verdict}`, { begun, ended, ...tally, open })
  process.exit(verdict === 'fine' ? 0 : 1)
}
