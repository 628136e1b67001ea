import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEcho } from '#examples/upstreams/echo.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGatewayProcess } from '#test/support/gateway-process.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

/**
 * The latency of requests without authentication while other clients send wrong passwords for a bcrypt hash. One worker, so that all of them
 * share an event loop.
 */

const REQUESTS = 3000
/** Clients that send the next wrong password as soon as the previous one is refused. */
const GUESSERS = 8
/** Cost 12: about 300 ms for each password. */
const HASH = '$2y$12$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC'

const agent = new http.Agent({ keepAlive: true })

async function main(): Promise<void> {
  await using stops = new AsyncDisposableStack()
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('echo', echo.port),
      routeYaml('open', '/open', 'echo'),
      routeYaml('staff', '/staff', 'echo'),
      policyYaml('staff', 'HTTPRoute', 'staff', { traffic: { basicAuthentication: { users: [`ann:${HASH}`] } } }),
    ),
  })
  stops.defer(folder.remove)
  stops.use(await startGatewayProcess({ files: [folder.path], workers: 1 }))
  stops.defer(() => agent.destroy())
  await measure(port, 'warming up')
  await measure(port, 'no password checks')
  let refused = 0
  let isOver = false
  const guessers = Array.from({ length: GUESSERS }, async (_, client) => {
    for (let i = 0; !isOver; i++) {
      await ask(port, '/staff', `ann:${client}-${i}`)
      refused++
    }
  })
  await sleep(1000)
  await measure(port, `${GUESSERS} clients guess passwords`)
  isOver = true
  await Promise.all(guessers)
  console.log(`${refused} passwords refused`)
}

async function measure(port: number, what: string): Promise<void> {
  const times: number[] = []
  for (let i = 0; i < REQUESTS; i++) {
    const start = performance.now()
    await ask(port, '/open')
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  const [median, p99, most] = [0.5, 0.99, 1].map((part) => times[Math.ceil(part * times.length) - 1]!.toFixed(2))
  console.log(`${what}: median ${median} ms, 99th percentile ${p99} ms, maximum ${most} ms`)
}

function ask(port: number, path: string, credential?: string): Promise<void> {
  const headers = credential === undefined ? {} : { authorization: `Basic ${btoa(credential)}` }
  return new Promise((resolve, reject) => {
    const request = http.get({ host: '127.0.0.1', port, path, headers, agent }, (response) => {
      response.resume().once('end', resolve)
    })
    request.once('error', reject)
  })
}

await main()
