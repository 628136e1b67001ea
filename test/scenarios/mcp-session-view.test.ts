import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DescribedRecord } from '#admin/describe-record.ts'
import type { DescribedSession } from '#admin/mcp-sessions.ts'
import type { Attempt } from '#exchange/exchange.ts'
import type { McpRecord } from '#observe/decision.ts'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { postModern } from '#test/support/mcp-post.ts'
import { createObjectsFolder, gatewayYaml } from '#test/support/objects-folder.ts'
import { type RawCall, type RawTarget, startRawTarget } from '#test/support/raw-mcp-target.ts'

/** What operators see of the sessions of a running gateway with two workers: at the admin port, and on the command line. */

const stops = new AsyncDisposableStack()
let target: RawTarget
let gateway: TestGateway
let url: string
let waiting: RawCall | undefined

const LONG = 'x'.repeat(1000)

/** One tool waits until the test lets it answer, the other one fails. */
function answer(call: RawCall): unknown {
  const { method, id, params } = call.message as {
    readonly method?: string
    readonly id?: number
    readonly params?: { readonly name?: string }
  }
  if (call.method === 'GET') return call.event({ jsonrpc: '2.0', method: 'notifications/message', params: {} })
  if (call.method === 'DELETE' || id === undefined) return call.end(202)
  if (method === 'initialize') {
    const result = {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'raw', version: '1' },
    }
    return call.json({ jsonrpc: '2.0', id, result }, 200, { 'mcp-session-id': 'secret-of-the-target' })
  }
  if (params?.name === 'fails') {
    return call.json({ jsonrpc: '2.0', id, error: { code: -32042, message: `out of order ${LONG}` } })
  }
  waiting = call
  return undefined
}

beforeAll(async () => {
  target = await startRawTarget(answer)
  stops.defer(target.close)
  const port = await freePort()
  url = `http://127.0.0.1:${port}/mcp`
  const folder = await createObjectsFolder({
    'gateway.yaml': gatewayYaml(port),
    'tools.yaml': `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: tools }
spec:
  mcp:
    failureMode: FailOpen
    targets:
      - { name: up, static: { host: 127.0.0.1, port: ${target.port} } }
      - { name: down, static: { host: 127.0.0.1, port: ${await freePort()}, protocol: SSE } }
---
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: rules }
spec:
  targetRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: tools }]
  backend:
    mcp:
      authorization: { action: Deny, policy: { matchExpressions: ["mcp.tool.name == 'hidden'"] } }
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: tools }
spec:
  parentRefs: [{ name: main }]
  rules:
    - matches: [{ path: { type: Exact, value: /mcp } }]
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: tools }]
`,
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 2 }))
})

afterAll(() => stops.disposeAsync())

async function readSessions(query = ''): Promise<readonly DescribedSession[]> {
  const response = await fetch(`${gateway.url(15_000)}/mcp_sessions${query}`)
  expect(response.status).toBe(200)
  return (await response.json()) as readonly DescribedSession[]
}

test('the record of a call that a rule refuses names the policy', async () => {
  const client = new Client({ name: 'curious', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(url))
  await client.connect(transport)
  stops.defer(() => client.close())
  await expect(client.callTool({ name: 'up_hidden' })).rejects.toThrow('Unknown tool: up_hidden')
  const record = await eventually('the decision is kept', async () => {
    const response = await fetch(`${gateway.url(15_000)}/decisions?code=authorization-denied`)
    return ((await response.json()) as readonly DescribedRecord[])[0]
  })
  expect(record.mcp).toMatchObject({ method: 'tools/call', target: 'up', item: 'hidden' })
  expect(record.decidedBy).toMatchObject({
    stage: 'backend',
    field: 'mcp.authorization',
    sources: [{ kind: 'ProxyPolicy', namespace: 'default', name: 'rules', path: 'spec.backend.mcp.authorization' }],
  })
  await transport.terminateSession()
  await client.close()
})

test('a session is shown with its targets, calls in flight and errors, until it is deleted', async () => {
  const client = new Client({ name: 'inspector', version: '1.2' })
  const transport = new StreamableHTTPClientTransport(new URL(url))
  await client.connect(transport)
  stops.defer(() => client.close())
  await client.callTool({ name: 'up_fails' }).catch(() => {})
  const call = client.callTool({ name: 'up_slow' })
  const shown = await eventually('the call and the stream are in flight', async () => {
    const [session] = await readSessions()
    return session?.calls.length === 2 ? session : undefined
  })
  expect(shown).toMatchObject({
    backend: 'ProxyBackend/default/tools',
    client: 'inspector',
    clientVersion: '1.2',
    idleSeconds: 0,
    targets: [
      { target: 'up', state: 'present', transport: 'StreamableHTTP', era: 'legacy', revision: '2025-06-18' },
      { target: 'down', state: 'absent', transport: 'SSE' },
    ],
  })
  expect(shown.calls.map(({ method, target, item }) => [method, target, item])).toEqual(
    expect.arrayContaining([
      ['GET', undefined, undefined],
      ['tools/call', 'up', 'slow'],
    ]),
  )
  const failed = shown.errors.find(({ code }) => code === '-32042')
  expect(failed).toMatchObject({ method: 'tools/call', target: 'up', item: 'fails' })
  expect(failed?.message).toMatch(/^out of order x+…$/)
  expect(failed?.message.length).toBe(200)

  const line = await eventually('the access log has the session', () =>
    gateway.output.stdout.split('\n').find((text) => text.includes('mcp.error.code=-32042')),
  )
  expect(line).toContain(`mcp.session.id=${shown.session}`)
  expect(line).toContain('mcp.error.message="out of order x')

  const decisions = await fetch(`${gateway.url(15_000)}/decisions`)
  const records = (await decisions.json()) as { readonly mcp?: McpRecord; readonly attempts: readonly Attempt[] }[]
  const record = records.find(({ mcp }) => mcp?.errorCode === -32_042)
  expect(record?.mcp).toMatchObject({ method: 'tools/call', target: 'up', item: 'fails', session: shown.session })
  const { sentMs = 0, answeredMs = 0, endedMs = 0 } = record!.attempts[0]!
  expect(sentMs).toBeGreaterThan(0)
  expect(answeredMs).toBeGreaterThan(sentMs)
  expect(endedMs).toBeGreaterThanOrEqual(answeredMs)

  const sealed = transport.sessionId ?? ''
  for (const path of ['/mcp_sessions', '/']) {
    const text = await (await fetch(`${gateway.url(15_000)}${path}`)).text()
    expect(text).toContain(shown.session)
    expect(text).not.toContain(sealed.slice(0, 24))
    expect(text).not.toContain('secret-of-the-target')
  }

  const { code, stdout } = await gatewright(['mcp', 'sessions', '--admin', gateway.url(15_000)])
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(
      new RegExp(
        `^${shown.session} {2}inspector 1\\.2, \\S+, at ProxyBackend/default/tools\n {2}.* old, in use\n {2}target {2}up: present, StreamableHTTP, 2025-06-18\n {2}target {2}down: absent, SSE\n {2}call .*\n {2}call .*\n(?: {2}error .*\n)+\n1 session\\.\n$`,
      ),
    ),
  ])

  waiting!.json({ jsonrpc: '2.0', id: (waiting!.message as { id?: number }).id, result: { content: [] } })
  await call
  await eventually('the call has ended', async () =>
    (await readSessions())[0]?.calls.every(({ method }) => method === 'GET'),
  )
  await transport.terminateSession()
  await eventually('the session is gone', async () => (await readSessions()).length === 0)
})

test('sessions of both workers are shown, and can be selected', async () => {
  const clients = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const client = new Client({ name: `client-${index}`, version: '1' })
      await client.connect(new StreamableHTTPClientTransport(new URL(url)))
      stops.defer(() => client.close())
      return client
    }),
  )
  const shown = await eventually('all sessions are shown', async () => {
    const sessions = await readSessions()
    return sessions.length === clients.length ? sessions : undefined
  })
  expect(new Set(shown.map(({ client }) => client)).size).toBe(clients.length)
  expect(await readSessions(`?session=${shown[3]!.session}`)).toMatchObject([{ client: shown[3]!.client }])
  expect(await readSessions('?backend=ProxyBackend/default/other')).toEqual([])
  expect(await readSessions('?limit=2')).toHaveLength(2)
})

test('requests without a session are shown together, with their errors', async () => {
  await postModern(url, { method: 'tools/call', params: { name: 'nobody_knows' } })
  const without = await eventually('the request is shown', async () =>
    (await readSessions()).find(({ session, errors }) => session === '' && errors.length > 0),
  )
  expect(without).toMatchObject({ backend: 'ProxyBackend/default/tools', targets: [], calls: [] })
  expect(without.errors).toMatchObject([{ method: 'tools/call', item: 'nobody_knows' }])
  const { stdout } = await gatewright(['mcp', 'sessions', '--admin', gateway.url(15_000)])
  expect(stdout).toContain('without a session at ProxyBackend/default/tools\n')
})

test('the command says that no gateway responds', async () => {
  const admin = `http://127.0.0.1:${await freePort()}`
  const { code, stderr } = await gatewright(['mcp', 'sessions', '--admin', admin])
  expect([code, stderr]).toEqual([
    1,
    `gatewright: no gateway responds at ${admin}/; --admin is the address of its admin server\n`,
  ])
})
