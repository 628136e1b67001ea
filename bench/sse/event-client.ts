import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicUs, readStamps } from './stamp.ts'

/** Options of this program: JSON in its first argument. */
export interface EventClientOptions {
  readonly url: string
  readonly seconds: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** The output of this program, as JSON. */
export interface EventReport {
  readonly events: number
  readonly errors: number
  readonly p50Us: number
  readonly p99Us: number
}

const STREAMS = 32
const agent = new Agent({ keepAlive: true, maxSockets: STREAMS })
const latencies: number[] = []
let errors = 0

const options = JSON.parse(process.argv[2] ?? '') as EventClientOptions
const end = performance.now() + options.seconds * 1000
await Promise.all(Array.from({ length: STREAMS }, (_, index) => keepReading(index)))
console.log(JSON.stringify(summarize(latencies.toSorted((a, b) => a - b))))

/** Starts streams in sequence, so that their events do not arrive simultaneously. */
async function keepReading(index: number): Promise<void> {
  await sleep(index * 3)
  while (performance.now() < end) {
    try {
      await readStream()
    } catch {
      errors++
    }
  }
}

function readStream(): Promise<void> {
  return new Promise((resolve, reject) => {
    const { url, headers, body } = options
    const sent = request(url, { agent, headers, method: body === undefined ? 'GET' : 'POST' }, (response) => {
      if (response.statusCode !== 200) errors++
      response.on('data', (bytes: Buffer) => {
        const now = monotonicUs()
        for (const stamp of readStamps(bytes.toString('latin1'))) latencies.push(now - stamp)
      })
      response.on('end', () => resolve())
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

function summarize(sorted: readonly number[]): EventReport {
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { events: sorted.length, errors, p50Us: at(0.5), p99Us: at(0.99) }
}
