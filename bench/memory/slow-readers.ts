import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '#test/support/free-port.ts'
import { startGatewayProcess } from '#test/support/gateway-process.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { residentMb } from '../process-cost.ts'

/**
 * Clients that ask for a stream and never read, relayed, translated and guarded: what their provider could send before it had to wait, what the
 * gateway holds for each, and what another request notices. In a network of its own, whose buffers hold at most 64 KiB a direction, because those of a
 * machine hold up to 32 MiB. Exits with 1 if a stream takes more than `MOST_KB`, or another request longer than `MOST_MS`.
 *
 * Arguments: streams (1000).
 */

const STREAMS = Number(process.argv[2] ?? 1000)
/** Of the gateway, for each stream. */
const MOST_KB = 400
/** Of another request, until it has its first bytes. */
const MOST_MS = 50
const INSIDE = 'GATEWRIGHT_BENCH_NETWORK'
const BUFFERS = '4096 16384 65536'
const USES = {
  relayed: ['Completions', '/v1/chat/completions'],
  translated: ['Messages', '/v1/messages'],
  guarded: ['Completions', '/v1/chat/completions'],
} as const
type Use = keyof typeof USES
const NAMES = Object.keys(USES) as Use[]

/** Twenty events of a chat completion. */
const EVENTS = `data: ${JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'm',
  choices: [{ index: 0, delta: { content: 'some words '.repeat(100) }, logprobs: null, finish_reason: null }],
})}\n\n`.repeat(20)
/** A provider that is not made to wait sends no more. */
const MAX_SENT = 4 * 1024 * 1024
/** A second without a byte: the streams stand still. */
const STILL_MS = 1000
const PATIENCE_MS = 120_000
const SETTLE_MS = 3000

/** What each open response of the provider has sent. */
const sent = new Map<ServerResponse, number>()

function provider(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  sent.set(response, 0)
  response.on('close', () => sent.delete(response))
  const send = () => {
    while (sent.has(response) && !response.writableNeedDrain && sent.get(response)! < MAX_SENT) {
      sent.set(response, sent.get(response)! + EVENTS.length)
      response.write(EVENTS)
    }
  }
  response.on('drain', send)
  send()
}

const total = () => [...sent.values()].reduce((sum, bytes) => sum + bytes, 0)

async function untilStill(streams: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  for (let before = -1; sent.size !== streams || total() !== before; await sleep(STILL_MS)) {
    if (performance.now() > deadline) throw new Error(`${sent.size} of ${streams} streams, and they do not stand still`)
    before = sent.size === streams ? total() : -1
  }
}

function objectsOf(at: object): string[] {
  const guard = { promptGuard: { response: [{ regex: { matches: ['secret'] } }] } }
  return NAMES.flatMap((name) => {
    const ai = { routes: { '*': USES[name][0] }, ...(name === 'guarded' && guard) }
    const spec = { ai: { provider: { providerOne: {}, ...at } }, policies: { ai } }
    const backend = { apiVersion: 'gatewright.dev/v1alpha1', kind: 'ProxyBackend', metadata: { name }, spec }
    return [`\n${JSON.stringify(backend)}\n`, routeYaml(name, `/${name}`, name)]
  })
}

/** Asks for a stream. @returns a socket of which nothing is read */
async function open(port: number, use: Use): Promise<Socket> {
  const body = JSON.stringify({ model: 'm', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'hi' }] })
  const socket = connect(port, '127.0.0.1')
    .pause()
    .on('error', () => {})
  await once(socket, 'connect')
  const head = [`POST /${use}${USES[use][1]} HTTP/1.1`, 'host: a', 'content-type: application/json']
  socket.write(`${head.join('\r\n')}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  return socket
}

/** @returns milliseconds */
async function timeOfAnother(port: number, use: Use): Promise<number> {
  const before = performance.now()
  const socket = await open(port, use)
  await once(socket.resume(), 'data')
  const took = performance.now() - before
  socket.destroy()
  return took
}

async function measure(): Promise<number> {
  await using stops = new AsyncDisposableStack()
  const server = createServer((request, response) => {
    request.resume()
    provider(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => new Promise((resolve) => void server.close(() => resolve())))
  stops.defer(async () => server.closeAllConnections())
  const { port: served } = server.address() as AddressInfo
  const port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(port), ...objectsOf({ host: '127.0.0.1', port: served })),
  })
  stops.defer(folder.remove)
  let status = 0
  for (const use of NAMES) {
    await using gateway = await startGatewayProcess({ files: [folder.path], workers: 1 })
    const memory = () => residentMb(gateway.process.pid!)
    await timeOfAnother(port, use)
    await untilStill(0)
    await sleep(SETTLE_MS)
    const before = memory()
    const sockets: Socket[] = []
    for (let n = 0; n < STREAMS; n++) sockets.push(await open(port, use))
    await untilStill(STREAMS)
    const keptKb = ((memory() - before) * 1024) / STREAMS
    const [most, mean] = [Math.max(...sent.values()), total() / STREAMS].map((bytes) => (bytes / 1024).toFixed(0))
    const times: number[] = []
    for (let n = 0; n < 20; n++) times.push(await timeOfAnother(port, use))
    for (const socket of sockets) socket.destroy()
    await untilStill(0)
    const slowest = Math.max(...times)
    console.log(
      `${STREAMS} ${use} streams: the provider sent ${mean} KB for each (at most ${most}); the gateway holds ${keptKb.toFixed(0)} KB for each (bar ${MOST_KB}); ` +
        `another request waits ${Math.min(...times).toFixed(1)} to ${slowest.toFixed(1)} ms (bar ${MOST_MS}); all requests to the provider ended with their clients`,
    )
    if (keptKb > MOST_KB || slowest > MOST_MS) status = 1
  }
  return status
}

/** Runs this program in a network of its own. */
function runInside(): number {
  const set = ['rmem', 'wmem'].map((name) => `echo '${BUFFERS}' > /proc/sys/net/ipv4/tcp_${name}`)
  const command = ['ip link set lo up', ...set, 'exec "$@"'].join(' && ')
  const program = [process.execPath, fileURLToPath(import.meta.url), String(STREAMS)]
  const words = ['--map-root-user', '--net', '--', 'sh', '-c', command, 'sh', ...program]
  const { status } = spawnSync('unshare', words, { stdio: 'inherit', env: { ...process.env, [INSIDE]: 'yes' } })
  return status ?? 2
}

process.exit(process.env[INSIDE] === undefined ? runInside() : await measure())
