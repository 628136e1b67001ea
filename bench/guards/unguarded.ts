import { Agent, request } from 'node:http'
import { cpuNs } from '../process-cost.ts'
import { STREAMED, startGuardedGateway, WHOLE } from './guarded-gateway.ts'

/**
 * What guards cost a backend without guards: CPU of each request to it in a gateway whose other backend has guards, and in one without any
 * guard. Both run all the time and are measured in turn.
 *
 * Arguments: rounds (10), requests (1500).
 */

const ROUNDS = Number(process.argv[2] ?? 10)
const REQUESTS = Number(process.argv[3] ?? 1500)
const CONNECTIONS = 16

const GUARDS = {
  request: [{ regex: { builtins: ['Email', 'Ssn'] } }, { webhook: { backendRef: { name: 'judge', port: 80 } } }],
  response: [{ regex: { builtins: ['Email', 'Ssn'] } }, { webhook: { backendRef: { name: 'judge', port: 80 } } }],
}

await using stops = new AsyncDisposableStack()
const provider: Parameters<typeof startGuardedGateway>[0]['provider'] = (incoming, response) => {
  incoming.resume()
  incoming.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(WHOLE))
}
const gateways = {
  guarded: await startGuardedGateway({ promptGuard: GUARDS, provider }, stops),
  none: await startGuardedGateway({ promptGuard: undefined, provider }, stops),
}
type Side = keyof typeof gateways
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
stops.defer(() => agent.destroy())
const BODY = STREAMED.body.replace('"stream":true', '"stream":false')

function ask(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const made = request(`${url}/plain/v1/chat/completions`, { method: 'POST', headers: STREAMED.headers, agent })
    made.on('response', (response) => response.resume().on('end', resolve))
    made.on('error', reject)
    made.end(BODY)
  })
}

/** Microseconds of CPU of the gateway for each request. */
async function cost(side: Side): Promise<number> {
  const { url, process } = gateways[side]
  const before = cpuNs(process.pid!)
  let left = REQUESTS
  const worker = async () => {
    while (left-- > 0) await ask(url)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  return (cpuNs(process.pid!) - before) / 1000 / REQUESTS
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!
for (let warm = 0; warm < 3; warm++) for (const side of ['guarded', 'none'] as const) await cost(side)
const rounds: Record<Side, number>[] = []
for (let round = 0; round < ROUNDS; round++) {
  const order: readonly Side[] = round % 2 === 0 ? ['guarded', 'none'] : ['none', 'guarded']
  const costs = { guarded: 0, none: 0 }
  for (const side of order) costs[side] = await cost(side)
  rounds.push(costs)
  console.log(`${costs.guarded.toFixed(1)} us with guards elsewhere, ${costs.none.toFixed(1)} us without any guard`)
}
const ratios = rounds.map(({ guarded, none }) => guarded / none)
const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
console.log(
  `medians: ${median(rounds.map(({ guarded }) => guarded)).toFixed(1)} us and ${median(rounds.map(({ none }) => none)).toFixed(1)} us a request; ` +
    `ratio ${median(ratios).toFixed(3)} (${range})`,
)
