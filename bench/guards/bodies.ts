import { setTimeout } from 'node:timers/promises'
import { bodyOf, STREAMED, startGuardedGateway, WHOLE } from './guarded-gateway.ts'
import { Comparison, makeRoom, startProber } from './prober.ts'

/**
 * What requests to an unguarded route of the same worker notice while patterns check the largest bodies, a few at a time. Rounds with and without
 * bodies alternate.
 *
 * Arguments: rounds (5), bodies at a time (2).
 */

const ROUNDS = Number(process.argv[2] ?? 5)
const AT_A_TIME = Number(process.argv[3] ?? 2)
const SECONDS = 4
const PROSE = 'The quick brown fox jumps over the lazy dog, mails to jane@example.org and pays 1,250 dollars. '

const chat = (content: unknown) => JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] })
const part = (_: unknown, index: number) => ({ type: 'text', text: `part ${index} of ${PROSE.slice(0, 50)}` })
const BODIES = [chat(PROSE.repeat(20_000)), chat(Array.from({ length: 20_000 }, part))]

await using stops = new AsyncDisposableStack()
const prober = await startProber(stops)
const builtins = ['Ssn', 'CreditCard', 'PhoneNumber', 'Email', 'CaSin']
const gateway = await startGuardedGateway(
  {
    plainPort: prober.port,
    promptGuard: { request: [{ regex: { builtins } }] },
    async provider(incoming, response) {
      await bodyOf(incoming)
      response.writeHead(200, { 'content-type': 'application/json' }).end(WHOLE)
    },
  },
  stops,
)

let isLoaded = false
let bodies = 0

async function sendBodies(): Promise<void> {
  while (isLoaded) {
    const body = BODIES[bodies++ % BODIES.length]!
    const response = await fetch(`${gateway.url}/guarded/v1/chat/completions`, { ...STREAMED, body })
    if (response.status !== 200) throw new Error(`a body got ${response.status}: ${await response.text()}`)
    await response.arrayBuffer()
  }
}

const comparison = new Comparison()

async function measure(name: string): Promise<void> {
  const times = await prober.probe(gateway.url, SECONDS)
  console.log(`${name}: ${comparison.add(times, isLoaded)}`)
}

makeRoom()
await prober.probe(gateway.url, SECONDS)
for (let round = 0; round < ROUNDS; round++) {
  await measure('without bodies')
  isLoaded = true
  const before = bodies
  const senders = Array.from({ length: AT_A_TIME }, sendBodies)
  await setTimeout(500)
  await measure(`with ${AT_A_TIME} bodies at a time`)
  isLoaded = false
  await Promise.all(senders)
  console.log(`  ${bodies - before} bodies`)
}
console.log(comparison.conclude('bodies'))
