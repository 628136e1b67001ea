import { expect, test } from 'vitest'
import { fakeTargets, TestClient } from '#test/support/fake-targets.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const META = { [VERSION]: '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
const FIELDS = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'a_x' }

/** Sends a tool call. @returns the status, the code of the error, and whether the target got the call */
async function call(headers: Record<string, string | undefined>, params: object = {}, method = 'tools/call') {
  const { call, seen } = fakeTargets({
    a: ({ message }) => {
      const result = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, content: [] }
      return { json: { jsonrpc: '2.0', id: message?.id, result } }
    },
  })
  const client = new TestClient(mcpPlan(['a']), call)
  const message = { jsonrpc: '2.0', id: 1, method, params: { name: 'a_x', _meta: META, ...params } }
  const { status, messages } = await client.send({ message, headers: { ...FIELDS, ...headers } })
  return [status, messages[0]?.error?.code, seen.some(({ message }) => message?.method === method)]
}

test.each<[what: string, headers: Record<string, string | undefined>, params?: object, method?: string]>([
  ['all fields agree', {}],
  ['the name is encoded', { 'mcp-name': `=?base64?${btoa('a_x')}?=` }],
])('a request passes if %s', async (_, ...request) => {
  expect(await call(...request)).toEqual([200, undefined, true])
})

test.each<[what: string, code: number, headers: Record<string, string | undefined>, params?: object]>([
  ['Mcp-Method is another one', -32020, { 'mcp-method': 'tools/list' }],
  ['Mcp-Method is missing', -32020, { 'mcp-method': undefined }],
  ['Mcp-Name is another one', -32020, { 'mcp-name': 'a_y' }],
  ['Mcp-Name is missing', -32020, { 'mcp-name': undefined }],
  ['Mcp-Name cannot be decoded', -32020, { 'mcp-name': '=?base64?*?=' }],
  ['the body names another revision', -32020, {}, { _meta: { ...META, [VERSION]: '2025-11-25' } }],
  ['the body names no revision', -32602, {}, { _meta: { ...META, [VERSION]: undefined } }],
  ['the body names no capabilities', -32602, {}, { _meta: { [VERSION]: '2026-07-28' } }],
  ['it names a session', -32602, { 'mcp-session-id': 's' }],
])('a request is refused if %s', async (_, code, ...request) => {
  expect(await call(...request)).toEqual([400, code, false])
})
