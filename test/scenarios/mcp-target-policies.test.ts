import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml, serviceYaml } from '#test/support/objects-folder.ts'
import { type RawCall, type RawTarget, startRawTarget } from '#test/support/raw-mcp-target.ts'
import { authoritiesYaml } from '#test/support/tls-objects.ts'

/** Policies of one target: they apply to its calls and to those of no other. */

const stops = new AsyncDisposableStack()
let url: string
let one: RawTarget
let other: RawTarget
let good: RawTarget
let failing: RawTarget
/** Paths of the calls that the authorization server was asked about. */
const asked: string[] = []
let allows = true
/** With TLS and a key of its own, with the credentials of callers, and with neither. */
let secure: RawTarget
let passed: RawTarget
let bare: RawTarget

function server(name: string): (call: RawCall) => void {
  return (call) => {
    const { id, method } = call.message
    if (method === 'initialize') {
      const result = {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name, version: '1' },
      }
      return call.json({ jsonrpc: '2.0', id, result }, 200, { 'mcp-session-id': name })
    }
    if (id === undefined) return call.end(202)
    const tool = { name: 'find', inputSchema: { type: 'object' } }
    const result = method === 'tools/list' ? { tools: [tool] } : { content: [{ type: 'text', text: name }] }
    return call.json({ jsonrpc: '2.0', id, result })
  }
}

beforeAll(async () => {
  one = await startRawTarget(server('one'))
  other = await startRawTarget(server('other'))
  good = await startRawTarget(server('good'))
  failing = await startRawTarget((call) => call.end(503))
  secure = await startRawTarget(server('secure'), CERTIFICATES.server)
  passed = await startRawTarget(server('passed'))
  bare = await startRawTarget(server('bare'))
  for (const target of [one, other, good, failing, secure, passed, bare]) stops.defer(target.close)
  const authorization = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(allows ? 200 : 403).end()
  })
  await new Promise<void>((resolve) => authorization.listen(0, '127.0.0.1', resolve))
  stops.defer(() => void authorization.close())
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      targetsYaml('tools', [
        `{ name: one, static: { host: 127.0.0.1, port: ${one.port} } }`,
        `{ name: other, static: { host: 127.0.0.1, port: ${other.port} } }`,
      ]),
      routeYaml('tools', '/tools', 'tools'),
      targetPolicyYaml('marked', 'tools', 'one', {
        transformation: { request: { set: [{ name: 'x-team', value: '"blue"' }] } },
      }),
      serviceYaml('authz', [(authorization.address() as AddressInfo).port]),
      targetPolicyYaml('asked', 'tools', 'other', {
        extAuth: { backendRef: { name: 'authz', port: 80 }, http: {} },
      }),
      authoritiesYaml('trusted', CERTIFICATES.ca),
      targetsYaml('mixed', [
        `{ name: secure, static: { host: 127.0.0.1, port: ${secure.port}, policies: { tls: { caCertificateRefs: [{ name: trusted }], sni: server.test } } } }`,
        `{ name: passed, static: { host: 127.0.0.1, port: ${passed.port}, policies: { auth: { passthrough: {} } } } }`,
        `{ name: bare, static: { host: 127.0.0.1, port: ${bare.port} } }`,
      ]),
      routeYaml('mixed', '/mixed', 'mixed'),
      targetPolicyYaml('keyed', 'mixed', 'secure', { auth: { key: 'key-of-secure' } }),
      targetsYaml('pair', ['{ name: all, static: { backendRef: { name: replicas }, port: 80 } }']),
      routeYaml('pair', '/pair', 'pair'),
      serviceYaml('replicas', [failing.port, good.port]),
      targetPolicyYaml('health', 'pair', 'all', {
        health: { unhealthyCondition: 'response.code == 503', eviction: { duration: '300s', consecutiveFailures: 1 } },
      }),
    ),
  })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

function targetsYaml(name: string, targets: readonly string[]): string {
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: { mcp: { targets: [${targets.join(', ')}] } }
`
}

function targetPolicyYaml(name: string, backend: string, target: string, policies: object): string {
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: ${name} }
spec:
  targetRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: ${backend}, sectionName: ${target} }]
  backend: ${JSON.stringify(policies)}
`
}

interface Answered {
  readonly status: number
  readonly session: string
  readonly body: {
    readonly result?: { readonly content?: readonly { readonly text: string }[] }
    readonly error?: object
  }
}

async function send(
  path: string,
  method: string,
  params: object,
  session = '',
  fields: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session !== '' && { 'mcp-session-id': session, 'mcp-protocol-version': '2025-06-18' }),
      ...fields,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const text = await response.text()
  return {
    status: response.status,
    session: response.headers.get('mcp-session-id') ?? '',
    body: JSON.parse(text.replace(/^.*?data: /s, '') || '{}') as Answered['body'],
  }
}

const INITIALIZE = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
const textOf = ({ body }: Answered) => body.result?.content?.[0]?.text

test('a transformation of one target changes its requests only', async () => {
  const { session } = await send('/tools', 'initialize', INITIALIZE)
  expect(textOf(await send('/tools', 'tools/call', { name: 'one_find' }, session))).toBe('one')
  expect(textOf(await send('/tools', 'tools/call', { name: 'other_find' }, session))).toBe('other')
  expect(new Set(one.calls.map(({ headers }) => headers['x-team']))).toEqual(new Set(['blue']))
  expect(new Set(other.calls.map(({ headers }) => headers['x-team']))).toEqual(new Set([undefined]))
})

test('an authorization server of one target is asked about its calls only, and can refuse them', async () => {
  const { session } = await send('/tools', 'initialize', INITIALIZE)
  asked.length = 0
  expect(textOf(await send('/tools', 'tools/call', { name: 'one_find' }, session))).toBe('one')
  expect(asked).toEqual([])
  expect(textOf(await send('/tools', 'tools/call', { name: 'other_find' }, session))).toBe('other')
  expect(asked).toEqual(['/mcp'])
  allows = false
  try {
    const before = other.seen.length
    const refused = await send('/tools', 'tools/call', { name: 'other_find' }, session)
    expect(refused.body.error).toMatchObject({ code: -32_603 })
    expect(other.seen.slice(before)).toEqual([])
    expect(textOf(await send('/tools', 'tools/call', { name: 'one_find' }, session))).toBe('one')
  } finally {
    allows = true
  }
})

test('an unhealthy endpoint of the Service of a target gets no more sessions', async () => {
  await eventually('the failing endpoint was tried', async () => {
    await send('/pair', 'initialize', INITIALIZE)
    return failing.calls.length > 0
  })
  const tried = failing.calls.length
  for (let count = 0; count < 20; count += 1) {
    const { status, session } = await send('/pair', 'initialize', INITIALIZE)
    expect(status).toBe(200)
    expect(textOf(await send('/pair', 'tools/call', { name: 'find' }, session))).toBe('good')
  }
  expect(failing.calls.length).toBe(tried)
})

test('each target has its own TLS and credentials, whatever level they come from, and no other target gets them', async () => {
  const fields = { authorization: 'Bearer of-the-caller', cookie: 'a=b' }
  const { session } = await send('/mixed', 'initialize', INITIALIZE, '', fields)
  for (const name of ['secure', 'passed', 'bare']) {
    expect(textOf(await send('/mixed', 'tools/call', { name: `${name}_find` }, session, fields))).toBe(name)
  }
  const seenBy = ({ calls }: RawTarget) =>
    new Set(calls.map(({ headers }) => `${headers.authorization} ${headers.cookie}`))
  expect(seenBy(secure)).toEqual(new Set(['Bearer key-of-secure undefined']))
  expect(seenBy(passed)).toEqual(new Set(['Bearer of-the-caller a=b']))
  expect(seenBy(bare)).toEqual(new Set(['undefined undefined']))
})
