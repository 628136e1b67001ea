import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { answerSession, startRawTarget } from '#test/support/raw-mcp-target.ts'

/** A target that does not respond, beside one that does: each phase ends within the limit of docs/behaviour/mcp-a2a.md, "Time limits". */

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
let origin: string
/** The method, of JSON-RPC or HTTP, for which the silent target is silent. */
let silentFor: string | undefined
/** The silent target has got such a request, and the other one has responded to it. */
let reached = Promise.withResolvers<void>()
let answered = Promise.withResolvers<void>()

beforeAll(async () => {
  const [quick, silent] = await Promise.all(
    [false, true].map((isSilent) =>
      startRawTarget((call) => {
        const { method, message, end, json } = call
        if (isSilent && silentFor !== undefined && [method, message.method].includes(silentFor))
          return reached.resolve()
        if (!isSilent && [method, message.method].includes(silentFor)) setImmediate(answered.resolve)
        if (answerSession(call)) return
        if (method === 'GET') return call.event({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
        if (message.id === undefined) return end()
        json({ jsonrpc: '2.0', id: message.id, result: { tools: [{ name: 'x', inputSchema: {} }], content: [] } })
      }),
    ),
  )
  stops.defer(quick!.close)
  stops.defer(silent!.close)
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  const backends = ['FailOpen', 'FailClosed'].flatMap((mode) => [
    `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${mode.toLowerCase()} }
spec:
  mcp:
    failureMode: ${mode}
    targets:
      - { name: quick, static: { host: 127.0.0.1, port: ${quick!.port} } }
      - { name: silent, static: { host: 127.0.0.1, port: ${silent!.port} } }
`,
    routeYaml(mode.toLowerCase(), `/${mode}`, mode.toLowerCase()),
  ])
  const folder = await createObjectsFolder({ 'all.yaml': joinYaml(gatewayYaml(port), ...backends) })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

interface Ended {
  readonly status: number
  readonly text: string
  readonly session: string | undefined
}

/** Sends a request, and reads the response up to its first event. */
async function send(mode: string, method: string, session?: string): Promise<Ended> {
  const isHttp = method === 'GET' || method === 'DELETE'
  const params =
    method === 'initialize'
      ? { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
      : { name: 'quick_x' }
  const message = { jsonrpc: '2.0', method, params, ...(!method.startsWith('notifications/') && { id: 1 }) }
  const response = await fetch(`${origin}/${mode}`, {
    method: isHttp ? method : 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      ...(!isHttp && { 'content-type': 'application/json' }),
      ...(session !== undefined && { 'mcp-session-id': session }),
    },
    ...(!isHttp && { body: JSON.stringify(message) }),
  })
  const reader = response.body?.getReader()
  const first = await reader?.read()
  void reader?.cancel()
  const text = first?.value === undefined ? '' : new TextDecoder().decode(first.value)
  return { status: response.status, text, session: response.headers.get('mcp-session-id') ?? undefined }
}

/** The same while the silent target does not respond. @param seconds after so long there is a response, or less if the time is not skipped */
async function sendInSilence(
  mode: string,
  method: string,
  session: string | undefined,
  seconds: number,
): Promise<Ended> {
  silentFor = method
  reached = Promise.withResolvers()
  answered = Promise.withResolvers()
  const sent = send(mode, method, session)
  await Promise.all([reached.promise, answered.promise])
  // The gateway reads the response of the other target.
  await setTimeout(50)
  time.skip(seconds * 1000)
  return sent.finally(() => {
    silentFor = undefined
  })
}

/** Phase, its limit in seconds, and for both modes the status and what the response has. */
test.each<[method: string, limit: number, open: readonly [number, string], closed: readonly [number, string]]>([
  ['initialize', 10, [200, '"serverInfo"'], [504, '-32603']],
  ['notifications/initialized', 10, [202, ''], [504, '']],
  ['tools/list', 30, [200, 'quick_x'], [504, '-32603']],
  ['GET', 1, [200, 'list_changed'], [200, 'list_changed']],
  ['DELETE', 10, [204, ''], [204, '']],
])('%s ends within %i s', async (method, limit, open, closed) => {
  for (const [mode, [status, text]] of [
    ['FailOpen', open],
    ['FailClosed', closed],
  ] as const) {
    const { session } = method === 'initialize' ? {} : await send(mode, 'initialize')
    const ended = await sendInSilence(mode, method, session, limit)
    expect([ended.status, ended.text], mode).toEqual([status, expect.stringContaining(text)])
  }
})

test.each(['FailOpen', 'FailClosed'])('%s: a call of the other target does not wait', async (mode) => {
  const { session } = await send(mode, 'initialize')
  silentFor = 'tools/call'
  const ended = await send(mode, 'tools/call', session)
  silentFor = undefined
  expect([ended.status, ended.text]).toEqual([200, expect.stringContaining('"content":[]')])
})
