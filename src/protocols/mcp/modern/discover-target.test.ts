import { constants, createGzip } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Call } from '#exchange/call.ts'
import { type FakeReply, fakeTargets, TestClient } from '#test/support/fake-targets.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'

/** Asks a target with sessions for its tools twice, without a session. @param discovered how the target answers `server/discover` */
async function askTwice(discovered: (id: unknown) => FakeReply) {
  const { call, seen } = fakeTargets({
    a: ({ message }) => {
      const { id, method } = message!
      if (method === 'server/discover') return discovered(id)
      const result =
        method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: { tools: {} } } : { tools: [] }
      const headers = { 'mcp-session-id': 's' }
      return id === undefined ? {} : { json: { jsonrpc: '2.0', id, result }, headers }
    },
  })
  const client = new TestClient(mcpPlan(['a']), call)
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'modern', version: '2' },
  }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }
  const ask = (id: number) =>
    client.send({ headers, message: { jsonrpc: '2.0', id, method: 'tools/list', params: { _meta } } })
  const { messages, exchange } = await ask(1)
  await ask(2)
  const discoveries = seen.filter(({ message }) => message?.method === 'server/discover').length
  return { error: messages[0]?.error, detail: exchange.refusalDetail ?? '', discoveries }
}

test('a stream that ends before its response is a failure', async () => {
  const { error, detail } = await askTwice(() => ({ events: [': nothing\n\n'] }))
  expect(`${detail} ${error?.message}`).toContain('ended its stream without a response')
})

test('an error that is none of an older era is a failure', async () => {
  const { error, detail } = await askTwice((id) => ({
    json: { jsonrpc: '2.0', id, error: { code: -31_999, message: 'no' } },
  }))
  expect(`${detail} ${error?.message}`).toContain('refused server/discover with -31999')
})

test.each([-32_000, -32_601])('after the error %i a target is of an older era, which is remembered', async (code) => {
  const { error, discoveries } = await askTwice((id) => ({
    json: { jsonrpc: '2.0', id, error: { code, message: 'no' } },
  }))
  expect([error, discoveries]).toEqual([undefined, 1])
})

/** The beginning of a compressed stream. */
async function gzipBeginning(text: string): Promise<Uint8Array> {
  const gzip = createGzip()
  gzip.write(text)
  gzip.flush(constants.Z_SYNC_FLUSH, () => gzip.push(null))
  return Buffer.concat(await gzip.toArray())
}

test('the rest of a stream that goes on after its response is given up, also behind a decoder that waits for it', async () => {
  const result = { supportedVersions: ['2026-07-28'], capabilities: {} }
  const beginning = await gzipBeginning(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 'discover', result })}\n\n`)
  const waiting = [Promise.resolve({ done: false as const, value: beginning })]
  let givenUp = 0
  const iterator: AsyncIterator<Uint8Array> = {
    next: () => waiting.pop() ?? new Promise(() => {}),
    return: async () => {
      givenUp++
      return { done: true, value: undefined }
    },
  }
  const { call } = fakeTargets({ a: () => ({ status: 500 }) })
  const compressed: Call = async (destination, request) => {
    const response = await call(destination, request)
    const fields: Record<string, string> = { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }
    return {
      ...response,
      status: 200,
      header: (name) => fields[name],
      body: { [Symbol.asyncIterator]: () => iterator },
    }
  }
  const client = new TestClient(mcpPlan(['a']), compressed)
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' }
  await client.send({ headers, message: { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta } } })
  expect(givenUp).toBe(1)
})
