import { request as httpRequest, type ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { residentMb } from '../process-cost.ts'
import { bodyOf, chunk, pass, STREAMED, startGuardedGateway } from './guarded-gateway.ts'
import { Comparison, makeRoom, startProber } from './prober.ts'

/**
 * Many streams at once from providers that send 1 MB a second each, behind a guard server that is slow: what the gateway holds, and what requests to
 * an unguarded route of the same worker notice. Rounds with and without streams alternate.
 *
 * Arguments: rounds (5), streams (500).
 */

const ROUNDS = Number(process.argv[2] ?? 5)
const STREAMS = Number(process.argv[3] ?? 500)
/** Not all at the same time. */
const VERDICT_MS = [1000, 3000] as const
const BYTES_PER_SECOND = 1_000_000
const SECONDS = 5

const EVENT = chunk({ content: ' a piece of a text of the model, about eighty characters long, for the guards.' })
const EVENTS = Buffer.from(EVENT.repeat(Math.ceil(65_536 / EVENT.length)))

await using stops = new AsyncDisposableStack()
/** By the streams that are open. */
const sent = new Map<ServerResponse, number>()
let received = 0
let judged = 0

const prober = await startProber(stops)

const gateway = await startGuardedGateway(
  {
    plainPort: prober.port,
    promptGuard: { response: [{ webhook: { backendRef: { name: 'judge', port: 80 } } }] },
    async provider(incoming, response) {
      await bodyOf(incoming)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      // The next piece when the system has taken this one.
      sent.set(response, 0)
      response.on('close', () => sent.delete(response))
      while (!response.destroyed) {
        await new Promise((resolve) => response.write(EVENTS, resolve))
        if (sent.has(response)) sent.set(response, sent.get(response)! + EVENTS.length)
        await setTimeout((EVENTS.length / BYTES_PER_SECOND) * 1000)
      }
    },
    async judge(incoming, response) {
      await bodyOf(incoming)
      const [least, most] = VERDICT_MS
      await setTimeout(least + ((judged++ * 7919) % (most - least)))
      pass(response)
    },
  },
  stops,
)

function openStream() {
  const made = httpRequest(`${gateway.url}/guarded/v1/chat/completions`, {
    method: STREAMED.method,
    headers: STREAMED.headers,
    agent: false,
  })
  made.on('response', (response) =>
    response.on('data', (piece: Buffer) => {
      received += piece.length
    }),
  )
  made.on('error', () => {})
  made.end(STREAMED.body)
  return made
}

const memory = () => residentMb(gateway.process.pid!)

const comparison = new Comparison()

async function measure(name: string, isLoaded: boolean): Promise<void> {
  const times = await prober.probe(gateway.url, SECONDS)
  const { heldBytes, windows } = await gateway.gauges()
  const held = `${(heldBytes / 1024).toFixed(0)} KB held, ${windows} windows in flight, ${memory().toFixed(0)} MB`
  console.log(`${name}: ${comparison.add(times, isLoaded)}, ${held}`)
}

makeRoom()
await prober.probe(gateway.url, SECONDS)
for (let round = 0; round < ROUNDS; round++) {
  await measure('without streams', false)
  received = 0
  const streams = Array.from({ length: STREAMS }, openStream)
  // The beginning of so many requests is not measured.
  while ((await gateway.gauges()).windows < STREAMS) await setTimeout(100)
  await setTimeout(2000)
  await measure(`with ${STREAMS} streams`, true)
  const open = sent.size
  const kilobytes = (bytes: number) => (bytes / open / 1024).toFixed(0)
  const taken = sent.values().reduce((sum, bytes) => sum + bytes, 0)
  const unread = gateway.unread()
  console.log(
    `  ${open} streams are open; of each: ${kilobytes(taken)} KB sent, ${kilobytes(unread)} KB of it in the buffers of the system, ` +
      `${kilobytes(received)} KB at the client, so at most ${kilobytes(taken - unread - received)} KB in the gateway`,
  )
  for (const stream of streams) stream.destroy()
  await setTimeout(2000)
}
const { heldBytes, windows } = await gateway.gauges()
console.log(
  `after all: ${heldBytes} bytes held, ${windows} windows in flight, ${memory().toFixed(0)} MB; ${judged} questions`,
)
console.log(`${comparison.conclude('streams')} (bar: 2 ms more)`)
