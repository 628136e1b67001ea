import { afterAll, beforeAll, expect, test } from 'vitest'
import { startMcpGateway } from '#test/interop/mcp/mcp-gateway.ts'
import { type PairSession, runScenarios, SCENARIOS } from '#test/interop/mcp/sdks/scenarios.ts'
import { connectTypescript1 } from '#test/interop/mcp/sdks/typescript/client-1.ts'
import { connectTypescript2 } from '#test/interop/mcp/sdks/typescript/client-2.ts'
import { startTypescript1 } from '#test/interop/mcp/sdks/typescript/server-1.ts'
import { startGateway } from '#test/support/gateway.ts'
import { verifies } from '#test/support/verifies.ts'

/** The HTTP+SSE transport with the official SDKs, through a running gateway with two workers. */

const stops = new AsyncDisposableStack()
let gatewayPort: number

beforeAll(async () => {
  const { port, close } = await startTypescript1()
  stops.defer(close)
  const old = { port, protocol: 'SSE' } as const
  const gateway = await startMcpGateway(
    stops,
    { old: { old }, new: { new: port }, both: { old, new: port } },
    { start: startGateway },
  )
  gatewayPort = gateway.port
})

afterAll(() => stops.disposeAsync())

const NOT_ASKED = 'not asked'
const NO_RESUMPTION = { resume: NOT_ASKED }

const OK = Object.fromEntries(SCENARIOS.map((scenario) => [scenario, 'ok']))

const targets: [client: string, connect: (url: string) => Promise<PairSession>, cannot: object][] = [
  ['1.x', (url) => connectTypescript1(url), NO_RESUMPTION],
  ['2.x with sessions', (url) => connectTypescript2(url, 'legacy'), NO_RESUMPTION],
  ['2.x with what the server has', (url) => connectTypescript2(url, 'auto'), NO_RESUMPTION],
]

for (const [client, connect, cannot] of targets) {
  verifies(
    ['backend.mcp.targets.static/protocol-sse', 'backend.mcp.targets.static/path-default-sse'],
    `a client ${client} meets a server with HTTP+SSE, alone and beside another`,
    async () => {
      const meet = (backend: string, target?: string) => {
        const url = `http://127.0.0.1:${gatewayPort}/${backend}`
        return runScenarios(() => connect(url), { url, ...(target && { target }) }, cannot)
      }
      const expected = { ...OK, ...cannot }
      expect(await Promise.all([meet('old'), meet('both', 'old')])).toEqual([expected, expected])
    },
  )
}

test.concurrent.each([
  ['old', undefined, NO_RESUMPTION],
  ['new', undefined, {}],
  ['both', 'old', NO_RESUMPTION],
  ['both', 'new', {}],
])('a client with HTTP+SSE uses the backend %s, target %s', async (backend, target, cannot) => {
  const url = `http://127.0.0.1:${gatewayPort}/${backend}`
  const connect = () => connectTypescript1(`${url}/sse`, 'sse')
  const seen = await runScenarios(connect, { url, ...(target && { target }) }, cannot)
  expect(seen).toEqual({ ...OK, ...cannot })
})
