import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { PinnedProcess } from './pinned-process.ts'
import { LOAD_CORE, projectFile } from './settings.ts'

/** The certificate of all candidates, in the format that each of them requires. */
function writeCertificate(scratch: string): void {
  const { cert, key } = CERTIFICATES.server
  writeFileSync(join(scratch, 'tls.crt'), cert)
  writeFileSync(join(scratch, 'tls.key'), key)
  writeFileSync(join(scratch, 'tls.pem'), cert + key)
  mkdirSync(join(scratch, 'objects'))
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'bench-tls' },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': cert, 'tls.key': key },
  }
  writeFileSync(join(scratch, 'objects', 'certificate.yaml'), JSON.stringify(secret))
}

/**
 * Starts the upstreams of all candidates: nginx for requests, `sse/event-server.ts` for event streams, `callouts/answer-server.ts` for
 * questions, `balance/endpoint-server.ts` for the choice of an endpoint.
 */
export function startUpstreams(scratch: string): readonly PinnedProcess[] {
  mkdirSync(join(scratch, 'temp'))
  mkdirSync(join(scratch, 'www'))
  writeCertificate(scratch)
  writeFileSync(join(scratch, 'www', 'mcp-list'), toolList(100))
  writeFileSync(join(scratch, 'www', '10k'), '0123456789abcdef'.repeat(640))
  const files = ['nginx', '-p', scratch, '-c', projectFile('bench/servers/upstream.nginx.conf')]
  const events = [process.execPath, projectFile('bench/sse/event-server.ts')]
  const answers = [process.execPath, projectFile('bench/callouts/answer-server.ts')]
  const endpoints = [process.execPath, projectFile('bench/balance/endpoint-server.ts')]
  return [
    new PinnedProcess({ name: 'upstream', core: LOAD_CORE, command: files, scratch }),
    new PinnedProcess({ name: 'events', core: LOAD_CORE, command: events, scratch }),
    new PinnedProcess({ name: 'answers', core: LOAD_CORE, command: answers, scratch }),
    new PinnedProcess({ name: 'endpoints', core: LOAD_CORE, command: endpoints, scratch }),
  ]
}

/** The response to `tools/list` of a server with so many tools, about 300 bytes each. */
function toolList(count: number): string {
  const tools = Array.from({ length: count }, (_, index) => ({
    name: `tool-${index}`,
    title: `Tool number ${index}`,
    description: 'Looks up what was measured at a place between two days, and returns one line per hour of it.',
    inputSchema: {
      type: 'object',
      properties: { place: { type: 'string' }, from: { type: 'string', format: 'date' }, to: { type: 'string' } },
      required: ['place', 'from'],
    },
    annotations: { readOnlyHint: true },
  }))
  return JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools } })
}
