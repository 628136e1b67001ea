import type { ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { startAnsweringProvider } from '#test/support/answering-provider.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGatewayProcess } from '#test/support/gateway-process.ts'
import { answerJson, startJsonServer } from '#test/support/json-server.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { startProxyServer } from '#test/support/proxy-server.ts'
import { authoritiesYaml } from '#test/support/tls-objects.ts'
import { bodyOf, chunk, STREAMED, serve } from './guarded-gateway.ts'

/**
 * What each kind of guard adds to the time of a request, to the first text of a stream and to each event, with services that answer at once and
 * after 50 ms. The services of vendors are asked over TLS, through a proxy server.
 */

const DELAYS_MS = [0, 50] as const
const REQUESTS = 40
const STREAMS = 3
/** Of the provider: 40 events fill a window of 1,024 bytes. */
const EVENTS = 160
const TEXT = 'a text of 26 characters, '
const PAUSE_MS = 5

const PROXY = { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'proxy' }
const policies = {
  auth: { key: 'a-key' },
  tunnel: { backendRef: PROXY },
  tls: { caCertificateRefs: [{ name: 'vendors' }] },
}
const KINDS: Readonly<Record<string, object>> = {
  regex: { regex: { builtins: ['Ssn', 'CreditCard', 'PhoneNumber', 'Email', 'CaSin'] } },
  webhook: { webhook: { backendRef: { ...PROXY, name: 'judge' } } },
  moderationEndpoint: { moderationEndpoint: { policies } },
  guardrailsServiceOne: {
    guardrailsServiceOne: { identifier: 'gr1', version: 'DRAFT', region: 'us-east-1', policies },
  },
  guardrailsServiceTwo: { guardrailsServiceTwo: { templateId: 't1', projectId: 'p1', policies } },
}
/** The kinds of guards of responses. */
const STREAMING = Object.keys(KINDS).filter((kind) => kind !== 'moderationEndpoint')

const NOTHING_FOUND = {
  sanitizationResult: { filterMatchState: 'NO_MATCH_FOUND', invocationResult: 'SUCCESS', filterResults: {} },
}

await using stops = new AsyncDisposableStack()
let delayMs = 0
const later = async (response: ServerResponse, answer: object) => {
  if (delayMs > 0) await setTimeout(delayMs)
  answerJson(response, answer)
}
const moderator = stops.use(await startJsonServer(CERTIFICATES.guards))
moderator.answer = ({ body }, response) =>
  void later(response, { id: 'm', results: (body as { input: [] }).input.map(() => ({ flagged: false })) })
const one = stops.use(await startJsonServer(CERTIFICATES.guards))
one.answer = (_, response) => void later(response, { action: 'NONE', outputs: [], assessments: [], usage: {} })
const two = stops.use(await startJsonServer(CERTIFICATES.guards))
two.answer = (_, response) => void later(response, NOTHING_FOUND)
const judge = stops.use(await startJsonServer())
judge.answer = (_, response) => void later(response, { action: {} })
const names = {
  'api.openai.com': moderator.port,
  'bedrock-runtime.us-east-1.amazonaws.com': one.port,
  'modelarmor.us-central1.rep.googleapis.com': two.port,
}
const proxy = stops.use(await startProxyServer({ names }))

/** When the events of the stream left the provider. */
const sent: number[] = []
const streaming = await serve(async (request, response) => {
  await bodyOf(request)
  sent.length = 0
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let index = 0; index < EVENTS; index++) {
    sent.push(performance.now())
    response.write(chunk({ content: TEXT }))
    await setTimeout(PAUSE_MS)
  }
  response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
}, stops)
const answering = stops.use(await startAnsweringProvider())
answering.answer = {
  body: { id: 'c', model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' } }] },
}

const port = await freePort()
const backend = (name: string, at: number, promptGuard: object | undefined) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({
  ai: { provider: { providerOne: {}, host: '127.0.0.1', port: at } },
  policies: { ai: { routes: { '*': 'Completions' }, promptGuard } },
})}
`
const backends = {
  'request-plain': backend('request-plain', answering.port, undefined),
  'stream-plain': backend('stream-plain', streaming, undefined),
  ...Object.fromEntries(
    Object.entries(KINDS).map(([kind, guard]) => {
      const name = `request-${kind.toLowerCase()}`
      return [name, backend(name, answering.port, { request: [guard] })]
    }),
  ),
  ...Object.fromEntries(
    STREAMING.map((kind) => {
      const name = `stream-${kind.toLowerCase()}`
      return [name, backend(name, streaming, { response: [KINDS[kind]!] })]
    }),
  ),
}
const folder = await createObjectsFolder({
  'all.yaml': joinYaml(
    gatewayYaml(port),
    backendYaml('proxy', proxy.port),
    backendYaml('judge', judge.port),
    authoritiesYaml('vendors', CERTIFICATES.guards.cert),
    ...Object.values(backends),
    ...Object.keys(backends).map((name) => routeYaml(name, `/${name}`, name)),
  ),
})
stops.defer(folder.remove)
const gateway = stops.use(await startGatewayProcess({ files: [folder.path], workers: 1 }))

const ask = (name: string, init: RequestInit) => fetch(`${gateway.url(port)}/${name}/v1/chat/completions`, init)
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!

async function requestMs(name: string): Promise<number> {
  const start = performance.now()
  const response = await ask(name, { ...STREAMED, body: STREAMED.body.replace('"stream":true', '"stream":false') })
  if (response.status !== 200) throw new Error(`${name}: ${response.status} ${await response.text()}`)
  await response.arrayBuffer()
  return performance.now() - start
}

/** From the provider to the client: the first event, and all on average, in milliseconds. */
async function streamMs(name: string): Promise<{ first: number; each: number }> {
  const response = await ask(name, STREAMED)
  const received: number[] = []
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    for (let left = piece.split(TEXT).length - 1; left > 0; left--) received.push(performance.now())
  }
  if (received.length !== EVENTS) throw new Error(`${name}: ${response.status}, ${received.length} of ${EVENTS} events`)
  const delays = received.map((at, index) => at - sent[index]!)
  return { first: delays[0]!, each: delays.reduce((sum, ms) => sum + ms, 0) / EVENTS }
}

/** More than without a guard; both are measured in turn. */
async function addedToRequest(kind: string): Promise<number> {
  const times: { guarded: number; plain: number }[] = []
  for (let each = -5; each < REQUESTS; each++) {
    const pair = { guarded: await requestMs(`request-${kind}`), plain: await requestMs('request-plain') }
    if (each >= 0) times.push(pair)
  }
  return median(times.map(({ guarded, plain }) => guarded - plain))
}

async function addedToStream(kind: string): Promise<{ first: number; each: number }> {
  const times: { first: number; each: number }[] = []
  for (let each = -1; each < STREAMS; each++) {
    const guarded = await streamMs(`stream-${kind}`)
    const plain = await streamMs('stream-plain')
    if (each >= 0) times.push({ first: guarded.first - plain.first, each: guarded.each - plain.each })
  }
  return { first: median(times.map(({ first }) => first)), each: median(times.map(({ each }) => each)) }
}

const ms = (value: number) => `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`

/** Prints the table of the docs. */
console.log(
  '| Guard | Service answers in | A request | First text of a stream | Each event |\n| --- | --- | --- | --- | --- |',
)
for (const kind of Object.keys(KINDS)) {
  for (const delay of kind === 'regex' ? [0] : DELAYS_MS) {
    delayMs = delay
    const request = ms(await addedToRequest(kind.toLowerCase()))
    const stream = STREAMING.includes(kind) ? await addedToStream(kind.toLowerCase()) : undefined
    const ofStream = stream === undefined ? '| |' : `| ${ms(stream.first)} | ${ms(stream.each)} |`
    console.log(`| \`${kind}\` | ${kind === 'regex' ? '' : `${delay} ms`} | ${request} ${ofStream}`)
  }
}
