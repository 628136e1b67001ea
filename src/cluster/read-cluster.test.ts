import { expect, test } from 'vitest'
import { answerJson, type JsonServer, startJsonServer } from '#test/support/json-server.ts'
import { ApiClient } from './api-client.ts'
import { readCluster } from './read-cluster.ts'

/** An API with these objects by path of their list; it has no other lists. */
async function read(
  lists: Readonly<Record<string, readonly object[]>>,
  special?: JsonServer['answer'],
  namespaces?: readonly string[],
) {
  await using server = await startJsonServer()
  server.answer = (request, response) => {
    const [path = '', query = ''] = request.path.split('?')
    const parameters = new URLSearchParams(query)
    const list = lists[path]
    if (special !== undefined) special(request, response)
    if (response.writableEnded) return
    if (list !== undefined) {
      const from = Number(parameters.get('continue') ?? 0)
      const limit = Number(parameters.get('limit')) || list.length
      const more = from + 1 < list.length && limit > 0 && list.length > 1 && parameters.get('limit') !== '0'
      const end = more ? from + 1 : list.length
      const metadata = more ? { continue: String(end) } : {}
      return answerJson(response, { metadata, items: list.slice(from, end) })
    }
    const parent = path.slice(0, path.lastIndexOf('/'))
    const object = lists[parent]?.find((each) => path === `${parent}/${nameOf(each)}`)
    answerJson(response, object ?? { message: 'not found' }, object === undefined ? 404 : 200)
  }
  using client = new ApiClient({ server: new URL(`http://127.0.0.1:${server.port}`), tls: {}, headers: {} })
  const { store, missing } = await readCluster(client, namespaces)
  return {
    names: store.list().map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`),
    missing: missing.map(({ kind }) => kind),
    problems: store.problems().map(({ message, code }) => `${code} ${message}`),
    paths: server.seen.map(({ path }) => path),
  }
}

const nameOf = (object: object) => (object as { metadata: { name: string } }).metadata.name
const named = (name: string, rest: object = {}) => ({ metadata: { name, namespace: 'default' }, ...rest })
const SECRETS = '/api/v1/namespaces/default/secrets'
const POLICIES = '/apis/gatewright.dev/v1alpha1/proxypolicies'
const TARGET = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }

test('all pages of a list are read', async () => {
  const { names, paths } = await read({ '/api/v1/services': ['a', 'b', 'c'].map((name) => named(name, { spec: {} })) })
  expect(names).toEqual(['Service default/a', 'Service default/b', 'Service default/c'])
  expect(paths.filter((path) => path.startsWith('/api/v1/services'))).toEqual([
    '/api/v1/services?limit=500',
    '/api/v1/services?limit=500&continue=1',
    '/api/v1/services?limit=500&continue=2',
  ])
})

test('a list whose pages have expired is read again as a whole', async () => {
  const services = ['a', 'b', 'c'].map((name) => named(name, { spec: {} }))
  const { names } = await read({ '/api/v1/services': services }, ({ path }, response) => {
    if (path.includes('continue=2')) answerJson(response, { reason: 'Expired' }, 410)
  })
  expect(names).toEqual(['Service default/a', 'Service default/b', 'Service default/c'])
})

test('a kind is read in the version that the API serves, and missing kinds are named', async () => {
  const route = named('shop', { spec: { parentRefs: [{ name: 'main' }] } })
  const { names, missing } = await read({
    '/apis/gateway.networking.k8s.io/v1beta1/httproutes': [route],
    '/api/v1/pods': [],
  })
  expect(names).toEqual(['HTTPRoute default/shop'])
  expect(missing).not.toContain('HTTPRoute')
  expect(missing).not.toContain('Secret')
  expect(missing).toContain('TCPRoute')
})

test('only Secrets that objects refer to are read', async () => {
  const policy = (name: string, apiKeyAuthentication: object) =>
    named(name, { spec: { targetRefs: [TARGET], traffic: { apiKeyAuthentication } } })
  const { names, paths } = await read(
    {
      '/apis/gateway.networking.k8s.io/v1/gateways': [
        named('main', {
          spec: {
            gatewayClassName: 'gatewright',
            listeners: [
              {
                name: 'https',
                port: 8443,
                protocol: 'HTTPS',
                tls: { certificateRefs: [{ name: 'cert' }, { name: 'second' }] },
              },
            ],
          },
        }),
      ],
      [POLICIES]: [
        policy('by-name', { secretRef: { name: 'keys' } }),
        policy('by-label', { secretSelector: { matchLabels: { app: 'shop' } } }),
      ],
      [SECRETS]: [named('other', { data: {} }), named('keys', { data: { a: 'YQ==' } })],
    },
    ({ path }, response) => {
      if (!path.includes('labelSelector')) return
      answerJson(response, {
        items: [named('labelled', { metadata: { name: 'labelled', namespace: 'default', labels: { app: 'shop' } } })],
      })
    },
  )
  expect(names.filter((name) => name.startsWith('Secret'))).toEqual(['Secret default/labelled', 'Secret default/keys'])
  expect(paths.filter((path) => path.includes('secrets')).toSorted()).toEqual([
    `${SECRETS}/cert`,
    `${SECRETS}/keys`,
    `${SECRETS}/second`,
    `${SECRETS}?limit=500&labelSelector=app%3Dshop`,
  ])
})

test('objects of some namespaces, for a user who may read nothing else', async () => {
  const policy = named('keys', {
    spec: { targetRefs: [TARGET], traffic: { apiKeyAuthentication: { secretRef: { name: 'keys' } } } },
  })
  const certificate = {
    listeners: [{ name: 'a', port: 1, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'c', namespace: 'b' }] } }],
  }
  const gateway = named('main', { spec: { gatewayClassName: 'gatewright', ...certificate } })
  const own = '/apis/gatewright.dev/v1alpha1/namespaces'
  const { names, missing, paths } = await read(
    {
      [`${own}/default/proxypolicies`]: [policy],
      [`${own}/apart/proxypolicies`]: [{ ...policy, metadata: { name: 'more', namespace: 'apart' } }],
      '/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways': [gateway],
      [SECRETS]: [named('keys', { data: { a: 'YQ==' } })],
    },
    ({ path }, response) => {
      const isForbidden = !/namespaces\/(?:default|apart)/.test(path)
      if (isForbidden) answerJson(response, { message: 'forbidden' }, 403)
    },
    ['default', 'apart'],
  )
  expect(names).toEqual([
    'ProxyPolicy default/keys',
    'ProxyPolicy apart/more',
    'Gateway default/main',
    'Secret default/keys',
  ])
  expect(missing).toContain('GatewayClass')
  expect(paths).toContain('/api/v1/namespaces/apart')
})

test('problems of an object name it', async () => {
  const policy = named('keys', { spec: { targetRefs: [TARGET], traffic: { corz: {} } } })
  const { problems } = await read({ [POLICIES]: [policy] })
  expect(problems).toContainEqual(expect.stringMatching(/^unknown-field ProxyPolicy default\/keys: .*corz/))
})

test.each([
  [
    'no API',
    (response: Parameters<JsonServer['answer']>[1]) => response.writeHead(200).end('<html>'),
    'did not return a list',
  ],
  [
    'no known kind',
    (response: Parameters<JsonServer['answer']>[1]) => answerJson(response, {}, 404),
    'is it a Kubernetes API?',
  ],
  [
    'no permission',
    (response: Parameters<JsonServer['answer']>[1]) => answerJson(response, { message: 'pods is forbidden' }, 403),
    'responded with status 403: pods is forbidden',
  ],
])('an API with %s is an error', async (_, answer, message) => {
  await expect(read({}, (_, response) => void answer(response))).rejects.toThrow(message)
})

test('a server that does not run is an error', async () => {
  await using server = await startJsonServer()
  const { port } = server
  await server[Symbol.asyncDispose]()
  using client = new ApiClient({ server: new URL(`http://127.0.0.1:${port}`), tls: {}, headers: {} })
  await expect(readCluster(client)).rejects.toThrow('cannot be read: connection refused; is it running?')
})
