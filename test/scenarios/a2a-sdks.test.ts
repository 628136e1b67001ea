import { afterAll, beforeAll, expect, test } from 'vitest'
import { startA2aGateway } from '#test/interop/a2a/a2a-gateway.ts'
import { type Met, meet } from '#test/interop/a2a/meet.ts'
import { ALL_INTERFACES, SCENARIOS } from '#test/interop/a2a/scenarios.ts'
import { startTypescript1 } from '#test/interop/a2a/typescript/agent-1.ts'
import { typescript1 } from '#test/interop/a2a/typescript/client-1.ts'
import { eventually } from '#test/support/eventually.ts'
import type { TestGateway } from '#test/support/gateway.ts'
import { verifies } from '#test/support/verifies.ts'

/** The essence of `npm run interop:a2a`: the official SDK for TypeScript in all bindings and versions, through a running gateway. */

const stops = new AsyncDisposableStack()
let met: readonly Met[]
let gateway: TestGateway

beforeAll(async () => {
  const agent = await startTypescript1(stops)
  const a2a = await startA2aGateway(stops, [agent])
  met = await Promise.all(ALL_INTERFACES.map((over) => meet(typescript1, agent, over, a2a)))
  gateway = a2a.gateway
}, 120_000)

afterAll(() => stops.disposeAsync())

verifies('service/forwards-a2a', 'an SDK works through the gateway as without it', () => {
  expect(met).toHaveLength(6)
  const ok = Object.fromEntries(SCENARIOS.map((scenario) => [scenario, 'ok']))
  for (const { name, direct, through } of met) expect(through, name).toEqual(direct)
  // The SDK does not know its own JSON-RPC method for extended cards.
  const extended = 'Method not found: GetExtendedAgentCard'
  expect(met.map(({ through }) => through)).toEqual([{ ...ok, extended }, ok, ok, ok, ok, ok])
})

/** The lines of the access log of A2A, each without what differs from run to run. */
function logged(): readonly Readonly<Record<string, unknown>>[] {
  const { stdout, stderr } = gateway.output
  return `${stdout}\n${stderr}`.split('\n').flatMap((line) => {
    if (!line.includes('"a2a.method"')) return []
    const entries = Object.entries(JSON.parse(line) as Record<string, unknown>)
    return [Object.fromEntries(entries.filter(([name]) => name.startsWith('a2a.')))]
  })
}

test('the log has method, task, state and outcome of every call, in all bindings', async () => {
  const seen = (fields: object) =>
    eventually(JSON.stringify(fields), () => {
      expect(logged()).toContainEqual(expect.objectContaining(fields))
      return true
    })
  const ids = { 'a2a.task.id': expect.stringMatching(/^[0-9a-f-]{36}$/), 'a2a.context.id': expect.any(String) }
  const completed = { 'a2a.response.outcome': 'success', 'a2a.task.state': 'completed', ...ids }
  await seen({ 'a2a.method': 'SendMessage', 'a2a.result.kind': 'task', ...completed })
  await seen({ 'a2a.method': 'SendStreamingMessage', 'a2a.result.kind': 'status-update', ...completed })
  await seen({ 'a2a.method': 'SubscribeToTask', ...completed })
  await seen({ 'a2a.method': 'CancelTask', 'a2a.response.outcome': 'success', 'a2a.task.state': 'canceled', ...ids })
  await seen({ 'a2a.method': 'GetTask', 'a2a.response.outcome': 'error', 'a2a.response.error_code': -32001 })
  await seen({ 'a2a.method': 'GetTask', 'a2a.response.outcome': 'error', 'a2a.response.error_code': 404 })
  const called = new Set(logged().map((line) => line['a2a.method']))
  expect([...called].sort()).toEqual([
    'CancelTask',
    'CreateTaskPushNotificationConfig',
    'DeleteTaskPushNotificationConfig',
    'GetExtendedAgentCard',
    'GetTask',
    'GetTaskPushNotificationConfig',
    'ListTaskPushNotificationConfigs',
    'SendMessage',
    'SendStreamingMessage',
    'SubscribeToTask',
    'agent-card',
  ])
})

test('calls are counted by method, outcome and state', async () => {
  const completed = 'gatewright_a2a_requests_total{method="SendMessage",outcome="success",task_state="completed",'
  await eventually(completed, async () => {
    const response = await fetch(`${gateway.url(15020)}/metrics`)
    return (await response.text()).includes(completed)
  })
})
