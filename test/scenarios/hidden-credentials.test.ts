import { readdirSync, readFileSync } from 'node:fs'
import { createServer, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { startLlm } from '#examples/upstreams/llm.ts'
import { startWeather } from '#examples/upstreams/mcp.ts'
import { startCollector } from '#test/support/collector.ts'
import { gatewright } from '#test/support/command-line.ts'
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

/** Each credential and each content of these requests is a text of its own, which no output for operators may have. */

class Canaries {
  readonly #places = new Map<string, string>()

  at(place: string): string {
    const value = `canary${this.#places.size.toString().padStart(4, '0')}end`
    this.#places.set(value, place)
    return value
  }

  /** The places whose canaries are in the text, verbatim or in base64. */
  foundIn(text: string): string[] {
    return [...this.#places].flatMap(([value, place]) =>
      text.includes(value) || text.includes(base64(value)) ? [place] : [],
    )
  }
}

const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '')

type Headers = Readonly<Record<string, string>>

/** Requests with credentials in all places, for one route. */
function* requestsTo(
  route: string,
  canaries: Canaries,
): Generator<{ readonly path: string; readonly headers: Headers }> {
  const at = (place: string) => canaries.at(`${route}: ${place}`)
  const headers: readonly (readonly [string, string])[] = [
    ['authorization', `Bearer ${at('bearer token')}`],
    [
      'authorization',
      `Bearer ${base64('{"alg":"HS256","kid":"a"}')}.${base64('{"iss":"https://a.test"}')}.${at('signature')}`,
    ],
    ['authorization', `Basic ${base64(`alice:${at('password')}`)}`],
    ['authorization', `Basic ${at('malformed basic')}!!!`],
    ['authorization', at('authorization without scheme')],
    ['proxy-authorization', `Basic ${at('proxy-authorization')}`],
    ['cookie', `session=${at('cookie')}`],
    ['x-api-key', at('x-api-key')],
    ['referer', `https://front.test/a?access_token=${at('referer')}`],
    ['user-agent', `agent/1 (https://agent.test/?token=${at('user agent')})`],
    ['origin', `https://u:${at('origin')}@front.test`],
  ]
  for (const [name, value] of headers) yield { path: `${route}/a`, headers: { [name]: value } }
  const parameters = [
    ...[
      'access_token',
      '%61ccess_token',
      'ACCESS_TOKEN',
      'oauth_token',
      'user[token]',
      ';token',
      'key',
      'x-api-key',
      'sig',
    ],
    ...['X-Amz-Signature', 'AWSAccessKeyId', 'client_secret', 'password', 'code', 'sessionId'],
    ...(route === '/parameter' ? ['own', '%6fwn'] : []),
  ]
  const query = parameters.map((name) => `${name}=${at(`parameter ${name}`)}`)
  yield { path: `${route}/a;jsessionid=${at('parameter of a segment')}?${query.join('&')}`, headers: {} }
  yield { path: `http://user:${at('user information')}@localhost${route}/a`, headers: {} }
}

function ask(port: number, { path, headers }: { path: string; headers: Headers }, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const request = sendRequest({ host: '127.0.0.1', port, path, method, headers: { host: 'localhost', ...headers } })
    request.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    request.on('error', reject)
    request.end(body)
  })
}

/** An upstream and authorization server whose answers have credentials. */
async function startServer(canaries: Canaries) {
  const headers = {
    'set-cookie': `s=${canaries.at('set-cookie of the backend')}`,
    'x-auth-token': canaries.at('x-auth-token of the backend'),
    location: `https://u:${canaries.at('location of the backend')}@a.test/?code=${canaries.at('code in a location')}`,
  }
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => response.writeHead(200, headers).end(canaries.at('body of the backend')))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Routes that read credentials in all ways, to backends that have credentials. */
function policies(canaries: Canaries): string {
  const jwks = {
    inline: JSON.stringify({ keys: [{ kty: 'oct', kid: 'a', k: base64(canaries.at('key of a key set')) }] }),
  }
  const secret = { secretRef: { name: 'callers' } }
  const traffic = {
    jwt: { jwtAuthentication: { providers: [{ issuer: 'https://a.test', jwks }] } },
    basic: { basicAuthentication: { users: [`alice:$2y$05$${'a'.repeat(53)}`] } },
    header: { apiKeyAuthentication: secret },
    parameter: {
      apiKeyAuthentication: { ...secret, mode: 'Permissive', location: { queryParameter: { name: 'own' } } },
    },
    authorized: { extAuth: { backendRef: backendRef('server'), http: {} } },
  }
  return joinYaml(
    ...Object.entries(traffic).flatMap(([name, spec]) => [
      routeYaml(name, `/${name}`, 'server'),
      policyYaml(name, 'HTTPRoute', name, { traffic: spec }),
    ]),
    `
apiVersion: v1
kind: Secret
metadata: { name: callers }
stringData: { one: ${canaries.at('entry of a Secret')}, two: '{"key":"${canaries.at('key of an entry')}"}' }
`,
  )
}

const ROUTES = ['/open', '/gone', '/none', '/jwt', '/basic', '/header', '/parameter', '/authorized']

const MESSAGES = (canaries: Canaries): readonly (readonly [string, string])[] => {
  const prompt = (place: string) =>
    `{"model":"mock-small","messages":[{"role":"user","content":"${canaries.at(place)}"}]`
  const call = (place: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"forecast","arguments":{"city":"${canaries.at(place)}"}}`
  return [
    ['/v1/chat/completions', `${prompt('prompt')},"user":"${canaries.at('user of a prompt')}"}`],
    ['/v1/chat/completions', prompt('unfinished prompt')],
    ['/v1/chat/completions', `{"model":"mock-small","messages":"${canaries.at('messages of a wrong type')}"}`],
    ['/v1/chat/completions', canaries.at('no JSON')],
    ['/mcp', `${call('argument')}}`],
    ['/mcp', call('unfinished argument')],
  ]
}

test('no credential and no content of a request is in any output', async () => {
  await using stops = new AsyncDisposableStack()
  const canaries = new Canaries()
  const collector = stops.use(await startCollector())
  const server = await startServer(canaries)
  stops.defer(server.close)
  const llm = await startLlm({ port: 0 })
  stops.defer(llm.close)
  const mcp = await startWeather({ port: 0 })
  stops.defer(mcp.close)
  const port = await freePort()
  const frontend = {
    tracing: { backendRef: backendRef('traces'), randomSampling: 'true' },
    accessLog: { otlp: { backendRef: backendRef('logs'), protocol: 'HTTP' } },
  }
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      policyYaml('frontend', 'Gateway', 'main', { frontend }),
      backendYaml('traces', collector.grpcPort),
      backendYaml('logs', collector.httpPort),
      policyYaml('logs', 'ProxyBackend', 'logs', { backend: { auth: { key: canaries.at('key of the collector') } } }),
      backendYaml('server', server.port),
      backendYaml('gone', await freePort()),
      routeYaml('open', '/open', 'server'),
      routeYaml('gone', '/gone', 'gone'),
      policies(canaries),
      routeYaml('llm', '/v1', 'llm'),
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: llm }
spec:
  ai: { groups: [{ providers: [{ name: a, providerOne: {}, host: 127.0.0.1, port: ${llm.port} }] }] }
  policies: { auth: { key: ${canaries.at('key of the provider')} } }
`,
      routeYaml('mcp', '/mcp', 'mcp'),
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: mcp }
spec: { mcp: { targets: [{ name: weather, static: { host: 127.0.0.1, port: ${mcp.port} } }] } }
`,
    ),
  })
  stops.defer(folder.remove)
  const records = join(folder.path, '.records')
  const gateway = stops.use(
    await startGateway({ files: [folder.path], workers: 1, arguments: ['--records', records, '--log-level', 'debug'] }),
  )

  let asked = 0
  const statuses = new Set<number>()
  const send = async (request: { path: string; headers: Headers }, body?: string) => {
    statuses.add(await ask(port, request, body))
    asked++
  }
  for (const route of ROUTES) for (const request of requestsTo(route, canaries)) await send(request)
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  for (const [path, body] of MESSAGES(canaries)) {
    await send({ path, headers: { ...json, 'mcp-session-id': canaries.at(`session of ${path}`) } }, body)
  }
  expect([...statuses].sort()).toEqual([200, 400, 401, 404, 503])

  // A target with user information is refused before there is a request to trace.
  await eventually('all of them are exported', () => {
    const of = (signal: string) => collector.received.filter((one) => one.signal === signal).length
    return of('logs') >= asked - ROUTES.length && of('traces') >= asked - ROUTES.length
  })
  const admin = async (path: string) => (await fetch(gateway.url(15_000) + path)).text()
  const decisions = await admin('/decisions?limit=1000')
  const [first] = JSON.parse(decisions) as { readonly id: string }[]
  const outputs = {
    decisions,
    'access log': gateway.output.stdout,
    'application log': gateway.output.stderr,
    'log records and spans': JSON.stringify(collector.received.map(({ item, resource }) => [item, resource])),
    metrics: await (await fetch(`${gateway.url(15_020)}/metrics`)).text(),
    why: (await gatewright(['why', first!.id, '--admin', gateway.url(15_000)])).stdout,
    ...Object.fromEntries(
      await Promise.all(
        ['/', '/plan', '/status', '/traffic', '/mcp/sessions'].map(async (path) => [path, await admin(path)] as const),
      ),
    ),
  }
  await gateway.close()
  const files = readdirSync(records).map((name) => gunzipSync(readFileSync(join(records, name))).toString())
  const found = Object.entries({ ...outputs, records: files.join('') }).map(([name, text]) => [
    name,
    canaries.foundIn(text),
  ])
  expect(found).toEqual(found.map(([name]) => [name, []]))
  expect(outputs['access log']).toContain('access_token=<redacted>')
  expect(files.join('')).toContain('sessionId=<redacted>')
})
