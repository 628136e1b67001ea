import { METHODS } from 'node:http'
import requests from './corpus/requests.json' with { type: 'json' }
import { EXPLAINED } from './explained.ts'
import { cutAnywhere, mutate, seeded } from './mutate.ts'
import { type GatewayReading, type ReadRequest, readWithGateway } from './read-with-gateway.ts'
import { readWithNode } from './read-with-node.ts'

// Usage: node fuzz/net/differential.ts [seconds] [seed]
// Messages that the gateway accepts must have the same framing in node:http, in its strict mode: the raw bytes, as far as node:http
// accepts them, and always the forwarded bytes. The first disagreement is printed with its seed and ends the run with 1.

const seconds = Number(process.argv[2] ?? 30)
const firstSeed = Number(process.argv[3] ?? Date.now() % 2 ** 32)
const KNOWN = new Set(METHODS)

const counts = { messages: 0, accepted: 0, stricter: 0, laxer: 0 }
const until = performance.now() + seconds * 1000
let seed = firstSeed
for (const text of requests) await check(text, [text])
while (performance.now() < until) {
  const random = seeded(++seed)
  const text = mutate(requests[Math.floor(random() * requests.length)]!, random)
  await check(text, cutAnywhere(text, random))
}
console.log(`seed ${firstSeed} to ${seed}:`, counts)

async function check(text: string, pieces: readonly string[]): Promise<void> {
  counts.messages++
  const ours = readWithGateway(pieces)
  const whole = readWithGateway([text])
  if (!sameRequests(ours.requests, whole.requests)) fail('pieces read otherwise than the whole', text, ours, whole)
  if (ours.special || ours.requests.some(({ method }) => !KNOWN.has(method))) return
  counts.accepted += ours.requests.length > 0 ? 1 : 0
  await checkRaw(text, ours)
  await checkForwarded(text, ours)
}

/** Both parsers must read the same messages, up to where the first of them stops. */
async function checkRaw(text: string, ours: GatewayReading): Promise<void> {
  const node = await readWithNode(text)
  const common = Math.min(node.requests.length, ours.requests.length)
  for (let i = 0; i < common; i++) {
    const [one, other] = [ours.requests[i]!, node.requests[i]!]
    if (one.method !== other.method || one.body !== other.body) fail('raw bytes read otherwise', text, ours, node)
  }
  if (node.requests.length > ours.requests.length) counts.stricter++
  if (node.requests.length >= ours.requests.length) return
  if (node.error === undefined) fail('a request that node:http does not see', text, ours, node)
  counts.laxer++
  if (!EXPLAINED.has(node.error ?? '')) fail('accepted without a reason that we know', text, ours, node)
}

/** The forwarded bytes must be read as exactly the requests that the gateway intends to send. */
async function checkForwarded(text: string, ours: GatewayReading): Promise<void> {
  if (ours.forwarded === '') return
  const node = await readWithNode(ours.forwarded)
  if (node.error !== undefined || !sameRequests(node.requests, ours.requests)) {
    fail('what is sent on is read otherwise', text, ours, node)
  }
}

function sameRequests(some: readonly ReadRequest[], others: readonly ReadRequest[]): boolean {
  return JSON.stringify(some) === JSON.stringify(others)
}

function fail(what: string, text: string, ...readings: unknown[]): never {
  console.log(`${what} (seed ${seed}):\n${JSON.stringify(text)}`)
  for (const reading of readings) console.log(JSON.stringify(reading, null, 1))
  process.exit(1)
}
