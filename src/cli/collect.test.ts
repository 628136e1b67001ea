import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Lists, SYSTEM, startFakeCluster } from '#cluster/examine/testing.ts'
import { gatewright } from '#test/support/command-line.ts'
import { startGateway } from '#test/support/gateway.ts'
import { answerJson } from '#test/support/json-server.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Secrets by place: no file of an archive may have one, verbatim or in base64. */
class Planted {
  readonly #places = new Map<string, string>()

  at(place: string): string {
    const secret = `planted${this.#places.size.toString().padStart(4, '0')}end`
    this.#places.set(secret, place)
    return secret
  }

  foundIn(text: string): string[] {
    const forms = (secret: string) => [secret, base64(secret).replace(/=+$/, '')]
    return [...this.#places].flatMap(([secret, place]) =>
      forms(secret).some((form) => text.includes(form)) ? [place] : [],
    )
  }
}

const OWN = '/apis/gatewright.dev/v1alpha1'
const GATEWAY_API = '/apis/gateway.networking.k8s.io/v1'
const shop = (name: string, more: object = {}) => ({ name, namespace: 'shop', ...more })

/** A cluster with secrets wherever somebody may have put one. */
function plant(planted: Planted): Lists {
  const lastApplied = (place: string) => ({
    annotations: {
      'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({
        stringData: { key: planted.at(`${place}, last applied`) },
      }),
      'example.com/note': planted.at(`${place}, note`),
      'gatewright.dev/acme': 'letsencrypt',
    },
    managedFields: [{ manager: planted.at(`${place}, managed fields`) }],
  })
  const env = [
    { name: 'API_KEY', value: planted.at('variable with the name of a key') },
    { name: 'GREETING', value: planted.at('variable with another name') },
    { name: 'GATEWRIGHT_SESSION_KEY', value: planted.at('variable of ours') },
    { name: 'GATEWRIGHT_LOG_LEVEL', value: 'info' },
  ]
  const sidecar = {
    name: 'sidecar',
    env,
    args: [`--token=${planted.at('argument')}`],
    command: ['sh', planted.at('command')],
  }
  const probe = { httpGet: { httpHeaders: [{ name: 'authorization', value: planted.at('header of a probe') }] } }
  const template = {
    spec: {
      containers: [{ name: 'proxy', args: ['proxy'], env, livenessProbe: probe }, sidecar],
      initContainers: [sidecar],
    },
  }
  return {
    [`${OWN}/proxybackends`]: [
      {
        metadata: shop('model', lastApplied('backend')),
        spec: {
          ai: { groups: [{ providers: [{ name: 'one', providerOne: {} }] }] },
          policies: { auth: { key: planted.at('inline key of a backend') } },
        },
      },
    ],
    [`${OWN}/proxyparameters`]: [{ metadata: shop('main'), spec: { env, deployment: { spec: { template } } } }],
    [`${OWN}/proxypolicies`]: [
      {
        metadata: shop('keys'),
        spec: {
          traffic: {
            apiKeyAuthentication: { secretRef: { name: 'clients' } },
            basicAuthentication: { users: [`ann:${planted.at('password of a user')}`] },
            transformation: { request: { set: [{ name: 'x-api-key', value: planted.at('header that is set') }] } },
          },
        },
        status: { ancestors: [{ conditions: [{ type: 'Accepted', status: 'False', message: `bad ${KNOWN}` }] }] },
      },
    ],
    [`${GATEWAY_API}/gateways`]: [
      {
        metadata: shop('main', { uid: 'u1' }),
        spec: {
          gatewayClassName: 'gatewright',
          listeners: [{ tls: { certificateRefs: [{ kind: 'Secret', group: '', name: 'certificate' }] } }],
        },
      },
    ],
    [`${GATEWAY_API}/httproutes`]: [
      {
        metadata: shop('web'),
        spec: {
          rules: [
            {
              filters: [
                {
                  requestHeaderModifier: { set: [{ name: 'Authorization', value: planted.at('header of a filter') }] },
                },
              ],
            },
            { filters: [{ requestRedirect: { path: `/a?access_token=${planted.at('token in a path')}` } }] },
          ],
        },
      },
    ],
    '/api/v1/services': [{ metadata: shop('web', lastApplied('service')), spec: { externalName: 'web.example' } }],
    '/api/v1/secrets': [
      {
        metadata: shop('clients', lastApplied('secret')),
        type: 'Opaque',
        data: { ann: base64(KNOWN), bob: base64(planted.at('Secret')) },
      },
      {
        metadata: shop('certificate'),
        type: 'kubernetes.io/tls',
        data: { 'tls.key': base64(planted.at('key of a certificate')) },
      },
      {
        metadata: { name: 'gatewright-controller-authority', namespace: SYSTEM },
        data: { 'tls.key': base64(planted.at('key of the authority')) },
      },
    ],
    '/api/v1/configmaps': [{ metadata: shop('main'), data: { 'config.yaml': planted.at('ConfigMap') } }],
    '/apis/apps/v1/deployments': [
      { metadata: { name: 'gatewright-controller', namespace: SYSTEM }, spec: { template } },
      { metadata: shop('main', lastApplied('deployment')), spec: { template } },
    ],
    '/apis/apps/v1/replicasets': [],
    '/api/v1/pods': [
      {
        metadata: shop('main-1', lastApplied('pod')),
        spec: template.spec,
        status: { phase: 'Running', containerStatuses: [{ name: 'proxy', restartCount: 2 }] },
      },
    ],
    '/api/v1/events': [
      {
        metadata: shop('e1'),
        involvedObject: { kind: 'Pod', ...shop('main-1') },
        message: `pull https://ann:${planted.at('password of a URL')}@registry.example/a`,
      },
      {
        metadata: shop('e2'),
        involvedObject: { kind: 'Pod', ...shop('other') },
        message: planted.at('event of others'),
      },
    ],
  }
}

/** A value of a Secret, which texts of others repeat. */
const KNOWN = 'known-value-of-a-secret'

function unpack(archive: string): Map<string, string> {
  const folder = temporaryFolder()
  execFileSync('tar', ['-xzf', archive, '-C', folder])
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(
    paths.map(({ parentPath, name }) => [
      join(parentPath, name).slice(join(folder, 'gatewright-support').length + 1),
      readFileSync(join(parentPath, name), 'utf8'),
    ]),
  )
}

function kubeconfigOf(server: string, folder: string): string {
  const file = join(folder, 'config')
  const [contexts, clusters] = [[{ name: 'one', context: { cluster: 'one' } }], [{ name: 'one', cluster: { server } }]]
  writeFileSync(file, JSON.stringify({ contexts, clusters }))
  return file
}

test('the archive of a cluster has what helps, and no secret', async () => {
  const planted = new Planted()
  await using api = await startFakeCluster(plant(planted))
  const answer = api.special
  api.special = (request, response) => {
    const { path } = request
    if (path.includes('/log?'))
      response.end(`a line of ${path.includes('previous=true') ? 'before' : 'now'} with ${KNOWN}\n`)
    else if (path.includes('/proxy/metrics')) answerJson(response, { message: 'pods "main-1:15020" is forbidden' }, 403)
    else answer(request, response)
  }
  const folder = temporaryFolder()
  const out = join(folder, 'support.tar.gz')
  const command = ['collect', '--kubeconfig', kubeconfigOf(api.address, folder), '--context', 'one', '-o', out]
  const { code, stdout, stderr } = await gatewright(command)
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`${out}: `) })
  expect(stderr).toContain('metrics/shop/main-1.txt: pods "main-1:15020" is forbidden')
  expect(statSync(out).mode & 0o777).toBe(0o600)
  const files = unpack(out)
  expect([...files.keys()].sort()).toEqual([
    'check.json',
    'collected.json',
    'events.yaml',
    'logs/shop/main-1/proxy.log',
    'logs/shop/main-1/proxy.previous.log',
    'logs/shop/main-1/sidecar.log',
    `objects/namespaces/${SYSTEM}/controllers.yaml`,
    `objects/namespaces/${SYSTEM}/proxies.yaml`,
    'objects/namespaces/shop/gateways.yaml',
    'objects/namespaces/shop/httproutes.yaml',
    'objects/namespaces/shop/proxies.yaml',
    'objects/namespaces/shop/proxybackends.yaml',
    'objects/namespaces/shop/proxyparameters.yaml',
    'objects/namespaces/shop/proxypolicies.yaml',
    'objects/namespaces/shop/services.yaml',
    'secrets.yaml',
  ])
  for (const [path, text] of files) {
    expect(planted.foundIn(text), path).toEqual([])
    expect(text, path).not.toContain(KNOWN)
  }
  const read = (path: string) => parse(files.get(path)!)
  expect(read('objects/namespaces/shop/proxies.yaml')).toMatchObject([
    {
      spec: {
        template: { spec: { containers: [{ name: 'proxy', args: ['proxy'], env: { 3: { value: 'info' } } }, {}] } },
      },
    },
    { kind: 'Pod' },
  ])
  expect(read('objects/namespaces/shop/proxybackends.yaml')).toMatchObject([
    { metadata: { annotations: { 'gatewright.dev/acme': 'letsencrypt' } } },
  ])
  expect(read('secrets.yaml')).toContainEqual({
    namespace: 'shop',
    name: 'clients',
    type: 'Opaque',
    keys: ['ann', 'bob'],
  })
  expect(read('events.yaml')).toMatchObject([{ message: 'pull https://<redacted>@registry.example/a' }])
  expect(files.get('logs/shop/main-1/proxy.previous.log')).toBe('a line of before with <redacted>\n')
  expect(JSON.parse(files.get('check.json')!)).toContainEqual(expect.objectContaining({ area: 'controller' }))
})

test('what may not be read is named', async () => {
  await using api = await startFakeCluster(plant(new Planted()))
  api.special = ({ path }, response) => {
    if (!path.includes('/httproutes')) answerJson(response, { message: `${path.split('?')[0]} is forbidden` }, 403)
  }
  const folder = temporaryFolder()
  const out = join(folder, 'support.tar.gz')
  const command = [
    'collect',
    '--kubeconfig',
    kubeconfigOf(api.address, folder),
    '--context',
    'one',
    '-n',
    'shop',
    '-o',
    out,
  ]
  expect(await gatewright(command)).toMatchObject({ code: 0 })
  const files = unpack(out)
  expect(files.has('objects/namespaces/shop/httproutes.yaml')).toBe(true)
  expect(JSON.parse(files.get('collected.json')!).missing).toEqual(
    expect.arrayContaining([
      'proxypolicies: /apis/gatewright.dev/v1alpha1/namespaces/shop/proxypolicies is forbidden',
      'pods of proxies: /api/v1/namespaces/shop/pods is forbidden',
      'events: /api/v1/namespaces/shop/events is forbidden',
    ]),
  )
})

test('the archive of the gateway that runs here', async () => {
  const folder = temporaryFolder()
  const state = join(folder, '.state')
  mkdirSync(state)
  writeFileSync(
    join(folder, 'objects.yaml'),
    [
      'apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: { name: main }\nspec: { gatewayClassName: gatewright, listeners: [{ name: http, protocol: HTTP, port: 1 }] }',
      `apiVersion: v1\nkind: Secret\nmetadata: { name: clients }\nstringData: { ann: ${KNOWN} }`,
      'apiVersion: gatewright.dev/v1alpha1\nkind: ProxyPolicy\nmetadata: { name: keys }\nspec: { targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: main }], traffic: { apiKeyAuthentication: { secretRef: { name: clients } } } }',
    ].join('\n---\n'),
  )
  const environment = { GATEWRIGHT_API_ADDR: '127.0.0.1:0' }
  const gateway = await startGateway({ files: [folder], workers: 1, stateFolder: state, environment })
  try {
    const out = join(folder, 'support.tar.gz')
    const { code, stderr } = await gatewright(['collect', '--state', state, '-o', out])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const files = unpack(out)
    expect([...files.keys()]).toEqual(
      expect.arrayContaining([
        'collected.json',
        'gateway.json',
        'metrics.txt',
        'objects/namespaces/default/gateways.yaml',
        'objects/namespaces/default/proxypolicies.yaml',
        'plan.json',
        'secrets.yaml',
        'status.json',
      ]),
    )
    for (const [path, text] of files) expect(text, path).not.toContain(KNOWN)
    expect(parse(files.get('secrets.yaml')!)).toMatchObject([{ name: 'clients', keys: ['ann'] }])
    expect(files.get('metrics.txt')).toContain('gatewright_')
  } finally {
    await gateway.close()
  }
})

test.each([
  ['a server of two places', ['--context', 'one', '--state', '.x'], 2, 'cannot be combined'],
  ['a number that is none', ['--log-lines', 'all'], 2, '--log-lines is a number, not all'],
  [
    'a gateway that never ran',
    ['--state', '/does-not-exist'],
    1,
    'no gateway has served its API with this state folder',
  ],
])('%s', async (_, words, code, message) => {
  const result = await gatewright(['collect', ...words])
  expect(result.code).toBe(code)
  expect(result.stderr).toContain(message)
})
