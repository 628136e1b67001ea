import type { LoadSdk, PairClient, PairServer, Wire } from '../pair.ts'
import { type PairSession, runScenarios } from '../scenarios.ts'
import { connectTypescript1 } from './client-1.ts'
import { connectTypescript2 } from './client-2.ts'
import { startTypescript1 } from './server-1.ts'
import { startTypescript2 } from './server-2.ts'

/** Starts the servers made with the SDKs for TypeScript, which are development dependencies of the project. */
export const loadTypescript: LoadSdk = async (stops) => {
  const first = await startTypescript1()
  stops.defer(first.close)
  const second = await startTypescript2()
  stops.defer(second.close)
  const servers: readonly PairServer[] = [
    { name: 'typescript-1', port: first.port, paths: { http: '/mcp', sse: '/sse' } },
    { name: 'typescript-2', port: second.port, paths: { http: '/mcp' } },
  ]
  return { servers, clients: CLIENTS }
}

const CLIENTS: readonly PairClient[] = [
  client('typescript-1', 'http', (url) => connectTypescript1(url)),
  client('typescript-2 legacy', 'http', (url) => connectTypescript2(url, 'legacy')),
  client('typescript-2 auto', 'http', (url) => connectTypescript2(url, 'auto')),
  client('typescript-1 sse', 'sse', (url) => connectTypescript1(url, 'sse')),
  client('typescript-2 sse', 'sse', (url) => connectTypescript2(url, 'legacy', 'sse')),
]

function client(name: string, wire: Wire, connect: (url: string) => Promise<PairSession>): PairClient {
  const cannot = wire === 'sse' ? { resume: '- HTTP with SSE has no resumption' } : {}
  return { name, wire, run: (endpoint) => runScenarios(() => connect(endpoint.url), endpoint, cannot) }
}
