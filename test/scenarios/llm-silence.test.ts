import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

// A provider that thinks for minutes behind load balancers that close silent connections.

const COMMENT = ': \n\n'
const SSE = 'text/event-stream'

const chunk = (delta: object) =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`
const TEXT = chunk({ content: 'hello ' })

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
let gateway: TestGateway
let port: number
/** The head of the next response of the provider, and how it goes on. */
let head: Readonly<Record<string, string>> = {}
let provider: ServerResponse | undefined

beforeAll(async () => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, head)
      response.flushHeaders()
      provider = response
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
    server.closeAllConnections()
    return closed
  })
  const at = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  const routes = {
    '/completions': 'Completions',
    '/messages': 'Messages',
    '/responses': 'Responses',
    '/detected': 'Detect',
    '/passed': 'Passthrough',
  }
  const backend = (name: string, count: number, ai: object, http = {}) => {
    const groups = Array.from({ length: count }, (_, i) => ({ providers: [{ name: `p${i}`, providerOne: {}, ...at }] }))
    return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({ ai: { groups }, policies: { ai: { routes, ...ai }, ...http } })}
`
  }
  const guard = { response: [{ regex: { matches: ['secret'] } }] }
  port = await freePort()
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backend('plain', 1, {}),
      routeYaml('plain', '/plain', 'plain'),
      backend('guarded', 1, { promptGuard: guard }),
      routeYaml('guarded', '/guarded', 'guarded'),
      backend('retried', 2, {}, { http: { requestTimeout: '60s' } }),
      routeYaml('retried', '/retried', 'retried'),
      policyYaml('retried', 'HTTPRoute', 'retried', { traffic: { retry: { attempts: 1 } } }),
    ),
  })
  stops.defer(objects.remove)
  gateway = await startGateway({ files: [objects.path], workers: 1 })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

/** Lets a time pass. The worker counts turns in real time: many skips at once would look like a worker that is blocked. */
async function pass(ms: number): Promise<void> {
  time.skip(ms)
  await sleep(50)
}

/** Sends a request, and collects what the client gets of the response. */
async function ask(path: string, type = SSE, coding?: string) {
  head = { 'content-type': type, ...(coding && { 'content-encoding': coding }) }
  provider = undefined
  const body = JSON.stringify({ model: 'm', stream: true, max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] })
  const leaving = new AbortController()
  const { signal } = leaving
  const got = { text: '', hasHead: false, leave: () => leaving.abort(), ended: Promise.resolve() }
  const read = async () => {
    const headers = { 'accept-encoding': 'identity' }
    const response = await fetch(`${gateway.url(port)}${path}`, { method: 'POST', body, headers, signal })
    got.hasHead = true
    for await (const piece of response.body!) got.text += Buffer.from(piece).toString('latin1')
  }
  got.ended = read().catch(() => {})
  await eventually('the provider is asked', () => provider)
  return got
}

const lasted = (got: { text: string }, end: string) =>
  eventually('the client has it', () => got.text.endsWith(end) || undefined)

test.each(['/plain/completions', '/plain/messages', '/plain/responses', '/guarded/completions', '/guarded/messages'])(
  '%s: a comment for each 15 s of silence',
  async (path) => {
    const got = await ask(path)
    provider!.write(TEXT)
    await eventually('the text', () => got.text.includes('hello') || undefined)
    const before = got.text
    expect(before).not.toContain(COMMENT)
    for (const count of [1, 2]) {
      await pass(15_200)
      await eventually('a comment', () => got.text === before + COMMENT.repeat(count) || undefined)
    }
    provider!.write(TEXT.replace('hello', 'again'))
    await eventually('the next text', () => got.text.includes('again') || undefined)
    expect(got.text.split(COMMENT)).toHaveLength(3)
    got.leave()
  },
)

test('no comment breaks an event', async () => {
  const got = await ask('/plain/completions')
  provider!.write(TEXT + TEXT.slice(0, 20))
  await lasted(got, TEXT)
  await pass(15_200)
  await lasted(got, TEXT + COMMENT)
  provider!.write(TEXT.slice(20))
  await lasted(got, TEXT + COMMENT + TEXT)
  got.leave()
})

test.each([
  ['/plain/detected', SSE, undefined],
  ['/plain/passed', SSE, undefined],
  ['/plain/detected', 'application/vnd.amazon.eventstream', undefined],
  ['/plain/passed', 'application/vnd.amazon.eventstream', undefined],
  ['/plain/completions', SSE, 'gzip'],
])('%s, %s, %s: not a byte is added', async (path, type, coding) => {
  const got = await ask(path, type, coding)
  provider!.write(coding === undefined ? TEXT : gzipSync(TEXT))
  await lasted(got, TEXT)
  await pass(15_200)
  await pass(15_200)
  provider!.end()
  await got.ended
  expect(got.text).toBe(TEXT)
})

test('while an attempt can be replaced nothing is written', async () => {
  const got = await ask('/retried/completions')
  await pass(15_200)
  await pass(15_200)
  provider!.write(TEXT)
  await lasted(got, TEXT)
  expect(got.text).toBe(TEXT)
  await pass(15_200)
  await lasted(got, TEXT + COMMENT)
  got.leave()
})

test('a stream that was held for its first content has comments while it does not come', async () => {
  const got = await ask('/guarded/completions')
  for (let looks = 0; looks < 40 && !got.hasHead; looks++) await pass(5500)
  expect(got.hasHead).toBe(true)
  for (const count of [1, 2]) {
    await pass(15_200)
    await eventually('a comment', () => got.text === COMMENT.repeat(count) || undefined)
  }
  provider!.write(TEXT)
  await lasted(got, COMMENT.repeat(2) + TEXT)
  got.leave()
})
