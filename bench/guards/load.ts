import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { bodyOf, chunk, pass, STREAMED, startGuardedGateway } from './guarded-gateway.ts'

/**
 * Many streams at once whose guard server is slow, from a provider that has sent everything at once: what the gateway holds, and what requests to
 * an unguarded route of the same worker notice.
 */

const STREAMS = 500
/** Not all at the same time. */
const VERDICT_MS = [1000, 3000] as const
/** Of each stream, in bytes. */
const LENGTH = 128 * 1024
const SECONDS = 6
/** Of the other route. */
const PER_SECOND = 100

const EVENT = chunk({ content: ' a piece of a text of the model, about eighty characters long, for the guards.' })
const EVENTS = EVENT.repeat(Math.ceil(LENGTH / EVENT.length))
const WHOLE = JSON.stringify({
  id: 'c',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
})

await using stops = new AsyncDisposableStack()
let received = 0
let judged = 0

const gateway = await startGuardedGateway(
  {
    promptGuard: { response: [{ webhook: { backendRef: { name: 'judge', port: 80 } } }] },
    async provider(incoming, response) {
      const { stream } = JSON.parse(await bodyOf(incoming)) as { stream?: boolean }
      if (stream !== true) return void response.writeHead(200, { 'content-type': 'application/json' }).end(WHOLE)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(EVENTS)
    },
    async judge(incoming, response) {
      await bodyOf(incoming)
      const [least, most] = VERDICT_MS
      await setTimeout(least + ((judged * 7919) % (most - least)))
      judged++
      pass(response)
    },
  },
  stops,
)

function memory(): number {
  const status = readFileSync(`/proc/${gateway.process.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024
}

/** Bytes that the provider has sent and the gateway has not read, in the buffers of the system. */
function unread(): number {
  const { port } = new URL(gateway.provider)
  const remote = `:${Number(port).toString(16).toUpperCase().padStart(4, '0')}`
  const sockets = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1)
  const fields = sockets.map((line) => line.trim().split(/\s+/))
  const ends = fields.filter(([, local, peer]) => local!.endsWith(remote) || peer!.endsWith(remote))
  // Sent and unacknowledged bytes of the provider, and unread ones of the gateway.
  return ends.reduce((sum, [, local, , , queues]) => {
    const [out, into] = queues!.split(':').map((part) => Number.parseInt(part, 16))
    return sum + (local!.endsWith(remote) ? out! : into!)
  }, 0)
}

/** Milliseconds of requests to the unguarded route. */
async function probe(seconds: number): Promise<number[]> {
  const times: Promise<number>[] = []
  for (let index = 0; index < seconds * PER_SECOND; index++) {
    times.push(askOnce())
    await setTimeout(1000 / PER_SECOND)
  }
  return Promise.all(times)
}

async function askOnce(): Promise<number> {
  const start = performance.now()
  const body = STREAMED.body.replace('"stream":true', '"stream":false')
  const response = await fetch(`${gateway.url}/plain/v1/chat/completions`, { ...STREAMED, body })
  await response.arrayBuffer()
  return performance.now() - start
}

const quantile = (times: readonly number[], share: number) =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length * share)]!.toFixed(1)

const show = (name: string, times: readonly number[]) =>
  console.log(`${name}: p50 ${quantile(times, 0.5)} ms, p99 ${quantile(times, 0.99)} ms, ${memory().toFixed(0)} MB`)

await probe(2)
show('without streams', await probe(SECONDS))
const before = memory()
const streams = Array.from({ length: STREAMS }, () => {
  const made = httpRequest(`${gateway.url}/guarded/v1/chat/completions`, {
    method: STREAMED.method,
    headers: STREAMED.headers,
  })
  made.on('response', (response) =>
    response.on('data', (piece: Buffer) => {
      received += piece.length
    }),
  )
  made.on('error', () => {})
  made.end(STREAMED.body)
  return made
})
await setTimeout(3000)
const waiting = unread()
show(`with ${STREAMS} streams`, await probe(SECONDS))
const peak = memory()
const kilobytes = (bytes: number) => (bytes / STREAMS / 1024).toFixed(1)
console.log(
  `of the ${kilobytes(STREAMS * EVENTS.length)} KB of each stream: ${kilobytes(waiting)} KB not read by the gateway after 3 seconds, ` +
    `${kilobytes(received)} KB at the client, ${(peak - before).toFixed(0)} MB more memory for all; ${judged} verdicts`,
)
for (const stream of streams) stream.destroy()
await setTimeout(1000)
show('after them', await probe(2))
