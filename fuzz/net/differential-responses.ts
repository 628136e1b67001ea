import responses from './corpus/responses.json' with { type: 'json' }
import { EXPLAINED } from './explained.ts'
import { cutAnywhere, mutate, seeded } from './mutate.ts'
import { readResponseWithNode } from './read-response-with-node.ts'
import { relayInMemory } from './relay-in-memory.ts'

// Usage: node fuzz/net/differential-responses.ts [seconds] [seed]
// The HTTP client of Node must read the same from the relay as from the response itself, and a truncated response
// must never look complete. The first disagreement is printed with its seed and ends the run with 1.

const seconds = Number(process.argv[2] ?? 30)
const firstSeed = Number(process.argv[3] ?? Date.now() % 2 ** 32)
const counts = { messages: 0, passed: 0, refused: 0, cut: 0 }

const until = performance.now() + seconds * 1000
let seed = firstSeed
for (const text of responses) await check('GET', text, [text])
while (performance.now() < until) {
  const random = seeded(++seed)
  const text = mutate(responses[Math.floor(random() * responses.length)]!, random)
  await check(random() < 0.2 ? 'HEAD' : 'GET', text, cutAnywhere(text, random))
}
console.log(`seed ${firstSeed} to ${seed}:`, counts)

async function check(method: string, text: string, pieces: readonly string[]): Promise<void> {
  counts.messages++
  const ours = relayInMemory(method, pieces)
  const [outcome = ''] = ours.events
  if (outcome.startsWith('failed')) {
    counts.refused++
    return
  }
  // The relay answers an unrequested 101 itself.
  if (ours.text.startsWith('HTTP/1.1 502 ')) return
  const relayed = await readResponseWithNode(method, ours.text)
  if (outcome.startsWith('aborted')) {
    counts.cut++
    if (relayed.complete) fail('cut, but looks complete', method, text, ours, relayed)
    return
  }
  counts.passed++
  if (!relayed.complete) fail('what is sent on is not complete', method, text, ours, relayed)
  const direct = await readResponseWithNode(method, text)
  // Node may report bytes after the response as an error, and then withholds the body; the gateway closes the connection.
  const bodyFits = direct.complete ? direct.body === relayed.body : relayed.body.startsWith(direct.body)
  if (direct.status === relayed.status && bodyFits) return
  if (!direct.complete && EXPLAINED.has(direct.error ?? '')) return
  fail('sent on as something else', method, text, ours, relayed, direct)
}

function fail(what: string, method: string, text: string, ...readings: unknown[]): never {
  console.log(`${what} (seed ${seed}), to ${method}:\n${JSON.stringify(text)}`)
  for (const reading of readings) console.log(JSON.stringify(reading, null, 1))
  process.exit(1)
}
