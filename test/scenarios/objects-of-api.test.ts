import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readKubeconfig } from '#cluster/kubeconfig.ts'
import { gatewright } from '#test/support/command-line.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, type ObjectsFolder } from '#test/support/objects-folder.ts'

let folder: ObjectsFolder
let gateway: TestGateway
let state: string
let port: number

beforeAll(async () => {
  port = await freePort()
  folder = await createObjectsFolder({ 'objects.yaml': OBJECTS(port) })
  state = join(folder.path, '.state')
  mkdirSync(state)
  gateway = await startGateway({
    files: [folder.path],
    workers: 1,
    stateFolder: state,
    environment: { GATEWRIGHT_API_ADDR: '127.0.0.1:0' },
  })
})
afterAll(async () => {
  await gateway.close()
  await folder.remove()
})

const OBJECTS = (port: number) => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: main }
spec:
  gatewayClassName: gatewright
  infrastructure: { parametersRef: { group: gatewright.dev, kind: ProxyParameters, name: main } }
  listeners: [{ name: http, protocol: HTTP, port: ${port} }]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: shop }
spec:
  parentRefs: [{ name: main }]
  rules:
    - backendRefs: [{ name: missing, port: 80 }]
---
apiVersion: gatewright.dev/v1alpha1
kind: ProxyParameters
metadata: { name: main }
spec: { podDisruptionBudget: { spec: { $patch: remove } } }
---
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: keys }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop }]
  traffic: { apiKeyAuthentication: { secretRef: { name: keys } } }
---
apiVersion: v1
kind: Secret
metadata: { name: keys }
stringData: { alice: secret-of-alice, bob: secret-of-alice }
---
apiVersion: v1
kind: Secret
metadata: { name: unused }
stringData: { key: secret-of-nobody }
`

test('lint of a running gateway finds what lint of its files finds', async () => {
  const { server } = readKubeconfig(join(state, 'kubeconfig')).cluster
  const fromFiles = await gatewright(['lint', folder.path, '-o', 'json'])
  const fromApi = await gatewright(['lint', '--server', String(server), '--state', state, '-o', 'json'])
  const codes = (text: string) =>
    JSON.parse(text).problems.map(({ code, object }: Record<string, unknown>) => `${object} ${code}`)
  expect(codes(fromFiles.stdout)).toEqual([
    'HTTPRoute default/shop backend-not-found',
    'ProxyParameters default/main parameters-only-on-kubernetes',
    'ProxyPolicy default/keys api-key-duplicate',
  ])
  expect(codes(fromApi.stdout).toSorted()).toEqual(codes(fromFiles.stdout))
  expect(fromApi).toMatchObject({ code: 1, stderr: '' })
  expect(fromApi.stdout).not.toContain('secret-of')
})

test('explain of a running gateway decides as with its files', async () => {
  const words = ['explain', `http://127.0.0.1:${port}/`, '-H', 'authorization: Bearer secret-of-alice']
  const fromFiles = await gatewright([...words, '-f', folder.path])
  const fromApi = await gatewright([...words, '--kubeconfig', join(state, 'kubeconfig')])
  const withoutPlaces = fromFiles.stdout.replaceAll(/ \([^()]*objects\.yaml:\d+\)/g, '')
  expect(withoutPlaces).not.toBe(fromFiles.stdout)
  expect(fromApi.stdout).toBe(withoutPlaces)
  expect(fromApi.stdout).toContain('apiKeyAuthentication')
  expect(fromApi.stdout).not.toContain('secret-of')
})

test('problems of objects of an API are printed with the names of the objects', async () => {
  const { stdout } = await gatewright(['lint', '--kubeconfig', join(state, 'kubeconfig')])
  expect(stdout).toMatch(
    /^error: spec\.rules\[0\].*: HTTPRoute default\/shop: Service default\/missing not found.* \[backend-not-found\]$/m,
  )
  expect(stdout, 'as in a cluster').not.toContain('parameters-only-on-kubernetes')
  expect(stdout).toMatch(/^error: .*: ProxyParameters default\/main: .* \[parameters-invalid\]$/m)
})

test('a state folder without kubeconfig, and files besides an API, are errors', async () => {
  const empty = join(folder.path, '.empty')
  const missing = await gatewright(['lint', '--server', 'https://127.0.0.1:1', '--state', empty])
  expect(missing).toMatchObject({ code: 1, stdout: '' })
  expect(missing.stderr).toMatch(/no gateway has served its API with this state folder/)
  const both = await gatewright(['lint', folder.path, '--kubeconfig', 'x'])
  expect(both).toEqual({
    code: 2,
    stdout: '',
    stderr: 'gatewright: files cannot be combined with --server or --kubeconfig\n',
  })
})
