import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createGzip,
  createZstdCompress,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

// Tokens of compressed streams, relayed, translated and guarded: they count in the log, in metrics and costs, and against limits.

const CODERS = {
  gzip: [gzipSync, createGzip, constants.Z_SYNC_FLUSH],
  deflate: [deflateSync, createDeflate, constants.Z_SYNC_FLUSH],
  br: [brotliCompressSync, createBrotliCompress, constants.BROTLI_OPERATION_FLUSH],
  zstd: [zstdCompressSync, createZstdCompress, constants.ZSTD_e_flush],
} as const
type Coding = keyof typeof CODERS
const CODINGS = Object.keys(CODERS) as Coding[]

/** What a client asks for: the dialect of the provider, another one, or its own behind a guard. */
const USES = {
  relayed: ['Completions', '/v1/chat/completions'],
  'to-messages': ['Messages', '/v1/messages'],
  guarded: ['Completions', '/v1/chat/completions'],
} as const
type Use = keyof typeof USES
const NAMES = Object.keys(USES) as Use[]

/** What the provider does after the text: it reports usage and ends, only ends, or sends nothing more. */
type Then = 'usage' | 'no-usage' | 'silence'
const THEN: readonly Then[] = ['usage', 'no-usage', 'silence']

const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(20)
const USAGE = {
  ...{ prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
  prompt_tokens_details: { cached_tokens: 400 },
}
/** gpt-4o-mini: 0.15 dollars for a million tokens, 0.6 of output, 0.075 of cached input. */
const COST = 0.00018

const event = (more: object) => `data: ${JSON.stringify({ id: 'c', created: 1, model: 'gpt-4o-mini', ...more })}\n\n`
const textEvent = event({ choices: [{ index: 0, delta: { role: 'assistant', content: TEXT }, finish_reason: null }] })
const finishEvent = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
const usageEvent = event({ choices: [], usage: USAGE })

const stops = new AsyncDisposableStack()
afterAll(() => stops.disposeAsync())
let port: number
let gateway: TestGateway

beforeAll(async () => {
  const server = createServer((request, response) => {
    const [, coding, then] = request.url!.split('/') as ['', Coding, Then]
    const [whole, create, flush] = CODERS[coding]
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': coding })
    request.resume()
    if (then !== 'silence') {
      const usage = then === 'usage' ? usageEvent : ''
      return void response.end(whole(`${textEvent}${finishEvent}${usage}data: [DONE]\n\n`))
    }
    const coder = create()
    const pieces: Buffer[] = []
    coder.on('data', (bytes: Buffer) => pieces.push(bytes))
    coder.write(textEvent)
    // One write: what the client reads first has come with the text.
    coder.flush(flush, () => response.write(Buffer.concat(pieces)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port: at } = server.address() as AddressInfo
  port = await freePort()
  const guard = { promptGuard: { response: [{ regex: { matches: ['secret'] } }] } }
  const objects = NAMES.flatMap((use) =>
    CODINGS.flatMap((coding) =>
      THEN.flatMap((then) => {
        const name = `${use}-${coding}-${then}`
        const ai = { routes: { '*': USES[use][0] }, ...(use === 'guarded' && guard) }
        const backend = {
          ...{ apiVersion: 'gatewright.dev/v1alpha1', kind: 'ProxyBackend', metadata: { name } },
          spec: {
            ai: { provider: { providerOne: {}, host: '127.0.0.1', port: at, pathPrefix: `/${coding}/${then}` } },
            policies: { ai },
          },
        }
        const limit = { traffic: { rateLimit: { local: [{ unit: 'Hours', tokens: 100 }] } } }
        return [
          `\n${JSON.stringify(backend)}\n`,
          routeYaml(name, `/${name}`, name),
          policyYaml(name, 'HTTPRoute', name, limit),
        ]
      }),
    ),
  )
  const folder = await createObjectsFolder({ 'objects.yaml': joinYaml(gatewayYaml(port), ...objects) })
  stops.defer(folder.remove)
  const environment = { GATEWRIGHT_LOG_FORMAT: 'json' }
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1, environment }))
})

function ask(use: Use, name: string, signal?: AbortSignal): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/${name}${USES[use][1]}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: name, max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'hi' }] }),
    ...(signal && { signal }),
  })
}

/** The log line of the first request to the model of that name. */
const lineOf = (name: string) =>
  eventually(`the line of ${name}`, () => {
    const line = gateway.output.stdout.split('\n').find((one) => one.includes(`"gen_ai.request.model":"${name}"`))
    return line === undefined ? undefined : (JSON.parse(line) as Record<string, unknown>)
  })

/** The sum of a metric over its series with that text. */
async function metric(name: string, label = ''): Promise<number> {
  const text = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes(label))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

const TOKENS = 'gatewright_gen_ai_client_token_usage_sum'
const COSTS = 'gatewright_gen_ai_client_cost_usd_total'

/** Input tokens, output tokens and dollars. */
const counted = () => Promise.all([metric(TOKENS, '"input"'), metric(TOKENS, '"output"'), metric(COSTS)])

const CASES = NAMES.flatMap((use) => CODINGS.map((coding) => [use, coding] as const))

test.each(CASES)('%s stream in %s: the usage that the provider reports counts everywhere', async (use, coding) => {
  const name = `${use}-${coding}-usage`
  const before = await counted()
  const response = await ask(use, name)
  const text = await response.text()
  expect([response.status, text.includes(TEXT)]).toEqual([200, true])
  expect(await lineOf(name)).toMatchObject({
    'gen_ai.usage.input_tokens': 1000,
    'gen_ai.usage.output_tokens': 100,
    'gatewright.ai.usage.cost.total': COST,
  })
  const after = await eventually('the metrics have the request', async () => {
    const now = await counted()
    return now[2]! > before[2]! ? now : undefined
  })
  expect(after.map((value, at) => Math.round((value - before[at]!) * 1e9) / 1e9)).toEqual([1000, 100, COST])
  expect((await ask(use, name)).status).toBe(429)
})

test.each(CASES)('%s stream in %s without usage: an estimate counts against the limit', async (use, coding) => {
  const name = `${use}-${coding}-no-usage`
  const response = await ask(use, name)
  await response.text()
  expect(response.status).toBe(200)
  const { 'gen_ai.usage.output_tokens': output } = await lineOf(name)
  expect(output).toBeGreaterThan(150)
  expect(output).toBeLessThan(400)
  expect((await ask(use, name)).status).toBe(429)
})

test.each(CASES)('%s stream in %s that the client leaves: what has arrived counts', async (use, coding) => {
  const name = `${use}-${coding}-silence`
  const left = new AbortController()
  const response = await ask(use, name, left.signal)
  await response.body!.getReader().read()
  left.abort()
  const { 'gen_ai.usage.output_tokens': output } = await lineOf(name)
  expect(output).toBeGreaterThan(100)
  expect((await ask(use, name)).status).toBe(429)
})
