import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { startCollector } from '#test/support/collector.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import {
  backendRef,
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

const KEY = 'sk-key-of-the-gateway-0123456789'
const error = { type: KEY, code: KEY, message: `no such key: ${KEY}`, param: KEY }
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const choice = { index: 0, message: { role: 'assistant', content: KEY }, finish_reason: KEY }
const chunk = { id: KEY, model: KEY, choices: [{ index: 0, delta: { content: KEY }, finish_reason: null }] }

/** What the server answers, by the end of the path, with the credential in every place. */
const ANSWERS: Readonly<Record<string, readonly [status: number, type: string, body: string]>> = {
  answer: [
    200,
    'application/json',
    JSON.stringify({ id: KEY, model: KEY, service_tier: KEY, choices: [choice], usage }),
  ],
  refusal: [401, 'application/json', JSON.stringify({ error })],
  page: [500, 'text/html', `<p>${KEY}</p>`],
  stream: [200, 'text/event-stream', `data: ${JSON.stringify(chunk)}\n\ndata: ${JSON.stringify({ error })}\n\n`],
  'empty-stream': [200, 'text/event-stream', `data: ${JSON.stringify({ error })}\n\n`],
  junk: [200, 'application/json', KEY],
}

test('no output for operators has a credential of the gateway that a backend quotes', async () => {
  await using stops = new AsyncDisposableStack()
  const collector = stops.use(await startCollector())
  const sent = new Set<string | undefined>()
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      sent.add(request.headers.authorization ?? String(request.headers['x-api-key']))
      const [status, type, body] = ANSWERS[String(request.headers['x-answer'])]!
      response.writeHead(status, KEY, { 'content-type': type, 'x-request-id': KEY, 'x-own': KEY }).end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const to = (server.address() as AddressInfo).port
  const port = await freePort()
  const routes = { '/detect': 'Detect', '/passthrough': 'Passthrough', '/messages': 'Messages', '*': 'Completions' }
  const ai = (name: string, provider: object) =>
    `\napiVersion: gatewright.dev/v1alpha1\nkind: ProxyBackend\nmetadata: { name: ${name} }\nspec: ${JSON.stringify({
      ai: { provider: { ...provider, host: '127.0.0.1', port: to } },
      policies: { ai: { routes }, auth: { key: KEY } },
    })}\n`
  const frontend = {
    tracing: { backendRef: backendRef('traces'), randomSampling: 'true' },
    accessLog: {
      attributes: {
        add: [
          { name: 'own', expression: 'response.headers["x-own"]' },
          { name: 'said', expression: 'llm.completion' },
        ],
      },
    },
  }
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      policyYaml('frontend', 'Gateway', 'main', { frontend }),
      backendYaml('traces', collector.grpcPort),
      backendYaml('http', to),
      policyYaml('http', 'ProxyBackend', 'http', { backend: { auth: { key: KEY } } }),
      ai('one', { providerOne: {} }),
      ai('four', { providerFour: {} }),
      ...['one', 'four', 'http'].map((name) => routeYaml(name, `/${name}`, name)),
    ),
  })
  stops.defer(folder.remove)
  const gateway = stops.use(
    await startGateway({
      files: [folder.path],
      workers: 1,
      arguments: ['--record-bodies', '4Ki', '--log-level', 'debug'],
    }),
  )

  const shown: string[] = []
  let asked = 0
  for (const path of ['one/chat', 'one/messages', 'one/detect', 'one/passthrough', 'four/messages', 'http/a']) {
    for (const answer of Object.keys(ANSWERS)) {
      for (const stream of [false, true]) {
        const body = JSON.stringify({ model: 'm', max_tokens: 9, stream, messages: [{ role: 'user', content: 'Hi.' }] })
        const headers = { 'content-type': 'application/json', 'x-answer': answer }
        const response = await fetch(`http://127.0.0.1:${port}/${path}`, { method: 'POST', headers, body })
        if ((await response.text()).includes(KEY)) shown.push(`${path} ${answer}`)
        asked++
      }
    }
  }
  expect([...sent].sort()).toEqual([`Bearer ${KEY}`, KEY].sort())
  // Bodies that pass as they are, and contents of answers, are for the client alone.
  expect(
    [...new Set(shown)].filter(
      (each) => /refusal|page|empty-stream/.test(each) && !/detect|passthrough|http/.test(each),
    ),
  ).toEqual([])
  expect(shown).toContain('http/a page')

  await eventually(
    'all of them are exported',
    () => collector.received.filter(({ signal }) => signal === 'traces').length >= asked,
  )
  const admin = async (path: string) => (await fetch(gateway.url(15_000) + path)).text()
  const outputs = {
    decisions: await admin('/decisions?limit=1000'),
    'access log': gateway.output.stdout,
    'application log': gateway.output.stderr,
    spans: JSON.stringify(collector.received.map(({ item, resource }) => [item, resource])),
    metrics: await (await fetch(`${gateway.url(15_020)}/metrics`)).text(),
    status: await admin('/status'),
  }
  expect(outputs.decisions).toContain('no such key: <redacted>')
  for (const [name, text] of Object.entries(outputs)) expect([name, text.includes(KEY)]).toEqual([name, false])
})
