import tls from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadPlan } from '#cli/load-plan.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { FileStore } from '#store/files.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

const stops = new AsyncDisposableStack()
const ports = { good: 0, mixed: 0, wrong: 0, clients: 0 }
let folder: Awaited<ReturnType<typeof createObjectsFolder>>
let gateway: TestGateway

const GARBAGE = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'

function objectYaml(object: object): string {
  return `\n${JSON.stringify(object)}\n`
}

function secretYaml(name: string, cert: string, key: string): string {
  return objectYaml({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name } },
    stringData: { 'tls.crt': cert, 'tls.key': key },
  })
}

function listener(name: keyof typeof ports, certificates: string[], more: object = {}): object {
  const certificateRefs = certificates.map((certificate) => ({ name: certificate }))
  return { name, protocol: 'HTTPS', port: ports[name], tls: { certificateRefs, ...more } }
}

beforeAll(async () => {
  for (const name of ['good', 'mixed', 'wrong', 'clients'] as const) ports[name] = await freePort()
  const { server, client } = CERTIFICATES
  const caCertificateRefs = [{ group: '', kind: 'ConfigMap', name: 'garbage' }]
  const listeners = [
    listener('good', ['door']),
    listener('mixed', ['stolen', 'door']),
    listener('wrong', ['stolen']),
    listener('clients', ['door'], { frontendValidation: { caCertificateRefs } }),
  ]
  folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      objectYaml({
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'Gateway',
        metadata: { name: 'main' },
        spec: { gatewayClassName: 'gatewright', listeners },
      }),
      secretYaml('door', server.cert, server.key),
      secretYaml('stolen', server.cert, client.key),
      objectYaml({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'garbage' }, data: { 'ca.crt': GARBAGE } }),
      backendYaml('one', 1),
      backendYaml('other', 1),
      routeYaml('one', '/one', 'one'),
      routeYaml('other', '/other', 'other'),
      policyYaml('one', 'ProxyBackend', 'one', { backend: { tls: { mtlsCertificateRef: [{ name: 'stolen' }] } } }),
      policyYaml('other', 'ProxyBackend', 'other', { backend: { tls: { caCertificateRefs: [{ name: 'garbage' }] } } }),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

const MISFIT = 'Secret default/stolen: the certificate and the key do not match'
const UNREADABLE = 'ConfigMap default/garbage: the certificate cannot be read'

test('lint names the reference and its problem', () => {
  const found = loadPlan(new FileStore([folder.path])).findings.filter(({ severity }) => severity === 'error')
  expect(found.map(({ path, code, message }) => `${path} ${code}: ${message}`).sort()).toEqual([
    'spec.backend.tls.caCertificateRefs[0] certificate-missing: ca.crt of ConfigMap garbage: the certificate cannot be read; requests to the backend are refused',
    'spec.backend.tls.mtlsCertificateRef[0] certificate-missing: Secret default/stolen: the certificate and the key do not match; requests to the backend are refused',
    `spec.listeners[1].tls.certificateRefs[0] listener-certificate: ${MISFIT}`,
    `spec.listeners[2].tls.certificateRefs[0] listener-certificate: ${MISFIT}`,
    `spec.listeners[3].tls.frontendValidation.caCertificateRefs[0] listener-client-authority: ${UNREADABLE}`,
  ])
})

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

test('the status of the listeners has the problem', async () => {
  const { objects } = (await (await fetch(`${gateway.url(15000)}/status`)).json()) as {
    objects: { origin: { kind: string }; status?: { listeners?: { name: string; conditions: Condition[] }[] } }[]
  }
  const listeners = objects.find(({ origin }) => origin.kind === 'Gateway')?.status?.listeners ?? []
  const bad = ({ conditions }: { conditions: Condition[] }) =>
    conditions
      .filter(({ type, status }) => status !== (type === 'Conflicted' ? 'False' : 'True'))
      .map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
  expect(Object.fromEntries(listeners.map((each) => [each.name, bad(each)]))).toEqual({
    good: [],
    mixed: [`ResolvedRefs InvalidCertificateRef: ${MISFIT}`],
    wrong: [
      `ResolvedRefs InvalidCertificateRef: ${MISFIT}`,
      `Programmed Invalid: every TLS handshake fails: ${MISFIT}`,
    ],
    clients: [
      `Accepted NoValidCACertificate: ${UNREADABLE}`,
      `ResolvedRefs InvalidCACertificateRef: ${UNREADABLE}`,
      expect.stringMatching(/^Programmed /),
    ],
  })
})

test.each([
  ['good', true],
  ['mixed', true],
  ['wrong', false],
] as const)('handshakes of the listener "%s" succeed: %s', async (name, succeeds) => {
  const outcome = await new Promise<boolean>((resolve) => {
    const client = tls.connect({ host: '127.0.0.1', port: ports[name], rejectUnauthorized: false }, () => {
      client.destroy()
      resolve(true)
    })
    client.on('error', () => resolve(false)).on('close', () => resolve(false))
  })
  expect(outcome).toBe(succeeds)
})
