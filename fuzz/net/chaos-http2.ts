import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { listen } from '#net/accept/listener.ts'
import { createClientPool } from '#net/pool/client-pool.ts'
import type { ClientStream, ServerStream } from '#net/stream.ts'
import { destinationOf } from '#net/testing/raw-peers.ts'
import { chooseTransports } from '#net/transport/choose-transports.ts'
import { CountingRelay } from './counting-relay.ts'
import { seeded } from './mutate.ts'

// Usage: node fuzz/net/chaos-http2.ts [seconds] [seed]
// A relay between HTTP/2 clients and an HTTP/2 upstream that reset streams and end sessions at any time. Every complete response must
// belong to its request, every request must end, nothing may stay open, and the process must survive.

const seconds = Number(process.argv[2] ?? 20)
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32)
/** Time in which requests end after the clients have disconnected. */
const SETTLE_MS = 1500

interface ClientReport {
  readonly whole: number
  readonly refused: number
  readonly cut: number
  readonly wrong: readonly string[]
}

/** Cancels some requests when their response begins, as policies and retries do. */
class FickleRelay extends CountingRelay {
  readonly #random = seeded(seed + 2)

  override response(upstream: ClientStream): void {
    if (this.#random() > 0.2) return super.response(upstream)
    upstream.cancel()
    ;(upstream.context as ServerStream).abort()
  }
}

/** Starts a peer in a separate process, because Node sometimes crashes under this load. */
function peer(file: string, ...given: readonly number[]): ChildProcess {
  return fork(join(import.meta.dirname, file), given.map(String))
}

const upstream = peer('chaos-http2-upstream.ts', seed)
const [port] = (await once(upstream, 'message')) as [number]
const { transports } = await chooseTransports('auto')
const pool = createClientPool({ transports })
const relay = new FickleRelay(pool, { ...destinationOf(port), http: 'http2' })
const listener = await listen({ host: '127.0.0.1', port: 0, transports, handler: relay })

const client = peer('chaos-http2-client.ts', listener.port, seconds, seed + 1)
const [report] = (await Promise.race([
  once(client, 'message'),
  once(client, 'exit').then(() => finish('the clients ended early', {})),
  once(upstream, 'exit').then(() => finish('the upstream ended early', {})),
])) as [ClientReport]
await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
const left = listener.connections
await listener.close()
pool.close()
await new Promise((resolve) => setTimeout(resolve, 200))
const { wrong, ...tally } = report
if (wrong.length > 0) finish(`wrong answers: ${wrong.slice(0, 3).join('; ')}`, tally)
finish(left > 0 || relay.begun !== relay.ended ? 'something is left' : 'fine', tally)

function finish(verdict: string, tally: object): never {
  const { begun, ended } = relay
  console.log(`seed ${seed}: ${verdict}`, { begun, ended, ...tally, open: listener.connections })
  upstream.kill()
  client.kill()
  process.exit(verdict === 'fine' ? 0 : 1)
}
