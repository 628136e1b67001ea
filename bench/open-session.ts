import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Candidate } from './candidate.ts'
import type { Suite } from './suite.ts'

const PATIENCE_MS = 20_000
const PAUSE_MS = 100

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
})

/**
 * Opens an MCP session with a candidate. @returns the suite within the session
 * @throws Error if the candidate opens none in time
 */
export async function openSession(candidate: Candidate, suite: Suite): Promise<Suite> {
  const { host, port } = candidate.address(suite)
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const session = await initialize({ host, port, path: suite.path, headers: suite.headers }).catch(() => undefined)
    if (session !== undefined) return { ...suite, headers: { ...suite.headers, 'mcp-session-id': session } }
    if (performance.now() > deadline) throw new Error(`${candidate.name} opens no session for suite ${suite.name}`)
    await sleep(PAUSE_MS)
  }
}

async function initialize(options: http.RequestOptions): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
  const request = http.request({ ...options, method: 'POST', agent: false }, (response) => {
    const session = response.headers['mcp-session-id']
    response.resume().on('end', () => resolve(typeof session === 'string' ? session : undefined))
  })
  request.on('error', reject).end(INITIALIZE)
  return promise
}
