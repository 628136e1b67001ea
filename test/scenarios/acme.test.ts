import { once } from 'node:events'
import http from 'node:http'
import { join } from 'node:path'
import tls from 'node:tls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type FakeAcmeServer, startFakeAcmeServer } from '#acme/testing.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder } from '#test/support/objects-folder.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

const stops = new AsyncDisposableStack()
let ports: { readonly http: number; readonly https: number }
let acme: FakeAcmeServer
let objects: string
let stateFolder: string

/** Everything is redirected, and nobody may ask: challenges are answered all the same. */
const objectsText = () => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: main, annotations: { gatewright.dev/acme: "${acme.directory}" } }
spec:
  gatewayClassName: gatewright
  listeners:
    - { name: http, protocol: HTTP, port: ${ports.http} }
    - name: https
      protocol: HTTPS
      port: ${ports.https}
      hostname: shop.test
      tls: { certificateRefs: [{ name: door }] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: everything }
spec:
  parentRefs: [{ name: main }]
  rules: [{ filters: [{ type: RequestRedirect, requestRedirect: { scheme: https } }] }]
---
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: closed }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: main }]
  traffic: { authorization: { action: Deny, policy: { matchExpressions: ["true"] } } }
`

beforeEach(async () => {
  ports = { http: await freePort(), https: await freePort() }
  acme = stops.use(await startFakeAcmeServer((_, path) => `http://127.0.0.1:${ports.http}${path}`))
  const folder = await createObjectsFolder({ 'gateway.yaml': objectsText() })
  stops.defer(() => folder.remove())
  objects = folder.path
  stateFolder = join(temporaryFolder(), 'state')
})

afterEach(() => stops.disposeAsync())

/** Serial number of the certificate for the host; undefined: the handshake fails. */
async function serial(): Promise<string | undefined> {
  const socket = tls.connect({
    port: ports.https,
    host: '127.0.0.1',
    servername: 'shop.test',
    rejectUnauthorized: false,
  })
  try {
    await once(socket, 'secureConnect')
    const { serialNumber, subjectaltname } = socket.getPeerCertificate()
    expect(subjectaltname).toBe('DNS:shop.test')
    return serialNumber
  } catch {
    return undefined
  } finally {
    socket.destroy()
  }
}

test('a gateway gets the certificate of a listener, and has it after a restart', async () => {
  const options = { files: [objects], stateFolder, workers: 1 }
  const first = await startGateway(options)
  const issued = await eventually('the handshake works', serial)
  const other = await once(http.get(`http://127.0.0.1:${ports.http}/.well-known/acme-challenge/x/y`), 'response')
  expect((other[0] as http.IncomingMessage).statusCode).toBe(403)
  expect(first.output.stderr).toContain('certificate-awaited')
  expect(first.output.stderr).toContain('certificate issued')
  expect(first.output.stderr).not.toContain('PRIVATE')
  await first.close()

  const asked = acme.requests.length
  const second = stops.use(await startGateway(options))
  expect(await serial()).toBe(issued)
  expect(acme.requests).toHaveLength(asked)
  expect(second.output.stderr).not.toContain('certificate-awaited')
})
