import { expect, test } from 'vitest'
import { type FakeReply, fakeTargets, TestClient } from '#test/support/fake-targets.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'
import type { McpPlan } from '../config/mcp-plan.ts'

const RESOURCE = '/.well-known/oauth-protected-resource'
const SERVER = '/.well-known/oauth-authorization-server'
const METADATA: FakeReply = {
  json: { resource: 'https://tools.example/mcp' },
  headers: { 'access-control-allow-origin': '*', 'cache-control': 'max-age=60', connection: 'close' },
}

function clientOf(plan: McpPlan, reply: FakeReply = METADATA) {
  const { call, seen } = fakeTargets({ a: () => reply, b: () => reply })
  return { client: new TestClient(plan, call), seen }
}

test.each([
  ['GET', RESOURCE],
  ['GET', `${RESOURCE}/mcp?x=1`],
  ['GET', SERVER],
  ['HEAD', `${SERVER}/mcp`],
  ['OPTIONS', `${RESOURCE}/mcp`],
])('the only target publishes its own OAuth metadata: %s %s', async (method, target) => {
  const { client, seen } = clientOf(mcpPlan(['a']))
  const headers = { accept: 'application/json', authorization: 'Bearer x', 'mcp-session-id': 's' }
  const received = await client.send({ method, target, headers })
  expect(received.status).toBe(200)
  expect(received.text).toBe('{"resource":"https://tools.example/mcp"}')
  expect(received.headers).toEqual({
    'content-type': 'application/json',
    'access-control-allow-origin': '*',
    'cache-control': 'max-age=60',
  })
  expect(seen.map(({ method, path }) => [method, path])).toEqual([[method, target]])
  expect(seen[0]!.headers).toMatchObject({ accept: 'application/json', authorization: 'Bearer x' })
  expect(seen[0]!.headers).not.toHaveProperty('mcp-session-id')
  expect(received.exchange.attempts).toMatchObject([{ endpoint: 'a', status: 200, failure: undefined }])
})

test('a target that does not answer has an attempt without a status', async () => {
  const { client } = clientOf(mcpPlan(['a']), { failure: 'reset' })
  const { exchange } = await client.send({ method: 'GET', target: RESOURCE })
  expect(exchange.attempts).toMatchObject([{ endpoint: 'a', status: 0, failure: 'reset' }])
})

test.each([
  ['another method', 'POST', RESOURCE],
  ['registration', 'GET', `${SERVER}/mcp/client-registration`],
  ['a longer word', 'GET', `${RESOURCE}s`],
  ['another document', 'GET', '/.well-known/openid-configuration'],
  ['another spelling', 'GET', `/${RESOURCE}`],
  ['a dot segment', 'GET', `${RESOURCE}/../x`],
  ['an ambiguous path', 'GET', `${RESOURCE}/mcp;x`],
])('not forwarded: %s', async (_, method, target) => {
  const { client, seen } = clientOf(mcpPlan(['a']))
  expect((await client.send({ method, target })).exchange.refusal).toBe('route-not-found')
  expect(seen).toEqual([])
})

test.each([
  ['several targets', mcpPlan(['a', 'b'])],
  ['a gateway that checks tokens', { ...mcpPlan(['a']), authentication: {} as NonNullable<McpPlan['authentication']> }],
])('not forwarded with %s', async (_, plan) => {
  const { client, seen } = clientOf(plan)
  expect((await client.send({ method: 'GET', target: RESOURCE })).status).toBe(404)
  expect(seen).toEqual([])
})

test.each([
  ['its refusal reaches the client', mcpPlan(['a']), { status: 404, json: {} }, 404, undefined],
  ['it is down', mcpPlan(['a']), { failure: 'connection-refused' }, 503, 'upstream-failed'],
] as const)('a target without metadata: %s', async (_, plan, reply, status, refusal) => {
  const { client } = clientOf(plan, reply)
  const received = await client.send({ method: 'GET', target: RESOURCE })
  expect(received.status).toBe(status)
  expect(received.exchange.refusal).toBe(refusal)
})
