import { afterAll, beforeAll, expect, test } from 'vitest'
import { startMcpGateway } from '#test/interop/mcp/mcp-gateway.ts'
import { type PairSession, runScenarios, SCENARIOS } from '#test/interop/mcp/sdks/scenarios.ts'
import { connectTypescript1 } from '#test/interop/mcp/sdks/typescript/client-1.ts'
import { connectTypescript2 } from '#test/interop/mcp/sdks/typescript/client-2.ts'
import { startTypescript1 } from '#test/interop/mcp/sdks/typescript/server-1.ts'
import { startTypescript2 } from '#test/interop/mcp/sdks/typescript/server-2.ts'
import { startGateway } from '#test/support/gateway.ts'

/** The essence of `npm run interop:mcp`: the official SDKs of both majors meet through a running gateway. They wait for each other, so all pairs meet at once. */

const stops = new AsyncDisposableStack()
let gatewayPort: number

beforeAll(async () => {
  const [first, second] = [await startTypescript1(), await startTypescript2()]
  stops.defer(first.close)
  stops.defer(second.close)
  const gateway = await startMcpGateway(
    stops,
    {
      first: { first: first.port },
      second: { second: second.port },
      both: { first: first.port, second: second.port },
    },
    { start: startGateway },
  )
  gatewayPort = gateway.port
})

afterAll(() => stops.disposeAsync())

const CLIENTS: Readonly<Record<string, (url: string) => Promise<PairSession>>> = {
  '1.x': (url) => connectTypescript1(url),
  '2.x with sessions': (url) => connectTypescript2(url, 'legacy'),
  '2.x with what the server has': (url) => connectTypescript2(url, 'auto'),
}

/** Is answered where a scenario is not asked. */
const OK = Object.fromEntries(SCENARIOS.map((scenario) => [scenario, 'ok']))

test.concurrent.each([
  ['1.x', 'first', {}],
  ['1.x', 'second', {}],
  ['2.x with sessions', 'first', {}],
  ['2.x with sessions', 'second', {}],
  ['2.x with what the server has', 'first', {}],
  ['2.x with what the server has', 'second', {}],
])('a client %s meets the %s server alone', async (client, server, cannot) => {
  const url = `http://127.0.0.1:${gatewayPort}/${server}`
  expect(await runScenarios(() => CLIENTS[client]!(url), { url }, cannot)).toEqual({ ...OK, ...cannot })
})

test.concurrent.each([
  ['1.x', {}],
  ['2.x with sessions', {}],
  ['2.x with what the server has', {}],
])('a client %s meets both servers behind one backend', async (client, cannot) => {
  const url = `http://127.0.0.1:${gatewayPort}/both`
  const meet = (target: string) => runScenarios(() => CLIENTS[client]!(url), { url, target }, cannot)
  const expected = { ...OK, ...cannot }
  expect(await Promise.all([meet('first'), meet('second')])).toEqual([expected, expected])
})
