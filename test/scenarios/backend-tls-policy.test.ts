import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
  serviceYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { authoritiesYaml } from '#test/support/tls-objects.ts'
import { createSigningKey, signToken } from '#test/support/token-issuer.ts'
import { verifies } from '#test/support/verifies.ts'

const stops = new AsyncDisposableStack()
const signingKey = createSigningKey('P-256', 'one')
let folder: ObjectsFolder
let gateway: TestGateway
let port: number
let server: Server
let workload: Server

interface Server {
  readonly port: number
  /** Paths of the requests so far. */
  readonly paths: string[]
  readonly connections: () => number
}

/** Answers with the server name of the connection; `/keys` is a key set. */
async function startServer(certificate: { readonly cert: string; readonly key: string }): Promise<Server> {
  const paths: string[] = []
  let connections = 0
  const listener = createServer(certificate, (request, response) => {
    paths.push(request.url!)
    response.end(request.url === '/keys' ? JSON.stringify({ keys: [signingKey.jwk] }) : serverNameOf(request.socket))
  })
  listener.on('connection', () => {
    connections++
  })
  await new Promise<void>((resolve) => listener.listen({ host: '127.0.0.1', port: 0 }, resolve))
  stops.defer(() => {
    listener.closeAllConnections()
    listener.close()
  })
  return { port: (listener.address() as AddressInfo).port, paths, connections: () => connections }
}

function serverNameOf(socket: object): string {
  return String((socket as TLSSocket & { servername?: string }).servername)
}

const TRUSTED = 'caCertificateRefs: [{ group: "", kind: ConfigMap, name: trusted }]'
const named = (name: string) => `{ ${TRUSTED}, hostname: ${name} }`

function tlsPolicyYaml(name: string, validation: string, target = `group: "", kind: Service, name: ${name}`): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: { name: ${name} }
spec:
  targetRefs: [{ ${target} }]
  validation: ${validation}
`
}

/** A Service under `/<name>`, with a policy of that name. */
function encryptedYaml(name: string, validation: string, at = server.port): string {
  return joinYaml(serviceYaml(name, [at]), tlsPolicyYaml(name, validation))
}

beforeAll(async () => {
  server = await startServer(CERTIFICATES.server)
  workload = await startServer(CERTIFICATES.workload)
  port = await freePort()
  const system = (name: string) => `{ wellKnownCACertificates: System, hostname: ${name} }`
  const alternatives = (names: string) => `{ ${TRUSTED}, hostname: other.test, subjectAltNames: [${names}] }`
  const spiffe = '{ type: URI, uri: "spiffe://cluster.test/ns/default/sa/web" }'
  folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      authoritiesYaml('trusted', CERTIFICATES.ca),
      authoritiesYaml('workloads', CERTIFICATES.workload.cert),
      encryptedYaml('right', named('server.test')),
      encryptedYaml('wrong-name', named('other.test')),
      encryptedYaml('address', named('127.0.0.1')),
      encryptedYaml('wrong-address', named('192.0.2.7')),
      encryptedYaml('system', system('server.test')),
      encryptedYaml(
        'one-of-two',
        alternatives('{ type: URI, uri: "https://a.test" }, { type: Hostname, hostname: server.test }'),
      ),
      encryptedYaml(
        'none-of-two',
        alternatives('{ type: Hostname, hostname: a.test }, { type: Hostname, hostname: b.test }'),
      ),
      encryptedYaml(
        'by-uri',
        `{ caCertificateRefs: [{ group: "", kind: ConfigMap, name: workloads }], hostname: a.test, subjectAltNames: [${spiffe}] }`,
        workload.port,
      ),
      encryptedYaml(
        'no-authority',
        '{ caCertificateRefs: [{ group: "", kind: ConfigMap, name: nothing }], hostname: server.test }',
      ),
      `\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: unreadable }\ndata: { ca.crt: no certificate }\n`,
      ...['nothing', 'unreadable'].flatMap((map) => [
        backendYaml(`policy-${map}`, server.port),
        routeYaml(`policy-${map}`, `/policy-${map}`, `policy-${map}`),
        policyYaml(`policy-${map}`, 'ProxyBackend', `policy-${map}`, {
          backend: { tls: { caCertificateRefs: [{ name: map }] } },
        }),
        `${backendYaml(`own-${map}`, server.port).trimEnd()}\n  policies: { tls: { caCertificateRefs: [{ name: ${map} }] } }\n`,
        routeYaml(`own-${map}`, `/own-${map}`, `own-${map}`),
      ]),
      encryptedYaml('overridden', named('other.test')),
      policyYaml('overriding', 'Service', 'overridden', { backend: { tls: { insecureSkipVerify: 'All' } } }),
      // Weaker than a BackendTLSPolicy, so that nothing here uses it.
      policyYaml('weak', 'Gateway', 'main', { backend: { tls: { caCertificateRefs: [{ name: 'workloads' }] } } }),
      backendYaml('fixed', server.port),
      routeYaml('fixed', '/fixed', 'fixed'),
      tlsPolicyYaml('fixed', named('server.test'), 'group: gatewright.dev, kind: ProxyBackend, name: fixed'),
      encryptedYaml(
        'rotated',
        '{ caCertificateRefs: [{ group: "", kind: ConfigMap, name: rotating }], hostname: server.test }',
      ),
      // Calls of the gateway itself
      routeYaml('calling', '/calling', 'fixed').replace(
        'backendRefs:',
        'filters: [{ type: RequestMirror, requestMirror: { backendRef: { name: right, port: 80 } } }]\n      backendRefs:',
      ),
      policyYaml('calling', 'HTTPRoute', 'calling', {
        traffic: {
          jwtAuthentication: {
            providers: [
              {
                issuer: 'https://id.test',
                jwks: { remote: { jwksPath: '/keys', backendRef: { name: 'right', port: 80 } } },
              },
            ],
          },
          extAuth: { backendRef: { name: 'right', port: 80 }, http: { path: '"/authorize"' } },
        },
      }),
    ),
    'rotating.yaml': authoritiesYaml('rotating', CERTIFICATES.meshCa),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

async function ask(path: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(gateway.url(port) + path, { headers })
  return [response.status, await response.text()]
}

test('the server needs the name and an authority of the policy', async () => {
  expect(await ask('/right')).toEqual([200, 'server.test'])
  expect(await ask('/fixed')).toEqual([200, 'server.test'])
  expect(await ask('/wrong-name')).toEqual([503, 'upstream call failed'])
  expect(await ask('/system')).toEqual([503, 'upstream call failed'])
})

test('an address as name: it is not sent, and the certificate must contain it', async () => {
  expect(await ask('/address')).toEqual([200, 'false'])
  expect(await ask('/wrong-address')).toEqual([503, 'upstream call failed'])
})

test('with alternative names, the server needs one of them, and hostname is only sent', async () => {
  expect(await ask('/one-of-two')).toEqual([200, 'other.test'])
  expect(await ask('/none-of-two')).toEqual([503, 'upstream call failed'])
  expect(await ask('/by-uri')).toEqual([200, 'a.test'])
})

test.each(['no-authority', 'policy-nothing', 'policy-unreadable', 'own-nothing', 'own-unreadable'])(
  'without a usable authority nothing is sent: %s',
  async (name) => {
    const before = server.connections()
    expect(await ask(`/${name}`)).toEqual([500, 'invalid backend configuration'])
    expect(server.connections()).toBe(before)
  },
)

test('a ProxyPolicy of the Service takes precedence', async () => {
  expect((await ask('/overridden'))[0]).toBe(200)
})

verifies('traffic.jwtAuthentication.jwks/backend-tls', 'calls of the gateway itself use TLS, too', async () => {
  const claims = { iss: 'https://id.test', exp: Math.floor(Date.now() / 1000) + 3600 }
  const authorization = `Bearer ${signToken(signingKey, 'ES256', claims)}`
  expect(await ask('/calling', { authorization })).toEqual([200, 'server.test'])
  await eventually('the copy arrives', () => server.paths.filter((path) => path === '/calling').length === 2)
  expect(server.paths).toContain('/authorize')
  expect(server.paths).toContain('/keys')
})

test('a replaced authority applies to the next request', async () => {
  expect((await ask('/rotated'))[0]).toBe(503)
  await folder.write('rotating.yaml', authoritiesYaml('rotating', CERTIFICATES.ca))
  await eventually('the right authority is in use', async () => (await ask('/rotated'))[0] === 200)
  await folder.write('rotating.yaml', authoritiesYaml('rotating', CERTIFICATES.meshCa))
  await eventually('the wrong authority is in use', async () => (await ask('/rotated'))[0] === 503)
})
