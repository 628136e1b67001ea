import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml } from '#test/support/objects-folder.ts'
import { verifies } from '#test/support/verifies.ts'

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number

interface Asked {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: tests read JSON
  readonly body: any
}

/** What the provider answers, and what it got. */
let answer: (asked: Asked, response: ServerResponse) => void
const sent: Asked[] = []
/** What the guard server answers, and what it was asked. */
let verdict: (asked: Asked, response: ServerResponse) => void
const judged: Asked[] = []

async function startServer(asked: Asked[], respond: (asked: Asked, response: ServerResponse) => void): Promise<number> {
  const server = createServer((incoming: IncomingMessage, response) => {
    let text = ''
    incoming.on('data', (piece) => {
      text += piece
    })
    incoming.on('end', () => {
      const one = {
        path: incoming.url ?? '',
        headers: incoming.headers,
        body: text === '' ? undefined : JSON.parse(text),
      }
      asked.push(one)
      respond(one, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => new Promise((resolve) => void server.close(() => resolve())))
  stops.defer(async () => server.closeAllConnections())
  return (server.address() as AddressInfo).port
}

const json = (response: ServerResponse, value: unknown, status = 200) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

const says = (content: string) => (_: Asked, response: ServerResponse) =>
  json(response, {
    id: 'c',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  })

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

/** A stream of these texts, one event each. */
const streams =
  (...texts: readonly string[]) =>
  (_: Asked, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chunk({ role: 'assistant', content: '' }))
    for (const content of texts) response.write(chunk({ content }))
    response.write(chunk({}, 'stop'))
    response.end('data: [DONE]\n\n')
  }

const GUARDS: Readonly<Record<string, object>> = {
  masks: {
    request: [{ regex: { builtins: ['Email'], matches: ['secret-\\d+'] } }],
    response: [{ regex: { action: 'Reject', builtins: ['Email'] } }],
  },
  rejects: {
    request: [{ regex: { action: 'Reject', matches: ['forbidden'] }, response: { message: 'No.', statusCode: 422 } }],
  },
  asks: {
    request: [
      {
        webhook: {
          backendRef: { name: 'judge', port: 80 },
          forwardHeaderMatches: [
            { name: 'X-Team', value: 'red' },
            { name: 'Authorization', type: 'RegularExpression', value: '.*' },
          ],
        },
      },
    ],
    response: [{ webhook: { backendRef: { name: 'judge', port: 80 } } }],
  },
}

beforeAll(async () => {
  const provider = await startServer(sent, (asked, response) => answer(asked, response))
  const judge = await startServer(judged, (asked, response) => verdict(asked, response))
  port = await freePort()
  const backends = Object.entries(GUARDS).map(([name, promptGuard]) =>
    JSON.stringify({
      apiVersion: 'gatewright.dev/v1alpha1',
      kind: 'ProxyBackend',
      metadata: { name },
      spec: {
        ai: { provider: { providerOne: {}, host: '127.0.0.1', port: provider } },
        policies: {
          auth: { key: 'sk-gateway' },
          ai: { promptGuard, routes: { '/messages': 'Messages', '/responses': 'Responses', '*': 'Completions' } },
        },
      },
    }),
  )
  const judgeService = [
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'judge' }, spec: { ports: [{ port: 80 }] } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'judge', labels: { 'kubernetes.io/service-name': 'judge' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['127.0.0.1'] }],
      ports: [{ port: judge }],
    },
  ].map((object) => JSON.stringify(object))
  const rules = Object.keys(GUARDS).map((name) => ({
    matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }],
    backendRefs: [{ group: 'gatewright.dev', kind: 'ProxyBackend', name }],
  }))
  const route = JSON.stringify({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'guarded' },
    spec: { parentRefs: [{ name: 'main' }], rules },
  })
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(port), ...[...backends, ...judgeService, route].map((object) => `\n${object}\n`)),
  })
  stops.defer(objects.remove)
  gateway = await startGateway({ files: [objects.path], workers: 1 })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

beforeEach(() => {
  sent.length = 0
  judged.length = 0
  answer = says('fine')
  verdict = (_, response) => json(response, { action: {} })
})

const ask = (name: string, body: object, path = 'chat/completions', headers = {}): Promise<Response> =>
  fetch(`${gateway.url(port)}/${name}/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'm', ...body }),
  })

const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })

/** The text of a stream of chat chunks, and its events. */
async function readStream(response: Response) {
  const events = (await response.text())
    .split('\n\n')
    .flatMap((event) => (event === '' ? [] : [event.replace('data: ', '')]))
  const texts = events.flatMap((event) =>
    event.startsWith('{') ? [JSON.parse(event).choices?.[0]?.delta.content ?? ''] : [],
  )
  return { events, text: texts.join('') }
}

verifies('backend.ai.promptGuard.regex/response-masked', 'masks a request, and the answer', async () => {
  answer = says('write to b@example.org')
  const response = await ask(
    'masks',
    user([
      { type: 'text', text: 'a@example.org has secret-1' },
      { type: 'text', text: 'and secret-12' },
    ]),
  )
  expect(sent[0]?.body.messages[0].content).toEqual([
    { type: 'text', text: '<EMAIL_ADDRESS> has <masked>' },
    { type: 'text', text: 'and <masked>' },
  ])
  const { choices } = JSON.parse(await response.text())
  expect(choices[0].message.content).toBe('write to <EMAIL_ADDRESS>')
})

test('masks an address that is split over the events of a stream', async () => {
  answer = streams('Write to a', '@exam', 'ple.org now', ' please')
  const { text, events } = await readStream(await ask('masks', { ...user('hi'), stream: true }))
  expect(text).toBe('Write to <EMAIL_ADDRESS> now please')
  expect(events.at(-1)).toBe('[DONE]')
})

test('rejects with the configured answer, and sends nothing to the provider', async () => {
  const response = await ask('rejects', user('this is forbidden'))
  expect([response.status, await response.text()]).toEqual([422, 'No.'])
  expect(sent).toEqual([])
})

test('asks a guard server about both directions', async () => {
  const response = await ask('asks', user('hello'), 'chat/completions', { 'x-team': 'red', 'x-other': 'red' })
  expect(response.status).toBe(200)
  expect(judged.map(({ path, body }) => [path, body])).toEqual([
    ['/request', { body: { messages: [{ role: 'user', content: 'hello' }] } }],
    ['/response', { body: { choices: [{ message: { role: 'assistant', content: 'fine' } }] } }],
  ])
  expect(judged[0]?.headers['x-team']).toBe('red')
  expect(judged[0]?.headers['x-other']).toBeUndefined()
})

test('a guard server never gets the credential of the provider', async () => {
  for (const [headers, expected] of [
    [{ authorization: 'Bearer sk-client' }, 'Bearer sk-client'],
    [{}, undefined],
  ] as const) {
    judged.length = 0
    sent.length = 0
    await (await ask('asks', user('hello'), 'chat/completions', headers)).text()
    expect([sent[0]?.headers.authorization, judged[0]?.headers.authorization]).toEqual(['Bearer sk-gateway', expected])
  }
})

test('a guard server masks, rejects, or fails', async () => {
  verdict = ({ path }, response) =>
    json(
      response,
      path === '/request' ? { action: { body: { messages: [{ role: 'user', content: 'h***o' }] } } } : { action: {} },
    )
  await ask('asks', user('hello'))
  expect(sent[0]?.body.messages[0].content).toBe('h***o')

  verdict = (_, response) => json(response, { action: { body: 'not here', status_code: 451 } })
  const rejected = await ask('asks', user('hello'))
  expect([rejected.status, await rejected.text()]).toEqual([451, 'not here'])

  verdict = (_, response) => json(response, {}, 500)
  const failed = await ask('asks', user('hello'))
  expect(failed.status).toBe(503)
  expect(JSON.parse(await failed.text()).error.message).toBe('prompt guard failed')
  expect(sent).toHaveLength(1)
})

test('a stream is released window by window', async () => {
  answer = streams('one ', 'two ', 'three')
  verdict = (_, response) => json(response, { action: {} })
  const { text } = await readStream(await ask('asks', { ...user('hi'), stream: true }))
  expect(text).toBe('one two three')
  expect(judged[1]?.body).toEqual({ body: { choices: [{ message: { role: 'assistant', content: 'one two three' } }] } })
})

test('a stream is masked by its guard server, window by window, and keeps its events', async () => {
  // The first one is split over two events.
  const texts = ['my sec', 'ret-0 ', ...Array.from({ length: 400 }, (_, index) => `and ${index}, or secret-${index} `)]
  answer = streams(...texts)
  verdict = ({ path, body }, response) => {
    const { choices } = (body as { body: { choices?: { message: { role: string; content: string } }[] } }).body
    if (path === '/request' || choices === undefined) return json(response, { action: {} })
    const [{ message }] = choices as [(typeof choices)[0]]
    const content = message.content.replaceAll(/secret-\d+/g, '***')
    json(response, { action: { body: { choices: [{ message: { ...message, content } }] } } })
  }
  const { text, events } = await readStream(await ask('asks', { ...user('hi'), stream: true }))
  expect(text).toBe(texts.join('').replaceAll(/secret-\d+/g, '***'))
  expect([events.filter((event) => event.includes('"delta"')).length >= texts.length, events.at(-1)]).toEqual([
    true,
    '[DONE]',
  ])
  const shown = judged.filter(({ path }) => path === '/response').map(({ body }) => JSON.stringify(body))
  expect(shown.length).toBeGreaterThan(5)
  // What has left is shown as the client got it.
  for (const each of shown.slice(1)) expect(each).toMatch(/content":"[^"]{0,256}\*\*\*/)
})

test('a long stream that arrives at once waits for its guard, and passes whole', async () => {
  const texts = Array.from({ length: 600 }, (_, index) => `${index}: a text of the model, of some length. `)
  answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${texts.map((content) => chunk({ content })).join('')}data: [DONE]\n\n`)
  }
  // Meanwhile everything arrives.
  verdict = (_, response) => {
    setTimeout(() => json(response, { action: {} }), judged.length === 2 ? 300 : 0)
  }
  const { text, events } = await readStream(await ask('asks', { ...user('hi'), stream: true }))
  expect([text.length, events.at(-1)]).toEqual([texts.join('').length, '[DONE]'])
  expect(text).toBe(texts.join(''))
})

test('a stream that is rejected before its first content is a plain answer', async () => {
  answer = streams('bad ', 'words')
  verdict = ({ path }, response) =>
    json(response, { action: path === '/response' ? { body: 'no such words', status_code: 403 } : {} })
  const response = await ask('asks', { ...user('hi'), stream: true })
  expect([response.status, await response.text()]).toEqual([403, 'no such words'])
})

test('a stream that is rejected after its first content ends with an error event', async () => {
  const good = 'good '.repeat(300)
  answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chunk({ content: good }))
    setTimeout(() => response.write(chunk({ content: 'bad words' })), 50)
  }
  verdict = ({ body }, response) => {
    const isBad = JSON.stringify(body).includes('bad words')
    json(response, { action: isBad ? { body: 'no such words', status_code: 403 } : {} })
  }
  const { text, events } = await readStream(await ask('asks', { ...user('hi'), stream: true }))
  expect(text).toBe(good)
  expect(JSON.parse(events.at(-1)!).error).toMatchObject({ code: 'guardrail_intervention', message: 'no such words' })
})
