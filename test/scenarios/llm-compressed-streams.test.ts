import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  constants,
  createBrotliCompress,
  createDeflate,
  createDeflateRaw,
  createGzip,
  createZstdCompress,
} from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

// Providers that compress their streams although nobody asked for it: clients get each event when it arrives.

const chunk = (content: string) =>
  `data: ${JSON.stringify({
    ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
    choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }],
  })}\n\n`

const CODERS = {
  gzip: () => createGzip(),
  deflate: () => createDeflate(),
  raw: () => createDeflateRaw(),
  br: () => createBrotliCompress(),
  zstd: () => createZstdCompress(),
} as const
type Coding = keyof typeof CODERS
const CODINGS = Object.keys(CODERS) as Coding[]

const stops = new AsyncDisposableStack()
afterAll(() => stops.disposeAsync())
let port: number
/** Responses of the provider that are open. */
const open = new Set<ServerResponse>()

/** What the last part of the path asks for: two events and nothing more, two events and the end, or damaged bytes. */
type Then = 'silence' | 'cut' | 'damage-first'
const THEN: readonly Then[] = ['silence', 'cut', 'damage-first']
const DAMAGE = Buffer.alloc(64, 0xff)

beforeAll(async () => {
  const server = createServer((request, response) => {
    const [, coding, then] = request.url!.split('/') as ['', Coding, Then]
    open.add(response)
    response.on('close', () => open.delete(response))
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'content-encoding': coding === 'raw' ? 'deflate' : coding,
    })
    request.resume()
    if (then === 'damage-first') return void response.write(DAMAGE)
    const coder = CODERS[coding]()
    coder.on('data', (bytes: Buffer) => response.write(bytes))
    coder.write(chunk('one '))
    const kind =
      coding === 'br'
        ? constants.BROTLI_OPERATION_FLUSH
        : coding === 'zstd'
          ? constants.ZSTD_e_flush
          : constants.Z_SYNC_FLUSH
    coder.flush(kind, () => {
      coder.write(chunk('two '))
      coder.flush(kind, () => {
        if (then === 'cut') response.end()
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port: at } = server.address() as AddressInfo
  port = await freePort()
  const guard = { response: [{ regex: { matches: ['secret'] } }] }
  const objects = CODINGS.flatMap((coding) =>
    THEN.flatMap((then) =>
      ['translated', 'guarded'].flatMap((use) => {
        const name = `${use}-${coding}-${then}`
        const ai =
          use === 'guarded' ? { routes: { '*': 'Completions' }, promptGuard: guard } : { routes: { '*': 'Messages' } }
        const backend = {
          ...{ apiVersion: 'gatewright.dev/v1alpha1', kind: 'ProxyBackend', metadata: { name } },
          spec: {
            ai: { provider: { providerOne: {}, host: '127.0.0.1', port: at, pathPrefix: `/${coding}/${then}` } },
            policies: { ai },
          },
        }
        return [`\n${JSON.stringify(backend)}\n`, routeYaml(name, `/${name}`, name)]
      }),
    ),
  )
  const folder = await createObjectsFolder({ 'objects.yaml': joinYaml(gatewayYaml(port), ...objects) })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

const PATHS = { translated: '/v1/messages', guarded: '/v1/chat/completions' } as const
type Use = keyof typeof PATHS

async function ask(
  use: Use,
  coding: Coding,
  then: Then,
): Promise<{ status: number; text: () => string; leave: () => void }> {
  const left = new AbortController()
  const response = await fetch(`http://127.0.0.1:${port}/${use}-${coding}-${then}${PATHS[use]}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'hi' }] }),
    signal: left.signal,
  })
  let text = ''
  const read = async () => {
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) text += piece
    text += '<end>'
  }
  read().catch(() => {
    text += '<broken>'
  })
  return { status: response.status, text: () => text, leave: () => left.abort() }
}

const CASES = CODINGS.flatMap((coding) => (['translated', 'guarded'] as const).map((use) => [use, coding] as const))

test.each(CASES)('%s stream in %s that goes silent: its events have arrived', async (use, coding) => {
  const { status, text, leave } = await ask(use, coding, 'silence')
  await eventually('both events', () => (text().includes('one') && text().includes('two')) || undefined)
  expect([status, text().includes('<')]).toEqual([200, false])
  leave()
  await eventually('the provider is told that the client has disconnected', () => open.size === 0 || undefined)
})

/** How a stream ends for the client, when that of the provider fails after events. */
const BROKEN = {
  translated: /event: error\ndata: \{"type":"error".*<end>$/s,
  guarded: /data: \{"error":.*<end>$|<broken>$/s,
} as const

test.each(CASES)('%s stream in %s that is damaged: its events arrive, then an error', async (use, coding) => {
  const { text } = await ask(use, coding, 'silence')
  await eventually('both events', () => text().includes('two') || undefined)
  for (const response of open) response.write(DAMAGE)
  await eventually('the end', () => BROKEN[use].test(text()) || undefined)
  expect(text()).toMatch(/one.*two/s)
  await eventually('the rest of the response is not read', () => open.size === 0 || undefined)
})

test.each(CASES)('%s stream in %s that is cut off: its events arrive, then an error', async (use, coding) => {
  const { text } = await ask(use, coding, 'cut')
  await eventually('the end', () => BROKEN[use].test(text()) || undefined)
  expect(text()).toMatch(/one.*two/s)
})

test.each(CASES)('%s stream in %s that is damaged from the start is refused', async (use, coding) => {
  const { status, text } = await ask(use, coding, 'damage-first')
  await eventually('the end', () => text().endsWith('<end>') || undefined)
  expect([status, text()]).toEqual([502, expect.stringContaining('"error"')])
})
