import { afterEach, expect, test, vi } from 'vitest'
import { policyDefinition } from '#api/policy-fields.ts'
import { type StageDefinition, Stages } from '#base/incremental/stage.ts'
import { apiClient } from '#test/support/api-client.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder } from '#test/support/objects-folder.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

let stops = new AsyncDisposableStack()
afterEach(async () => {
  await stops.disposeAsync()
  stops = new AsyncDisposableStack()
  vi.restoreAllMocks()
})

const GATEWAY_API = 'gateway.networking.k8s.io'
const ROUTES = `/apis/${GATEWAY_API}/v1/namespaces/default/httproutes`
const POLICIES = '/apis/gatewright.dev/v1alpha1/namespaces/default/proxypolicies'

const gatewayOn = (port: number) => `
apiVersion: ${GATEWAY_API}/v1
kind: Gateway
metadata: { name: main }
spec:
  gatewayClassName: gatewright
  listeners: [{ name: http, protocol: HTTP, port: ${port} }]
`

const route = (name: string, path: string) => ({
  metadata: { name },
  spec: { parentRefs: [{ name: 'main' }], rules: [{ matches: [{ path: { type: 'PathPrefix', value: path } }] }] },
})

const policy = (name: string, routeName: string, traffic: object) => ({
  metadata: { name },
  spec: { targetRefs: [{ group: GATEWAY_API, kind: 'HTTPRoute', name: routeName }], traffic },
})

/** Lets the translation of every object with the name `broken` throw. */
function breakTranslation(): void {
  const add = Stages.prototype.add
  vi.spyOn(Stages.prototype, 'add').mockImplementation(function <Row>(this: Stages, stage: StageDefinition<Row>) {
    add.call(this, {
      ...stage,
      run(rows: readonly Row[], work, key) {
        if (key.endsWith('/broken')) throw new RangeError('a bug')
        stage.run(rows, work, key)
      },
    })
  })
}

test('while the translation of some objects fails, writes of others are answered and in force', async () => {
  breakTranslation()
  const [port, state] = [await freePort(), temporaryFolder()]
  const objects = await createObjectsFolder({ 'gateway.yaml': gatewayOn(port) })
  stops.defer(() => objects.remove())
  const environment = { GATEWRIGHT_API_ADDR: '127.0.0.1:0' }
  const gateway = await startGateway({ files: [objects.path], workers: 1, stateFolder: state, environment })
  stops.defer(async () => void (await gateway.close()))
  const call = apiClient(state)
  const write = async (path: string, body: object) => (await call(path, { method: 'POST', body })).status
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`)
    return `${answer.status} ${await answer.text()}`
  }
  const answering = (body: string) => ({ directResponse: { status: 200, body } })

  expect(await write(ROUTES, route('broken', '/'))).toBe(201)
  expect(await write(ROUTES, route('guarded', '/guarded'))).toBe(201)
  expect(
    await write(POLICIES, policy('broken', 'guarded', { authorization: { policy: { matchExpressions: ['true'] } } })),
  ).toBe(201)
  expect(await write(ROUTES, route('good', '/good'))).toBe(201)
  expect(await write(POLICIES, policy('good', 'good', answering('one')))).toBe(201)
  await eventually('the policy is in force', async () => (await ask('/good')) === '200 one')
  expect(await ask('/guarded')).toMatch(/^500 .*policy/)
  expect(await ask('/else')).toMatch(/^500 no valid backends/)
  expect(gateway.output.stderr).toMatch(
    /error\ta bug in the gateway decision=main\n +stage policies, key ProxyPolicy\/default\/broken: RangeError: a bug/,
  )
  const { metadata, ...changed } = policy('good', 'good', answering('two'))
  expect((await call(`${POLICIES}/${metadata.name}`, { method: 'PATCH', body: changed })).status).toBe(200)
  await eventually('the change is in force', async () => (await ask('/good')) === '200 two')
  expect((await call(`${POLICIES}/broken`, { method: 'DELETE' })).status).toBe(200)
  await eventually(
    'the route is served without the policy',
    async () => (await ask('/guarded')) === '500 no valid backends',
  )
})

const gatewayNamed = (name: string, port: number) => ({
  metadata: { name },
  spec: { gatewayClassName: 'gatewright', listeners: [{ name: 'http', protocol: 'HTTP', port }] },
})

test('a frontend policy that cannot be compiled closes its own ports only', async () => {
  const definition = policyDefinition('frontend', 'networkAuthorization')!
  const { compile } = definition
  vi.spyOn(definition, 'compile').mockImplementation((sources, context) => {
    if (sources.some(({ origin }) => origin.name === 'broken')) throw new RangeError('a bug')
    return compile(sources, context)
  })
  const [port, other, state] = [await freePort(), await freePort(), temporaryFolder()]
  const objects = await createObjectsFolder({ 'gateway.yaml': gatewayOn(port) })
  stops.defer(() => objects.remove())
  const environment = { GATEWRIGHT_API_ADDR: '127.0.0.1:0' }
  const gateway = await startGateway({ files: [objects.path], workers: 1, stateFolder: state, environment })
  stops.defer(async () => void (await gateway.close()))
  const call = apiClient(state)
  const write = async (path: string, body: object) => (await call(path, { method: 'POST', body })).status
  const answers = (at: number) =>
    fetch(`http://127.0.0.1:${at}/`).then(
      ({ status }) => status,
      () => 'closed',
    )
  const broken = {
    metadata: { name: 'broken' },
    spec: {
      targetRefs: [{ group: GATEWAY_API, kind: 'Gateway', name: 'main' }],
      frontend: { networkAuthorization: { policy: { matchExpressions: ['source.port > 0'] } } },
    },
  }
  expect(await answers(port)).toBe(404)
  expect(await write(POLICIES, broken)).toBe(201)
  await eventually('its port is closed', async () => (await answers(port)) === 'closed')
  expect(await write(`/apis/${GATEWAY_API}/v1/namespaces/default/gateways`, gatewayNamed('other', other))).toBe(201)
  await eventually('another port is open', async () => (await answers(other)) === 404)
  expect(await answers(port)).toBe('closed')
  expect((await call(`${POLICIES}/broken`, { method: 'DELETE' })).status).toBe(200)
  await eventually('its port is open', async () => (await answers(port)) === 404)
})
