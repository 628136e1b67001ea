import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { DescribedExplanation } from '#cli/explain/described-explanation.ts'
import { answering, RawClient, RawServer } from '#net/testing/raw-peers.ts'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'

/** Bodies above it are not buffered. */
const MAX_BUFFERED = 4096
const ROUTES_PER_GATEWAY = 9
const REQUESTS_PER_ROUTE = 3

const CHAT_ANSWER = {
  id: 'c',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'heard' }, finish_reason: 'stop' }],
}
const MESSAGES_ANSWER = {
  id: 'm',
  type: 'message',
  model: 'm',
  role: 'assistant',
  content: [{ type: 'text', text: 'read' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}

let stops = new AsyncDisposableStack()

afterEach(async () => {
  await stops.disposeAsync()
  stops = new AsyncDisposableStack()
})

/** What became of a request; `message`: the bytes for the backend. */
type Fate =
  | { readonly kind: 'forwarded'; readonly to: string; readonly message: string }
  | { readonly kind: 'answered'; readonly status: number; readonly body: string }
  | { readonly kind: 'refused'; readonly status: number; readonly code: string }

interface RandomRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Each one with a probability of a third. */
function some(random: SeededRandom, ...parts: readonly (() => object)[]): object {
  return Object.assign({}, ...parts.map((part) => (random.below(3) === 0 ? part() : {})))
}

/** A transformation of the request; most of them read its body. */
function transformation(random: SeededRandom, name: string): object {
  const value = random.pick([
    'string(size(request.body))',
    'string(size(request.bodyPrefix))',
    'request.path',
    'request.host',
    'default(string(request.headers["x-first"]), "none")',
  ])
  const set = { set: [{ name, value }] }
  const body = random.pick(['"<" + string(request.body) + ">"', '"new"', '""', undefined, undefined, undefined])
  return { transformation: { request: { ...set, ...(body !== undefined && { body }) } } }
}

function trafficPolicy(random: SeededRandom): object {
  const deny = { action: 'Deny', policy: { matchExpressions: ['request.headers["x-deny"] == "1"'] } }
  const reads = { action: 'Deny', policy: { matchExpressions: ['size(request.body) == 5'] } }
  const direct = { status: 418, body: 'short and stout' }
  const conditional = [{ condition: 'request.headers["x-direct"] == "1"', policy: direct }]
  return some(
    random,
    () => transformation(random, 'x-traffic'),
    () => ({ authorization: random.pick([deny, reads]) }),
    () => ({ directResponse: random.pick([{ conditional }, { conditional }, { conditional }, direct]) }),
    () => ({ retry: { attempts: 2, codes: [503] } }),
  )
}

function backendPolicy(random: SeededRandom): object {
  return some(
    random,
    () => transformation(random, 'x-backend'),
    () => transformation(random, 'x-backend'),
    () => ({ auth: { key: 'key-of-the-backend' } }),
  )
}

function filters(random: SeededRandom): object[] {
  const path = random.pick([
    { type: 'ReplacePrefixMatch', replacePrefixMatch: '/new' },
    { type: 'ReplaceFullPath', replaceFullPath: '/whole' },
  ])
  const header = { add: [{ name: 'x-first', value: 'added' }], remove: ['x-second'] }
  const all = [
    { type: 'URLRewrite', urlRewrite: { path, ...(random.below(2) === 0 && { hostname: 'inner.test' }) } },
    { type: 'RequestHeaderModifier', requestHeaderModifier: header },
  ]
  return all.filter(() => random.below(3) === 0)
}

type Ports = Readonly<Record<'first' | 'second', number>>

function backendSpec(random: SeededRandom, ports: Ports, isModel: boolean): object {
  const policies = backendPolicy(random)
  const at = () => ({ host: '127.0.0.1', port: ports[random.pick(['first', 'second'] as const)] })
  if (!isModel) return { static: at(), policies }
  const provider = (name: string) => ({ name, [random.pick(['providerOne', 'providerFour'])]: {}, ...at() })
  const names = random.pick([['one'], ['one', 'two']])
  return { ai: { groups: names.map((name) => ({ providers: [provider(name)] })) }, policies }
}

function objectsOf(random: SeededRandom, name: string, ports: Ports, isModel: boolean): string[] {
  const rule = {
    matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }],
    filters: filters(random),
    backendRefs: [
      { group: 'gatewright.dev', kind: 'ProxyBackend', name },
      { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'unused', weight: 0 },
    ],
  }
  return [
    `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify(backendSpec(random, ports, isModel))}
`,
    `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name} }
spec: ${JSON.stringify({ parentRefs: [{ name: 'main' }], rules: [rule] })}
`,
    policyYaml(name, 'HTTPRoute', name, { traffic: trafficPolicy(random), backend: backendPolicy(random) }),
  ]
}

function chat(random: SeededRandom): string {
  const audio = [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }]
  const content = random.pick(['hello', 'hello', 'x'.repeat(MAX_BUFFERED), audio])
  return random.pick([JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }), '{"model":', '{}'])
}

function requestTo(random: SeededRandom, name: string, isModel: boolean): RandomRequest {
  const headers = some(
    random,
    () => ({ 'x-first': 'own' }),
    () => ({ 'x-second': 'own' }),
    () => ({ 'x-deny': random.pick(['0', '1']) }),
    () => ({ 'x-direct': random.pick(['0', '1']) }),
    () => ({ authorization: 'Bearer own' }),
  ) as Record<string, string>
  if (isModel) return { method: 'POST', path: `/${name}/v1/chat/completions`, headers, body: chat(random) }
  const body = random.pick([undefined, '', 'hello', '{"a":1}', 'y'.repeat(MAX_BUFFERED + 1)])
  const method = body === undefined ? random.pick(['GET', 'DELETE', 'HEAD']) : random.pick(['POST', 'PUT'])
  return { method, path: `/${name}/${random.pick(['', 'x', 'x?q=1', 'a%20b'])}`, headers, body }
}

/** A gateway, and the requests that its backends got. */
interface Setting {
  readonly file: string
  readonly port: number
  readonly gateway: TestGateway
  readonly sent: { to: string; message: string }[]
}

async function startSetting(random: SeededRandom, names: readonly string[]): Promise<Setting> {
  const sent: Setting['sent'] = []
  const startServer = async () => {
    const server: RawServer = await new RawServer(
      answering((head, body) => {
        sent.push({ to: `127.0.0.1:${server.port}`, message: head + body })
        const text = JSON.stringify(head.includes('/messages ') ? MESSAGES_ANSWER : CHAT_ANSWER)
        return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${
          head.startsWith('HEAD ') ? '' : text
        }`
      }),
    ).start()
    stops.defer(() => server.close())
    return server.port
  }
  const ports = { first: await startServer(), second: await startServer() }
  const port = await freePort()
  const unused = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: unused }
spec: { static: { host: 127.0.0.1, port: 9 } }
`
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      unused,
      policyYaml('sizes', 'Gateway', 'main', { frontend: { http: { maxBufferSize: `${MAX_BUFFERED}` } } }),
      ...names.flatMap((name) => objectsOf(random, name, ports, isModel(name))),
    ),
  })
  stops.defer(folder.remove)
  const file = join(folder.path, 'all.yaml')
  const gateway = await startGateway({ files: [file], workers: 1 })
  stops.defer(async () => void (await gateway.close()))
  return { file, port, gateway, sent }
}

const isModel = (name: string) => name.startsWith('model')

/** A client that keeps its connection would keep its worker busy. */
const CLOSE = { connection: 'close' }

async function served({ port, gateway, sent }: Setting, request: RandomRequest): Promise<Fate> {
  const { method, path, headers, body } = request
  sent.length = 0
  const length = body === undefined ? {} : { 'content-length': `${body.length}` }
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const fields = { host: `localhost:${port}`, ...headers, ...CLOSE, ...type, ...length }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  const client = await RawClient.connect(port)
  client.send(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`)
  const answer = await client.untilEnd()
  client.close()
  const record = await eventually(`the record of ${path}`, async () => {
    const records = await (await fetch(`${gateway.url(15_000)}/decisions?limit=1`)).json()
    const [last] = records as { readonly target: string; readonly code: string }[]
    return last?.target === path ? last : undefined
  })
  const status = Number(answer.split(' ')[1])
  const [only, ...more] = sent
  expect(more).toEqual([])
  if (only !== undefined) return { kind: 'forwarded', ...only }
  if (record.code !== '') return { kind: 'refused', status, code: record.code }
  return { kind: 'answered', status, body: method === 'HEAD' ? '' : answer.slice(answer.indexOf('\r\n\r\n') + 4) }
}

async function explained({ file, port }: Setting, request: RandomRequest): Promise<Fate> {
  const { method, path, headers, body } = request
  const fields = Object.entries({ ...headers, ...CLOSE }).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const data = body === undefined ? [] : ['-d', body]
  const url = `http://localhost:${port}${path}`
  const words = ['explain', '-f', file, '-o', 'json', '--show-secrets', method, url, ...fields, ...data]
  const { stdout } = await gatewright(words)
  const { outcome, endpoints = [] } = JSON.parse(stdout) as DescribedExplanation
  if (outcome.kind === 'forwarded') {
    return { kind: 'forwarded', to: endpoints.find(({ chosen }) => chosen)?.label ?? '', message: outcome.message }
  }
  if (outcome.kind === 'answered') {
    return { kind: 'answered', status: outcome.status, body: method === 'HEAD' ? '' : outcome.body }
  }
  if (outcome.kind === 'refused') return { kind: 'refused', status: outcome.status, code: outcome.code }
  throw new Error(`not expected of ${method} ${url}: ${outcome.kind}`)
}

const SEEDS = Array.from({ length: sampleSize(1, 40) }, (_, at) => at + 1)
/** Those that random requests met. */
const kinds = new Set<Fate['kind']>()

test.each(SEEDS)('a gateway does what explain says, with the same bytes for the backend: seed %i', async (seed) => {
  const random = seededRandom(seed)
  const names = Array.from({ length: ROUTES_PER_GATEWAY }, (_, at) => `${at % 3 === 0 ? 'model' : 'web'}-${at}`)
  const setting = await startSetting(random, names)
  for (const name of names) {
    for (let number = 1; number <= REQUESTS_PER_ROUTE; number++) {
      const { path, ...rest } = requestTo(random, name, isModel(name))
      // The record of the request is found by its path.
      const request = { ...rest, path: `${path}${path.includes('?') ? '&' : '?'}number=${number}` }
      const said = await explained(setting, request)
      expect({ request, ...(await served(setting, request)) }).toEqual({ request, ...said })
      kinds.add(said.kind)
    }
  }
})

test('the requests were forwarded, answered and refused', () => {
  expect([...kinds].sort()).toEqual(['answered', 'forwarded', 'refused'])
})
