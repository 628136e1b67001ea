import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { backendYaml, joinYaml } from '../../support/objects-folder.ts'
import { policyYaml } from '../../support/policy-yaml.ts'
import { authoritiesYaml } from '../../support/tls-objects.ts'
import { installedGoProgram, startServer } from '../counterparts.ts'
import { proxyBackend, startFront } from '../front.ts'
import type { Transcript } from '../transcript.ts'
import { Authority } from './authority.ts'
import { isOpen, partFolder } from './proxy-software.ts'

const PROGRAMS = 'google.golang.org/grpc/interop'
const VERSION = 'v1.85.0'
/** Those of the client that need no credentials of a cloud, and that its own server passes without a gateway. */
const TEST_CASES = [
  'empty_unary',
  'large_unary',
  'client_streaming',
  'server_streaming',
  'ping_pong',
  'empty_stream',
  'timeout_on_sleeping_server',
  'cancel_after_begin',
  'cancel_after_first_response',
  'status_code_and_message',
  'special_status_message',
  'custom_metadata',
  'unimplemented_method',
  'unimplemented_service',
]

/** The client and the server with which the implementations of gRPC test each other, in Go, through the gateway. */
export async function checkGrpc(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const server = installedGoProgram('grpc-server', `${PROGRAMS}/server@${VERSION}`)
  const client = installedGoProgram('grpc-client', `${PROGRAMS}/client@${VERSION}`)
  const root = Authority.root(partFolder(stops), 'root')
  const { cert, key } = root.issue('server', { names: 'DNS:server.test' })
  const secure = ['-use_tls', '-tls_cert_file', cert, '-tls_key_file', key]
  const tls = { caCertificateRefs: [{ name: 'trusted' }], sni: 'server.test' }
  for (const [what, words, backend] of [
    ['plain text', [], { http: { version: 'HTTP2' } }],
    ['TLS', secure, { tls }],
  ] as const) {
    const port = await freePort()
    stops.use(startServer(server, { words: ['-port', String(port), ...words] }))
    await eventually('the server listens', () => isOpen(port))
    const front = await startFront(
      stops,
      authoritiesYaml('trusted', root.pem),
      joinYaml(backendYaml('calls', port), policyYaml('calls', 'ProxyBackend', 'calls', { backend })),
      `
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: { name: calls }
spec: ${JSON.stringify({ parentRefs: [{ name: 'main' }], rules: [{ backendRefs: [proxyBackend('calls')] }] })}
`,
    )
    for (const testCase of TEST_CASES) {
      transcript.check(`${what}: ${testCase}`, await runClient(client, front.port, testCase), 'passed')
    }
  }
}

/** `passed`, or the last line of the client. */
async function runClient(client: string, port: number, testCase: string): Promise<string> {
  const words = ['-server_host', '127.0.0.1', '-server_port', String(port), '-test_case', testCase]
  const child = spawn(client, words, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 30_000 })
  let said = ''
  child.stderr.on('data', (bytes: Buffer) => {
    said += bytes
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return code === 0 ? 'passed' : (said.trim().split('\n').at(-1) ?? '')
}
