import { expect, onTestFinished } from 'vitest'
import { startTestServer } from '#apiserver/testing.ts'
import type { JsonObject } from '#base/json.ts'
import { renderGateways } from '#cli/render/render-gateways.ts'
import { type Step, valueAt } from '#deploy/manifest.ts'
import { defaultSettings } from '#deploy/settings.ts'
import { isJsonArray } from '#patch/json-object.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { verifies } from '#test/support/verifies.ts'

const PATH = '/apis/gatewright.dev/v1alpha1/namespaces/default/proxyparameters/own'
const POD: readonly Step[] = ['spec', 'template', 'spec']
const PROXY: readonly Step[] = [...POD, 'containers', { name: 'proxy' }]

const GATEWAY = {
  kind: 'Gateway',
  metadata: { name: 'main' },
  spec: {
    gatewayClassName: 'gatewright',
    infrastructure: { parametersRef: { group: 'gatewright.dev', kind: 'ProxyParameters', name: 'own' } },
    listeners: [{ name: 'http', port: 8080, protocol: 'HTTP' }],
  },
}

/** ProxyParameters with an overlay of the Deployment, and of the Service. */
function parameters(deployment: JsonObject, service: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'gatewright.dev/v1alpha1',
    kind: 'ProxyParameters',
    metadata: { name: 'own' },
    spec: { deployment: { spec: deployment }, service: { spec: service } },
  }
}

/** What is generated for the Gateway after the parameters are applied as clients do it. */
async function generated(body: JsonObject, way: 'server-side' | 'client-side') {
  const server = await startTestServer()
  onTestFinished(() => server.close())
  if (way === 'client-side') {
    // `kubectl apply` sends a merge patch to change a custom resource: null in it removes the field of the ProxyParameters.
    await server.call(PATH.replace('/own', ''), { method: 'POST', body: { ...body, spec: {} } })
  }
  const type = way === 'server-side' ? 'application/apply-patch+yaml' : 'application/merge-patch+json'
  const headers = { 'content-type': type }
  const { status } = await server.call(`${PATH}?fieldManager=test`, { method: 'PATCH', body, headers })
  expect(status).toBeLessThan(300)
  const { body: stored } = await server.call(PATH)
  const { gateways } = renderGateways([GATEWAY, stored].map(admitObject), defaultSettings('1.2.3'))
  const find = (kind: string) => gateways[0]!.objects?.find((object) => object.kind === kind)
  return { deployment: find('Deployment'), service: find('Service') }
}

verifies('parameters.overlay/null-removes', 'null removes a field with server-side apply, and only then', async () => {
  const body = parameters({ template: { spec: { topologySpreadConstraints: null } } }, { type: null })
  const applied = await generated(body, 'server-side')
  expect(applied.service!.spec).not.toHaveProperty('type')
  expect(valueAt(applied.deployment, POD)).not.toHaveProperty('topologySpreadConstraints')
  const merged = await generated(body, 'client-side')
  expect(merged.service!.spec).toHaveProperty('type', 'LoadBalancer')
  expect(valueAt(merged.deployment, POD)).toHaveProperty('topologySpreadConstraints')
})

verifies('parameters.overlay/patch-delete-apply', '$patch: delete works with both', async () => {
  const spec = {
    securityContext: { sysctls: null, seccompProfile: { $patch: 'delete' } },
    containers: [{ name: 'proxy', env: [{ name: 'POD_NAME', $patch: 'delete' }] }],
  }
  for (const way of ['server-side', 'client-side'] as const) {
    const { deployment } = await generated(parameters({ template: { spec } }), way)
    expect(valueAt(deployment, [...POD, 'securityContext'])).not.toHaveProperty('seccompProfile')
    const env = valueAt(deployment, [...PROXY, 'env'])
    expect(isJsonArray(env) && env.length > 0).toBe(true)
    expect(valueAt(env, [{ name: 'POD_NAME' }])).toBeUndefined()
  }
})
