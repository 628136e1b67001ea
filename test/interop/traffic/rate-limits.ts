import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { backendYaml, createObjectsFolder, routeYaml } from '../../support/objects-folder.ts'
import { policyYaml } from '../../support/policy-yaml.ts'
import { installedGoProgram, installedProgram, startServer } from '../counterparts.ts'
import { type Front, proxyBackend, startFront } from '../front.ts'
import type { Transcript } from '../transcript.ts'

const SERVICE = 'github.com/envoyproxy/ratelimit/src/service_cmd@v1.4.1-0.20260122083618-3fb702589d36'

/** The configuration of the service. Windows of a day, so that none ends during the checks. */
const LIMITS = `
domain: shop
descriptors:
  - key: caller
    value: unlimited
    rate_limit: { unlimited: true }
  - key: caller
    rate_limit: { unit: day, requests_per_unit: 3 }
  - key: costly
    rate_limit: { unit: day, requests_per_unit: 10 }
  - key: tokens
    rate_limit: { unit: day, requests_per_unit: 10 }
  - key: path
    value: /pairs/slow
    descriptors:
      - key: caller
        rate_limit: { unit: day, requests_per_unit: 1 }
`

const TOTAL_TOKENS = 6

/** Global limits by the rate limit service of Envoy, which counts in Redis. */
export async function checkRateLimits(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const redis = installedProgram('redis-server', 'redis-server')
  const program = installedGoProgram('ratelimit', SERVICE)
  const redisPort = await freePort()
  const counts = stops.use(
    startServer(redis, {
      words: ['--port', `${redisPort}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    }),
  )
  const { port: servicePort, service } = await startService(program, redisPort, stops)
  const front = await startFront(
    stops,
    backendYaml('limits', servicePort),
    modelYaml(await startModel(stops)),
    ...limitedYaml('callers', {}),
    ...limitedYaml('costly', {
      descriptors: [descriptor({ costly: '"all"' }, { cost: 'int(request.headers["x-cost"])' })],
    }),
    ...limitedYaml('pairs', { descriptors: [descriptor({ path: 'request.path', caller: CALLER })] }),
    ...limitedYaml('open', { failureMode: 'FailOpen' }),
    routeYaml('chat', '/v1', 'models'),
    policyYaml(
      'chat',
      'HTTPRoute',
      'chat',
      limitsOf({ descriptors: [descriptor({ tokens: CALLER }, { unit: 'Tokens' })] }),
    ),
  )
  await eventually('the service counts', async () => (await ask(front, '/callers', 'early')).status === 200)

  const answers = await answersOf(front, '/callers', ['ann', 'ann', 'ann', 'ann', 'bob'])
  transcript.check('3 requests of each caller', statusesOf(answers), [200, 200, 200, 429, 200])
  const limits = answers.map(({ headers }) => [headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')])
  transcript.check('its numbers are in the headers', limits.slice(0, 4), [
    ['3', '2'],
    ['3', '1'],
    ['3', '0'],
    ['3', '0'],
  ])
  const reset = Number(answers[0]!.headers.get('x-ratelimit-reset'))
  transcript.check('the window ends today', reset >= 0 && reset <= 86_400, true)
  const free = await answersOf(
    front,
    '/callers',
    Array.from({ length: 5 }, () => 'unlimited'),
  )
  transcript.check('a caller without a limit', statusesOf(free), [200, 200, 200, 200, 200])
  transcript.check('a caller without a limit: no header', free[0]!.headers.has('x-ratelimit-limit'), false)

  const costs = ['4', '6', '0', '1']
  const costly = await inTurn(costs, (cost) => ask(front, '/costly', 'ann', { 'x-cost': cost }))
  transcript.check('costs of 4, 6, 0 and 1 of 10', statusesOf(costly), [200, 200, 200, 429])

  const paths = ['/pairs/slow', '/pairs/slow', '/pairs/fast', '/pairs/fast']
  const pairs = await inTurn(paths, (path) => ask(front, path, 'ann'))
  transcript.check('descriptors of two entries', statusesOf(pairs), [200, 429, 200, 200])
  transcript.check('together', statusesOf(await inTurn(['/pairs/slow'], (path) => ask(front, path, 'bob'))), [200])

  transcript.check(`${TOTAL_TOKENS} tokens of 10 each`, await chats(front, 3), [200, 200, 429])

  await counts[Symbol.asyncDispose]()
  const closed = await ask(front, '/callers', 'eve')
  transcript.check('without Redis the service fails, and the request', [closed.status, await closed.text()], FAILED)
  transcript.check('unless it fails open', (await ask(front, '/open', 'eve')).status, 200)
  await service[Symbol.asyncDispose]()
  const gone = await ask(front, '/callers', 'eve')
  transcript.check('without the service', [gone.status, await gone.text()], FAILED)
  transcript.check('without the service, fail open', (await ask(front, '/open', 'eve')).status, 200)
}

const FAILED = [500, 'rate limit failed']
const CALLER = 'request.headers["x-caller"]'

function descriptor(entries: Readonly<Record<string, string>>, more: object = {}): object {
  return { entries: Object.entries(entries).map(([name, expression]) => ({ name, expression })), ...more }
}

function limitsOf(more: object): object {
  const descriptors = [descriptor({ caller: CALLER })]
  return {
    traffic: { rateLimit: { global: { backendRef: proxyBackend('limits'), domain: 'shop', descriptors, ...more } } },
  }
}

function limitedYaml(name: string, more: object): string[] {
  return [routeYaml(name, `/${name}`, 'echo'), policyYaml(name, 'HTTPRoute', name, limitsOf(more))]
}

function modelYaml(port: number): string {
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: models }
spec:
  ai: { provider: { providerOne: {}, host: 127.0.0.1, port: ${port} } }
`
}

async function startService(program: string, redisPort: number, stops: AsyncDisposableStack) {
  const folder = await createObjectsFolder({ 'limits.yaml': LIMITS })
  stops.defer(folder.remove)
  const port = await freePort()
  const service = stops.use(
    startServer(program, {
      environment: {
        USE_STATSD: 'false',
        BACKEND_TYPE: 'redis',
        REDIS_SOCKET_TYPE: 'tcp',
        REDIS_URL: `127.0.0.1:${redisPort}`,
        RUNTIME_ROOT: folder.path,
        RUNTIME_APPDIRECTORY: '.',
        RUNTIME_WATCH_ROOT: 'false',
        GRPC_HOST: '127.0.0.1',
        GRPC_PORT: `${port}`,
        HOST: '127.0.0.1',
        PORT: `${await freePort()}`,
        DEBUG_HOST: '127.0.0.1',
        DEBUG_PORT: `${await freePort()}`,
        LOG_LEVEL: 'ERROR',
      },
    }),
  )
  return { port, service }
}

/** A provider whose every completion has the same number of tokens. */
async function startModel(stops: AsyncDisposableStack): Promise<number> {
  const server = createServer((incoming, response) => {
    incoming.resume()
    const usage = { prompt_tokens: TOTAL_TOKENS - 1, completion_tokens: 1, total_tokens: TOTAL_TOKENS }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }]
    response.setHeader('content-type', 'application/json')
    incoming.on('end', () => response.end(JSON.stringify({ id: 'c', model: 'm', choices, usage })))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => void server.close())
  return (server.address() as AddressInfo).port
}

function ask(front: Front, path: string, caller: string, headers: Readonly<Record<string, string>> = {}) {
  return front.ask(path, { headers: { 'x-caller': caller, ...headers } })
}

async function inTurn<T>(items: readonly T[], one: (item: T) => Promise<Response>): Promise<Response[]> {
  const answers: Response[] = []
  for (const item of items) answers.push(await one(item))
  return answers
}

const answersOf = (front: Front, path: string, callers: readonly string[]) =>
  inTurn(callers, (caller) => ask(front, path, caller))

const statusesOf = (answers: readonly Response[]) => answers.map(({ status }) => status)

/** Statuses of chats in turn. The charge follows the response, so each waits for the one before. */
async function chats(front: Front, count: number): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < count; i++) {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'yes?' }] })
    const headers = { 'x-caller': 'ann', 'content-type': 'application/json' }
    const response = await front.ask('/v1/chat/completions', { method: 'POST', body, headers })
    await response.text()
    statuses.push(response.status)
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  return statuses
}
