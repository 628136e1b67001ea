import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { answerJson } from '#test/support/json-server.ts'
import { SUPPORTED } from './check-server.ts'
import { examineCluster } from './examine-cluster.ts'
import {
  answerQuestions,
  DEFINITIONS,
  type ListedObject,
  type Lists,
  RIGHTS,
  SYSTEM,
  startFakeCluster,
  storedDefinitions,
} from './testing.ts'

type Api = Awaited<ReturnType<typeof startFakeCluster>>

const OPTIONS = { controllerNamespace: SYSTEM, namespaces: [], version: '0.1.0', rights: RIGHTS }
const base64 = (text: string) => Buffer.from(text).toString('base64')
const microTime = (ms: number) => new Date(ms).toISOString().replace('Z', '000Z')

/** What is found, without what is in order. */
async function problemsOf(api: Api, options = OPTIONS): Promise<string[]> {
  const checks = await examineCluster(api.client, options)
  const found = checks.filter(({ verdict }) => verdict !== 'ok')
  // The clock runs, and a date has no fraction of a second.
  return found.map(({ area, verdict, detail }) => `${verdict} ${area}: ${detail.replace(/(?:359|360)\d s/, '3600 s')}`)
}

const DEPLOYMENTS = '/apis/apps/v1/deployments'
const LEASES = '/apis/coordination.k8s.io/v1/leases'
const SLICES = '/apis/discovery.k8s.io/v1/endpointslices'
const GATEWAYS = '/apis/gateway.networking.k8s.io/v1/gateways'
const CLASSES = '/apis/gateway.networking.k8s.io/v1/gatewayclasses'
const SECRETS = '/api/v1/secrets'
const NAME = 'gatewright-controller'
const condition = (type: string, status: string, message = '') => ({ type, status, message })

function controller(status: object, labels: object = { 'app.kubernetes.io/version': '0.1.0' }): ListedObject {
  const env = [{ name: 'GATEWRIGHT_CONTROLLER_SERVICE', value: NAME }]
  const pod = { serviceAccountName: NAME, containers: [{ name: 'controller', env }] }
  const metadata = { name: NAME, namespace: SYSTEM, labels } as ListedObject['metadata']
  return { metadata, spec: { replicas: 2, template: { spec: pod } }, status }
}

function proxies(ready: number): ListedObject {
  const metadata = { name: 'main', namespace: 'shop', ownerReferences: [{ uid: 'u1' }] }
  return { metadata, spec: { replicas: 2 }, status: { readyReplicas: ready } }
}

function lease(renewedMs: number): ListedObject {
  const spec = { holderIdentity: 'one_uid', leaseDurationSeconds: 15, renewTime: microTime(renewedMs) }
  return { metadata: { name: NAME, namespace: SYSTEM }, spec }
}

function gateway(programmed: object): ListedObject {
  const tls = { certificateRefs: [{ name: 'shop-certificate' }] }
  const spec = { gatewayClassName: 'gatewright', listeners: [{ name: 'https', port: 443, tls }] }
  const metadata = { name: 'main', namespace: 'shop', uid: 'u1' }
  return { metadata, spec, status: { conditions: [programmed] } }
}

const secret = (namespace: string, name: string, data: Record<string, string>): ListedObject => ({
  metadata: { name, namespace },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
})
const AUTHORITY = secret(SYSTEM, `${NAME}-authority`, {
  'ca.crt': CERTIFICATES.ca,
  'tls.crt': CERTIFICATES.server.cert,
})
const slice = (...endpoints: object[]): ListedObject => ({ metadata: { name: 'a', namespace: SYSTEM }, endpoints })

/** A cluster in which everything is in order. */
function installed(): Lists {
  return {
    [DEPLOYMENTS]: [controller({ readyReplicas: 2 })],
    [SLICES]: [slice({ conditions: { ready: true }, addresses: ['10.0.0.1'] })],
    [LEASES]: [lease(clock.now())],
    [CLASSES]: [
      {
        metadata: { name: 'gatewright' },
        spec: { controllerName: 'gatewright.dev/controller' },
        status: { conditions: [condition('Accepted', 'True')] },
      },
    ],
    [GATEWAYS]: [gateway(condition('Programmed', 'True'))],
    [SECRETS]: [AUTHORITY, secret('shop', 'shop-certificate', { 'tls.crt': CERTIFICATES.server.cert })],
  }
}

test('a cluster without a controller, in which one can be installed', async () => {
  await using api = await startFakeCluster()
  expect((await examineCluster(api.client, OPTIONS)).map(({ verdict, detail }) => `${verdict}: ${detail}`)).toEqual([
    `ok: ${api.address} is Kubernetes v1.37.2`,
    'ok: no webhook decides about objects of the gateway',
    'ok: the API server has the time of this machine',
    'ok: 3 definitions of gatewright.dev, those of this program',
    'ok: 9 definitions of gateway.networking.k8s.io, v1.7.0',
    'ok: you may install the charts in gatewright-system',
    'ok: none is installed in gatewright-system, so this checks whether one can be',
  ])
})

test('a controller and a Gateway in order', async () => {
  await using api = await startFakeCluster(installed())
  expect(await problemsOf(api)).toEqual([])
  const details = (await examineCluster(api.client, OPTIONS)).map(({ detail }) => detail)
  expect(details).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^the account gatewright-system\/gatewright-controller has its \d\d\d rights$/),
      'controller gatewright-system/gatewright-controller: 2 of 2 pods ready',
      'one leads',
      '1 Gateway programmed',
      expect.stringMatching(/^Secret shop\/shop-certificate of Gateway shop\/main, tls.crt is valid until /),
    ]),
  )
})

test.each<[title: string, change: Lists, expected: string]>([
  [
    'a controller without ready pods',
    { [DEPLOYMENTS]: [controller({ conditions: [condition('Progressing', 'False', 'no image')] })] },
    'failure controller: controller gatewright-system/gatewright-controller: 0 of 2 pods ready; no image',
  ],
  [
    'a controller with one of two pods',
    { [DEPLOYMENTS]: [controller({ readyReplicas: 1 })] },
    'warning controller: controller gatewright-system/gatewright-controller: 1 of 2 pods ready',
  ],
  [
    'another version',
    { [DEPLOYMENTS]: [controller({ readyReplicas: 2 }, { 'app.kubernetes.io/version': '9.0.0' })] },
    'warning controller: controller gatewright-system/gatewright-controller has version 9.0.0, this program 0.1.0',
  ],
  [
    'proxies that are not ready',
    { [DEPLOYMENTS]: [controller({ readyReplicas: 2 }), proxies(0)] },
    'failure gateways: proxies shop/main: 0 of 2 pods ready',
  ],
  [
    'a Service without endpoints',
    { [SLICES]: [slice({ conditions: { ready: false }, addresses: ['10.0.0.1'] })] },
    'failure controller: Service gatewright-system/gatewright-controller has no ready endpoint, so proxies get no configuration',
  ],
  [
    'no leader',
    { [LEASES]: [] },
    'failure controller: Lease gatewright-system/gatewright-controller does not exist: no replica leads',
  ],
  [
    'a leader that is gone',
    { [LEASES]: [lease(Date.now() - 3_600_000)] },
    'failure controller: Lease gatewright-system/gatewright-controller: the leader one has not renewed it for 3600 s',
  ],
  [
    'a node whose clock is ahead',
    { [LEASES]: [lease(Date.now() + 3_600_000)] },
    'warning clocks: the clock of the node of one is 3600 s ahead of that of the API server',
  ],
  [
    'no class',
    { [CLASSES]: [], [GATEWAYS]: [] },
    'warning gateways: no GatewayClass has the controllerName gatewright.dev/controller',
  ],
  [
    'a Gateway that is not programmed',
    { [GATEWAYS]: [gateway(condition('Programmed', 'False', 'port in use'))] },
    'failure gateways: Gateway shop/main is not programmed: port in use',
  ],
  [
    'an expired certificate',
    { [SECRETS]: [AUTHORITY, secret('shop', 'shop-certificate', { 'tls.crt': CERTIFICATES.expired.cert })] },
    'failure certificates: Secret shop/shop-certificate of Gateway shop/main, tls.crt expired on 2021-01-01',
  ],
  [
    'a certificate that is missing',
    { [SECRETS]: [AUTHORITY] },
    'failure certificates: Secret shop/shop-certificate of Gateway shop/main does not exist',
  ],
  [
    'a Secret without a certificate',
    { [SECRETS]: [AUTHORITY, secret('shop', 'shop-certificate', { 'tls.crt': 'none' })] },
    'failure certificates: Secret shop/shop-certificate of Gateway shop/main has no certificate',
  ],
  [
    'a missing definition',
    without('httproutes'),
    'failure definitions: httproutes.gateway.networking.k8s.io is not installed',
  ],
  [
    'a definition that is not needed',
    without('tcproutes'),
    'warning definitions: tcproutes.gateway.networking.k8s.io is not installed',
  ],
  [
    'a missing definition of ours',
    without('proxypolicies'),
    'failure definitions: proxypolicies.gatewright.dev is not installed',
  ],
  [
    'an old Gateway API',
    changed('gateways', (definition) => ({
      ...definition,
      metadata: {
        name: definition.metadata.name,
        annotations: { 'gateway.networking.k8s.io/bundle-version': 'v1.2.0' },
      } as ListedObject['metadata'],
    })),
    'warning definitions: gateways.gateway.networking.k8s.io is of v1.2.0; v1.4 to v1.7 of the Gateway API are supported',
  ],
  [
    'versions that are not known',
    changed('gateways', (definition) => ({
      ...definition,
      spec: { versions: [{ name: 'v2', served: true, storage: true }] },
    })),
    'failure definitions: gateways.gateway.networking.k8s.io serves v2, not v1 or v1beta1',
  ],
  [
    'objects in old versions',
    changed('proxypolicies', (definition) => ({
      ...definition,
      status: { ...(definition.status as object), storedVersions: ['v1alpha0', 'v1alpha1'] },
    })),
    'warning definitions: proxypolicies.gatewright.dev: objects may be stored as v1alpha0, while v1alpha1 is the version to store',
  ],
  [
    'another schema',
    changed('proxypolicies', (definition) => ({
      ...definition,
      spec: {
        ...(definition.spec as object),
        versions: [{ name: 'v1alpha1', served: true, storage: true, schema: {} }],
      },
    })),
    'warning definitions: proxypolicies.gatewright.dev differs from the definition of this program',
  ],
  [
    'a name that is taken',
    changed('proxypolicies', (definition) => ({
      ...definition,
      status: { conditions: [condition('NamesAccepted', 'False', 'short name in use')] },
    })),
    'failure definitions: proxypolicies.gatewright.dev: short name in use',
  ],
])('%s', async (_, change, expected) => {
  await using api = await startFakeCluster({ ...installed(), ...change })
  // The table is older than the answer of the server.
  const problems = (await problemsOf(api)).map((text) => text.replace(/\b3[56]\d\d s\b/, '3600 s'))
  expect(problems).toEqual([expected])
})

function without(plural: string): Lists {
  return { [DEFINITIONS]: storedDefinitions().filter(({ metadata }) => !metadata.name.startsWith(`${plural}.`)) }
}

function changed(plural: string, change: (definition: ListedObject) => ListedObject): Lists {
  const all = storedDefinitions()
  return { [DEFINITIONS]: all.map((each) => (each.metadata.name.startsWith(`${plural}.`) ? change(each) : each)) }
}

test('rights that the account of the controller lacks are named by namespace', async () => {
  await using api = await startFakeCluster(installed())
  const denied = ['patch apps/deployments', 'create apps/deployments', 'list /secrets']
  answerQuestions(api, (right, user) => user !== '' && denied.includes(right))
  const who = 'failure permissions: the account gatewright-system/gatewright-controller may not'
  expect(await problemsOf(api)).toEqual([`${who} list secrets`, `${who} create, patch deployments.apps in shop`])
})

test.each<[denied: (right: string) => boolean, expected: string[]]>([
  [
    (right) => right === 'create apiextensions.k8s.io/customresourcedefinitions',
    ['failure permissions: you may not create customresourcedefinitions.apiextensions.k8s.io'],
  ],
  // Who has the rights may give them.
  [(right) => right.startsWith('escalate'), []],
  [
    (right) => right.startsWith('escalate') || right === 'create authentication.k8s.io/tokenreviews',
    [
      'failure permissions: you may not give the controller rights that you do not have: create tokenreviews.authentication.k8s.io',
    ],
  ],
])('rights that the user lacks', async (isDenied, expected) => {
  await using api = await startFakeCluster()
  answerQuestions(api, isDenied)
  expect(await problemsOf(api)).toEqual(expected)
})

test('a user without rights learns what was not checked, and why', async () => {
  await using api = await startFakeCluster(installed())
  api.special = ({ path }, response) => {
    if (path === '/version') answerJson(response, { gitVersion: 'v1.37.2' })
    else answerJson(response, { message: `${path.split('?')[0]!.split('/').at(-1)} is forbidden` }, 403)
  }
  expect(await problemsOf(api)).toEqual([
    'unknown server: webhooks: validatingwebhookconfigurations is forbidden',
    'unknown definitions: gatewright.dev: proxybackends.gatewright.dev is forbidden',
    'unknown definitions: gateway.networking.k8s.io: gatewayclasses.gateway.networking.k8s.io is forbidden',
    'unknown controller: Deployments in gatewright-system: deployments is forbidden',
  ])
})

test('a user who may read one namespace sees its Gateways', async () => {
  await using api = await startFakeCluster(installed())
  const answer = api.special
  api.special = (request, response) => {
    if (request.path.startsWith(`${GATEWAYS}?`)) answerJson(response, { message: 'forbidden' }, 403)
    else answer(request, response)
  }
  expect(await problemsOf(api)).toEqual(['unknown gateways: Gateways: forbidden'])
  const options = { ...OPTIONS, namespaces: ['shop'] }
  expect((await examineCluster(api.client, options)).map(({ detail }) => detail)).toContain('1 Gateway programmed')
})

test.each([
  ['v1.30.9', 'failure'],
  ['v1.31.0', 'ok'],
  ['v1.37.4+build', 'ok'],
  ['v1.38.0', 'warning'],
  ['v2.0.0', 'warning'],
  ['', 'warning'],
])('version %s: %s', async (gitVersion, verdict) => {
  await using api = await startFakeCluster()
  api.special = ({ path }, response) => path === '/version' && answerJson(response, { gitVersion })
  const [first] = await examineCluster(api.client, OPTIONS)
  expect(first).toMatchObject({ area: 'server', verdict })
})

test.each([
  [-3_600_000, 'warning clocks: the clock of the API server is 3600 s behind that of this machine'],
  [3_600_000, 'warning clocks: the clock of the API server is 3600 s ahead of that of this machine'],
])('a clock that differs by %d ms', async (ms, expected) => {
  await using api = await startFakeCluster()
  const answer = api.special
  api.special = (request, response) => {
    response.setHeader('date', new Date(clock.now() + ms).toUTCString())
    answer(request, response)
  }
  const [found = ''] = (await problemsOf(api)).filter((line) => line.includes('clocks'))
  expect(found).toBe(expected)
})

test('an API that does not answer is a failure', async () => {
  const api = await startFakeCluster()
  await api[Symbol.asyncDispose]()
  expect(await problemsOf(api)).toEqual([
    `failure server: ${api.address} cannot be read: connection refused; is it running? (credential: a user)`,
  ])
})

test('the charts accept the oldest version, and the cluster of the tests has the newest', () => {
  const read = (path: string) => readFileSync(path, 'utf8')
  expect(read('install/charts/gatewright/Chart.yaml')).toContain(`kubeVersion: ">=1.${SUPPORTED.oldest}.0-0"`)
  expect(read('test/interop/cluster/kubernetes/go.mod')).toContain(`k8s.io/kubernetes v1.${SUPPORTED.newest}.`)
})
