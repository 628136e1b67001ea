import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Accepted, RawClient, RawServer } from '#net/testing/raw-peers.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

// Providers that answer before they have read the request, and clients that wait for 100 (Continue) before they send it.

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number
/** Connections to the provider that answers early, and to the good one. */
const early: Accepted[] = []
const good: Accepted[] = []
/** What the provider that answers early was asked. */
const heads: string[] = []

const ANSWER = JSON.stringify({
  ...{ id: 'c', object: 'chat.completion', model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'good' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
})
const BUSY = '{"error":{"message":"busy","type":"rate_limit_error"}}'
const response = (status: string, body: string) =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`

/** What the first provider sends when it has the head of a request, by path. It reads the body later. */
const EARLY: Readonly<Record<string, { readonly text: string; readonly closes?: boolean }>> = {
  answers: { text: response('200 OK', ANSWER) },
  'answers-and-closes': { text: response('200 OK', ANSWER), closes: true },
  'is-busy': { text: response('429 Too Many Requests', BUSY) },
  'is-busy-and-closes': { text: response('429 Too Many Requests', BUSY), closes: true },
}

/** Calls `answer` with each head, before it reads the body. */
async function serve(peers: Accepted[], answer: (peer: Accepted, head: string) => void): Promise<number> {
  const server = await new RawServer((peer) => {
    peers.push(peer)
    let rest = ''
    let skipped = 0
    peer.socket.on('data', (bytes: Buffer) => {
      rest += bytes.toString('latin1')
      const part = Math.min(skipped, rest.length)
      skipped -= part
      rest = rest.slice(part)
      const end = rest.indexOf('\r\n\r\n') + 4
      if (end < 4) return
      const head = rest.slice(0, end)
      const length = Number(/content-length: *(\d+)/i.exec(head)![1])
      skipped = Math.max(0, length - (rest.length - end))
      rest = rest.slice(end + length)
      answer(peer, head)
    })
    peer.socket.on('end', () => peer.socket.end())
  }).start()
  stops.defer(() => server.close())
  return server.port
}

beforeAll(async () => {
  const first = await serve(early, (peer, head) => {
    peer.socket.pause()
    setTimeout(() => peer.socket.resume(), 50)
    heads.push(head)
    const { text, closes } = EARLY[/\/([\w-]+)(?:\/v1\/| )/.exec(head)![1]!]!
    peer.send(text)
    if (closes === true) peer.socket.end()
  })
  const second = await serve(good, (peer) => peer.send(response('200 OK', ANSWER)))
  port = await freePort()
  const groupsOf = (name: string) =>
    [first, second].map((at, i) => ({
      providers: [{ name: `p${i}`, providerOne: {}, host: '127.0.0.1', port: at, pathPrefix: `/${name}/v1` }],
    }))
  const objects = Object.keys(EARLY).flatMap((name) => {
    const backend = (of: string, ai: object) => ({
      ...{ apiVersion: 'gatewright.dev/v1alpha1', kind: 'ProxyBackend', metadata: { name: `${of}-${name}` } },
      spec: { ai: { groups: groupsOf(name) }, policies: { ai } },
    })
    return [
      `\n${JSON.stringify(backend('chat', { routes: { '*': 'Completions' } }))}\n`,
      `\n${JSON.stringify(backend('raw', { routes: { '*': 'Passthrough' } }))}\n`,
      routeYaml(`chat-${name}`, `/chat/${name}`, `chat-${name}`),
      routeYaml(`raw-${name}`, `/raw/${name}`, `raw-${name}`),
      routeYaml(`retried-${name}`, `/retried/${name}`, `chat-${name}`),
      policyYaml(`retried-${name}`, 'HTTPRoute', `retried-${name}`, {
        traffic: { retry: { attempts: 1, codes: [429] } },
      }),
    ]
  })
  const folder = await createObjectsFolder({ 'all.yaml': joinYaml(gatewayYaml(port), ...objects) })
  stops.defer(folder.remove)
  gateway = await startGateway({ files: [folder.path], workers: 1 })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

beforeEach(() => {
  heads.length = 0
})

/** Larger than what the kernel takes of a connection that is not read. */
const LARGE = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(1_900_000) }] })
const SMALL = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
const request = (path: string, length: number, more = '') =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${more}content-length: ${length}\r\n\r\n`

async function lastRecord(): Promise<{ status: number; attempts: { status: number }[]; code?: string }> {
  const answer = await fetch(`${gateway.url(15_000)}/decisions?limit=1`)
  return ((await answer.json()) as { status: number; attempts: { status: number }[] }[])[0]!
}

const ENDS = Object.keys(EARLY).map((name) => [name, name.startsWith('is-busy') ? 429 : 200] as const)

test.each(ENDS)('a provider that %s before the body has ended: the client gets its answer', async (name, status) => {
  const client = await RawClient.connect(port)
  for (const body of [SMALL, LARGE]) {
    client.text = ''
    client.send(request(`/chat/${name}`, body.length) + body)
    await client.until((text) => text.endsWith(status === 200 ? ANSWER : BUSY))
    expect(client.text.slice(9, 12)).toBe(String(status))
    expect((await lastRecord()).status).toBe(status)
  }
  client.close()
})

test.each(ENDS.filter(([, status]) => status === 429))(
  'a provider that %s before the body has ended: the next one answers',
  async (name) => {
    const client = await RawClient.connect(port)
    client.send(request(`/retried/${name}`, LARGE.length) + LARGE)
    await client.until((text) => text.endsWith(ANSWER))
    expect((await lastRecord()).attempts.map(({ status }) => status)).toEqual([429, 200])
    await eventually('the whole body', () => good.at(-1)!.text.includes('x'.repeat(1000)) || undefined)
    client.close()
  },
)

test.each(ENDS)('a provider that %s while the client still sends: the client gets its answer', async (name, status) => {
  const client = await RawClient.connect(port)
  client.send(request(`/raw/${name}`, 1_000_000) + 'x'.repeat(1000))
  await client.until((text) => text.endsWith(status === 200 ? ANSWER : BUSY))
  expect(client.text.slice(9, 12)).toBe(String(status))
  client.close()
  await eventually('the connection to the provider is closed', () => early.at(-1)!.ended || undefined)
})

test('a client that expects 100 gets it before its body, and one answer', async () => {
  const client = await RawClient.connect(port)
  client.send(request('/chat/answers', LARGE.length, 'expect: 100-continue\r\n'))
  await client.until((text) => text.includes('\r\n\r\n'))
  expect(client.text).toMatch(/^HTTP\/1\.1 100 [^\r]*\r\n\r\n$/)
  expect(heads).toEqual([])
  client.send(LARGE)
  await client.until((text) => text.endsWith(ANSWER))
  expect(client.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200'])
  expect(heads[0]!.toLowerCase()).not.toContain('expect:')
  client.close()
})

test('a client that expects 100 for a body that is too large gets 413 instead', async () => {
  const client = await RawClient.connect(port)
  client.send(request('/chat/answers', 3_000_000, 'expect: 100-continue\r\n'))
  await client.until((text) => text.endsWith('}'))
  expect(client.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413'])
  expect([heads, (await lastRecord()).code]).toEqual([[], 'body-too-large'])
  client.close()
})

test('a client that expects 100 and leaves without a body reaches no provider', async () => {
  const client = await RawClient.connect(port)
  client.send(request('/chat/answers', 1000, 'expect: 100-continue\r\n'))
  await client.until((text) => text.includes('\r\n\r\n'))
  client.close()
  await eventually(
    'the record',
    async () => (await lastRecord()).status === 0 || (await lastRecord()).status === 499 || undefined,
  )
  expect(heads).toEqual([])
})
