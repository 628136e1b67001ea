import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { StatusReport } from '#admin/status-report.ts'
import type { GatewayObject } from '#api/gateway.ts'
import type { ProxyParametersObject, ProxyParametersSpec } from '#api/proxy-parameters.ts'
import { meshSource } from '#cli/mesh-source.ts'
import { statusLines } from '#cli/status/status-lines.ts'
import { frame, startServer } from '#deliver/testing.ts'
import type { Manifest } from '#deploy/manifest.ts'
import { render } from '#deploy/render.ts'
import { defaultSettings } from '#deploy/settings.ts'
import { ProxyInstance } from '#instance/proxy-instance.ts'
import { startFakeCa } from '#mesh/testing.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { PROXY_WORKER, QUIET_EVENTS } from '#test/support/instance.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { verifies } from '#test/support/verifies.ts'
import { readSessionKeys } from '#workers/sealer.ts'
import { startThreadOf } from '#workers/worker-pool.ts'

// A proxy with the environment that its Gateway gives it, a controller, and the CA of a mesh.

const HOUR_MS = 3_600_000

/** The variables in the pod of a Gateway `shop/main` with these parameters. */
function environmentOf(mesh: ProxyParametersSpec['mesh']): Readonly<Record<string, string>> {
  const gateway = admitObject({
    kind: 'Gateway',
    metadata: { name: 'main', namespace: 'shop' },
    spec: { gatewayClassName: 'gatewright', listeners: [] },
  })
  const parameters = admitObject({ kind: 'ProxyParameters', metadata: { name: 'own' }, spec: { mesh } })
  const { objects = [] } = render({
    gateway: gateway as unknown as GatewayObject,
    ports: [80],
    parameters: [parameters as unknown as ProxyParametersObject],
    settings: defaultSettings('1.2.3'),
  })
  const { metadata, spec } = objects.find(({ kind }) => kind === 'Deployment') as unknown as Deployment
  const { serviceAccountName, containers } = spec.template.spec
  // As the kubelet does.
  const fields: Readonly<Record<string, string>> = {
    'metadata.namespace': metadata.namespace,
    'spec.serviceAccountName': serviceAccountName,
  }
  return Object.fromEntries(
    containers[0]!.env.map(({ name, value, valueFrom }) => [
      name,
      value ?? fields[valueFrom?.fieldRef?.fieldPath ?? ''] ?? '',
    ]),
  )
}

type Deployment = Manifest & {
  readonly metadata: { readonly namespace: string }
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string
        readonly containers: readonly {
          readonly env: readonly {
            readonly name: string
            readonly value?: string
            readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } }
          }[]
        }[]
      }
    }
  }
}

const LOCAL = { host: '127.0.0.1', port: 0 }

async function startProxy(mesh: ProxyParametersSpec['mesh'], files: { rootsFile: string; tokenFile: string }) {
  const server = await startServer(frame())
  const logged: string[] = []
  const { NAMESPACE, SERVICE_ACCOUNT, CA_ADDRESS, TRUST_DOMAIN } = environmentOf(mesh)
  const proxy = await ProxyInstance.start(
    {
      ...{ workers: 1, bind: '127.0.0.1', admin: LOCAL, metrics: LOCAL, readiness: LOCAL, state: undefined },
      ...{ logFormat: 'text', logFile: '/dev/null', transport: 'auto', bodyMemoryBytes: 2 ** 24 },
      shutdown: { minMs: 0, maxMs: 0 },
      sessionKeys: readSessionKeys({}),
      startThread: startThreadOf(PROXY_WORKER),
      ...{ controller: { url: server.url }, identity: 'pod-1' },
      mesh: { ...meshSource({ NAMESPACE, SERVICE_ACCOUNT, CA_ADDRESS, TRUST_DOMAIN })!, ...files },
    },
    { ...QUIET_EVENTS, message: (module, level, message) => void logged.push(`${module} ${level} ${message}`) },
  )
  onTestFinished(() => proxy.close())
  const text = async (port: number, path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
  return {
    logged,
    ready: async () => (await text(proxy.ports.readiness, '/healthz/ready')).trim(),
    metrics: () => text(proxy.ports.metrics, '/metrics'),
    status: async () => (await (await fetch(`${proxy.adminUrl}/status`)).json()) as StatusReport,
  }
}

verifies(
  ['parameters.mesh/caAddress', 'parameters.mesh/trustDomain', 'parameters.mesh/trustDomain-default'],
  'a proxy is ready when the CA of its mesh has given it a certificate, and renews it',
  async () => {
    using time = new PassingTime()
    await using ca = await startFakeCa({ forMs: 2 * HOUR_MS })
    const folder = temporaryFolder()
    const files = { rootsFile: join(folder, 'roots.pem'), tokenFile: join(folder, 'token') }
    writeFileSync(files.tokenFile, 'secret-token\n')
    const { ready, status, metrics, logged } = await startProxy({ caAddress: ca.url }, files)
    const says = (text: string) => time.sooner(text, async () => (await ready()).includes(text) || undefined)

    const id = 'spiffe://cluster.local/ns/shop/sa/main'
    await says(
      `not ready: there is no certificate of the mesh for ${id}: there are no root certificates in ${files.rootsFile}: entry root-cert.pem of ConfigMap istio-ca-root-cert in namespace shop is missing; retrying`,
    )
    expect((await status()).mesh).toMatchObject({
      id,
      ca: ca.url,
      failure: expect.stringContaining('istio-ca-root-cert'),
    })

    const issue = ca.answer
    ca.answer = async () => ({ status: 16, message: 'not the token secret-token' })
    writeFileSync(`${files.rootsFile}.new`, ca.roots)
    renameSync(`${files.rootsFile}.new`, files.rootsFile)
    await says(`${ca.url}: it refused: UNAUTHENTICATED: not the token ***; retrying`)
    expect(ca.seen[0]).toEqual({ authorization: 'Bearer secret-token', lifeSeconds: 86_400, uris: [id] })
    expect(await metrics()).toMatch(/^gatewright_mesh_certificate_failures_total\{reason="refused"\} [1-9]/m)

    ca.answer = issue
    await time.sooner('ready', async () => (await ready()) === 'ready' || undefined)
    const { mesh, notReady } = await status()
    expect(notReady).toEqual([])
    expect(Object.keys(mesh!).sort()).toEqual(['ca', 'expiresAt', 'id', 'issuedAt', 'renewsAt'])
    const expiry = `gatewright_certificate_expiry_timestamp_seconds{object="${id}",entry="certificate"} ${Date.parse(mesh!.expiresAt!) / 1000}`
    expect(await metrics()).toContain(expiry)
    expect(await metrics()).toContain('object="ConfigMap/shop/istio-ca-root-cert",entry="root-cert.pem"')

    time.skip(1.2 * HOUR_MS)
    const renewed = await time.sooner('it is renewed', async () => {
      const { mesh: now } = await status()
      return now!.issuedAt === mesh!.issuedAt ? undefined : now
    })
    expect(Date.parse(renewed.expiresAt!)).toBeGreaterThan(Date.parse(mesh!.expiresAt!))

    ca.answer = async () => ({ status: 14, message: 'away' })
    time.skip(1.2 * HOUR_MS)
    await time.sooner('it cannot be renewed', async () => (await status()).mesh!.failure !== undefined || undefined)
    expect(await ready()).toMatch(/^ready/)
    time.skip(HOUR_MS)
    await says('ready; the certificate of the mesh expired at 20')
    const lines = statusLines(await status()).map((line) => line.map(({ text }) => text).join(' '))
    expect(lines).toContainEqual(expect.stringMatching(`^${id} in the mesh the certificate expired at 20.*Z$`))
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}since 20.*Z: https:.* it refused: UNAVAILABLE: away$/))
    expect(logged.filter((line) => line.startsWith('mesh '))).toEqual([
      'mesh warn there is no certificate of the mesh',
      'mesh warn there is no certificate of the mesh',
      'mesh info certificate of the mesh issued',
      'mesh info certificate of the mesh issued',
      'mesh warn the certificate of the mesh cannot be renewed',
      'mesh error the certificate of the mesh has expired; no tunnel can be opened or accepted',
    ])
  },
)
