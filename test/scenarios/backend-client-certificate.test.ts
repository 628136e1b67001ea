import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  backendYaml,
  createObjectsFolder,
  joinYaml,
  listenersYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { authoritiesYaml, tlsSecretYaml } from '#test/support/tls-objects.ts'
import { verifies } from '#test/support/verifies.ts'

const stops = new AsyncDisposableStack()
const ports = { with: 0, without: 0, broken: 0 }
let folder: ObjectsFolder
let gateway: TestGateway

/** Asks for a client certificate and answers with its common name. */
async function startServer(): Promise<number> {
  const server = createServer(
    { ...CERTIFICATES.server, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      response.end(String((request.socket as TLSSocket).getPeerCertificate().subject?.CN))
    },
  )
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve))
  stops.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

function gatewayYaml(name: keyof typeof ports, secret?: string): string {
  const tls = secret === undefined ? '' : `  tls: { backend: { clientCertificateRef: { name: ${secret} } } }\n`
  return listenersYaml(name, [`{ name: http, protocol: HTTP, port: ${ports[name]} }`], tls)
}

/** A route of all three Gateways. */
function sharedRouteYaml(name: string): string {
  return routeYaml(name, `/${name}`, name).replace(
    '[{ name: main }]',
    '[{ name: with }, { name: without }, { name: broken }]',
  )
}

beforeAll(async () => {
  const port = await startServer()
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await freePort()
  const tls = { caCertificateRefs: [{ name: 'trusted' }] }
  folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml('with', 'client'),
      gatewayYaml('without'),
      gatewayYaml('broken', 'nothing'),
      authoritiesYaml('trusted', CERTIFICATES.ca),
      tlsSecretYaml('workload', CERTIFICATES.workload),
      ...['usual', 'own'].map((name) => joinYaml(backendYaml(name, port), sharedRouteYaml(name))),
      policyYaml('usual', 'ProxyBackend', 'usual', { backend: { tls } }),
      policyYaml('own', 'ProxyBackend', 'own', {
        backend: { tls: { ...tls, mtlsCertificateRef: [{ name: 'workload' }] } },
      }),
      backendYaml('plain', echo.port),
      sharedRouteYaml('plain'),
    ),
    'client.yaml': tlsSecretYaml('client', CERTIFICATES.client),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

async function ask(name: keyof typeof ports, path: string): Promise<[status: number, text: string]> {
  const response = await fetch(gateway.url(ports[name]) + path)
  return [response.status, await response.text()]
}

test('a Gateway shows its certificate to backends with TLS', async () => {
  expect(await ask('with', '/usual')).toEqual([200, 'client.test'])
  expect((await ask('with', '/plain'))[0]).toBe(200)
})

verifies(
  'backend.tls/mtlsCertificateRef-absent',
  'connections of another Gateway to the same backend have no certificate',
  async () => {
    expect(await ask('without', '/usual')).toEqual([200, 'undefined'])
    expect(await ask('with', '/usual')).toEqual([200, 'client.test'])
  },
)

verifies(
  'backend.tls/mtlsCertificateRef',
  'the certificate in the Secret of the backend is presented, and takes precedence',
  async () => {
    for (const name of ['with', 'without', 'broken'] as const)
      expect(await ask(name, '/own')).toEqual([200, 'common.test'])
  },
)

test('without its certificate a Gateway sends nothing over TLS', async () => {
  expect(await ask('broken', '/usual')).toEqual([500, 'invalid backend configuration'])
  expect((await ask('broken', '/plain'))[0]).toBe(200)
  expect(gateway.output.stderr).toContain('Secret default/nothing')
})

test('a replaced certificate is shown on new connections', async () => {
  await folder.write('client.yaml', tlsSecretYaml('client', CERTIFICATES.mesh))
  await eventually('the new certificate is in use', async () => (await ask('with', '/usual'))[1] !== 'client.test')
  const [status, name] = await ask('with', '/usual')
  expect(status).toBe(200)
  expect(name).not.toBe('undefined')
})
