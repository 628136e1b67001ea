import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { startTestServer } from './testing.ts'

type Server = Awaited<ReturnType<typeof startTestServer>>

const SERVICES = '/api/v1/namespaces/default/services'
const BACKENDS = '/apis/gatewright.dev/v1alpha1/namespaces/default/proxybackends'

function service(name: string, port = 80) {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, labels: { app: name } }, spec: { ports: [{ port }] } }
}

function backend(name: string, host = 'a.test') {
  return { kind: 'ProxyBackend', metadata: { name }, spec: { static: { host, port: 80 } } }
}

let server: Server

beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())
beforeEach(async () => {
  server.files.clear()
  server.findings.clear()
  server.audit.length = 0
  for (const path of [SERVICES, BACKENDS]) await server.call(path, { method: 'DELETE' })
  expect(server.bugs).toEqual([])
})

function create(path: string, body: unknown, query = '') {
  return server.call(`${path}${query}`, { method: 'POST', body })
}

describe('access', () => {
  test.each(['wrong', '', 'test-token-and-more'])('token "%s" is refused', async (token) => {
    const { status, body, headers } = await server.call(SERVICES, { token })
    expect([status, body.kind, body.reason]).toEqual([401, 'Status', 'Unauthorized'])
    expect(headers['www-authenticate']).toContain('Bearer')
  })

  test('only the paths about health and version need no token', async () => {
    const anonymous = { headers: { authorization: '' } }
    for (const path of ['/healthz', '/livez', '/readyz', '/version'])
      expect((await server.call(path, anonymous)).status, path).toBe(200)
    expect((await server.call('/apis', anonymous)).status).toBe(401)
    expect((await server.call(SERVICES, anonymous)).status).toBe(401)
  })
})

describe('objects', () => {
  test('a created object has the metadata and defaults that the server sets', async () => {
    const { status, body } = await create(BACKENDS, backend('one'))
    expect(status).toBe(201)
    expect(body).toMatchObject({
      apiVersion: 'gatewright.dev/v1alpha1',
      kind: 'ProxyBackend',
      metadata: { name: 'one', namespace: 'default', generation: 1 },
      spec: { static: { host: 'a.test', port: 80 } },
    })
    expect(body.metadata.uid).toMatch(/^[0-9a-f-]{36}$/)
    expect(body.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect(body.metadata.resourceVersion).toBe(String(server.table.revision))
    expect((await server.call(`${BACKENDS}/one`)).body).toEqual(body)
  })

  test('server fields and a status that a client sends are not stored', async () => {
    const metadata = {
      name: 'one',
      uid: 'mine',
      generation: 7,
      creationTimestamp: null,
      deletionTimestamp: '2020-01-01T00:00:00Z',
    }
    const { body } = await create(BACKENDS, { ...backend('one'), metadata, status: { conditions: [] } })
    expect([body.metadata.generation, body.status, body.metadata.deletionTimestamp]).toEqual([1, undefined, undefined])
    expect(body.metadata.uid).not.toBe('mine')
  })

  test('a name is generated after generateName', async () => {
    const named = { ...backend(''), metadata: { generateName: 'b-' } }
    const names = await Promise.all([create(BACKENDS, named), create(BACKENDS, named)])
    for (const { body } of names) expect(body.metadata.name).toMatch(/^b-[a-z0-9]{5}$/)
    expect(names[0].body.metadata.name).not.toBe(names[1].body.metadata.name)
    const long = await create(BACKENDS, { ...backend(''), metadata: { generateName: 'b'.repeat(70) } })
    expect(long.body.metadata.name).toMatch(/^b{58}[a-z0-9]{5}$/)
  })

  test.each([
    ['an existing name', () => create(SERVICES, service('known')), 409, 'AlreadyExists'],
    ['no name', () => create(BACKENDS, { spec: { static: { host: 'a', port: 1 } } }), 422, 'Invalid'],
    ['an invalid object', () => create(BACKENDS, { ...backend('x'), spec: { static: { port: 80 } } }), 422, 'Invalid'],
    ['another kind', () => create(BACKENDS, service('x')), 400, 'BadRequest'],
    [
      'another namespace',
      () => create(BACKENDS, { ...backend('x'), metadata: { name: 'x', namespace: 'b' } }),
      400,
      'BadRequest',
    ],
    [
      'a resource version',
      () => create(BACKENDS, { ...backend('x'), metadata: { name: 'x', resourceVersion: '1' } }),
      400,
      'BadRequest',
    ],
    ['a missing namespace', () => create('/api/v1/namespaces/none/services', service('x')), 404, 'NotFound'],
    ['no body', () => create(BACKENDS, ''), 400, 'BadRequest'],
    ['text that is not JSON', () => create(BACKENDS, '{'), 400, 'BadRequest'],
    ['a list', () => create(BACKENDS, []), 400, 'BadRequest'],
    ['a repeated field', () => create(BACKENDS, '{"metadata":{"name":"x"},"spec":{},"spec":{}}'), 400, 'BadRequest'],
    ['an unknown field', () => create(BACKENDS, { ...backend('x'), more: 1 }), 422, 'Invalid'],
    ['an unknown kind', () => create('/apis/gatewright.dev/v1alpha1/namespaces/default/others', {}), 404, 'NotFound'],
    [
      'a kind without namespaces in one',
      () => server.call('/apis/gateway.networking.k8s.io/v1/namespaces/default/gatewayclasses'),
      404,
      'NotFound',
    ],
    ['a namespaced kind without namespace', () => create('/api/v1/services', service('x')), 405, 'MethodNotAllowed'],
    [
      'an unknown field manager',
      () => create(BACKENDS, backend('x'), `?fieldManager=${'x'.repeat(129)}`),
      400,
      'BadRequest',
    ],
    ['an unknown dry run', () => create(BACKENDS, backend('x'), '?dryRun=Some'), 400, 'BadRequest'],
    [
      'too large a body',
      () => create(BACKENDS, `{"a":"${'x'.repeat(3 * 1024 * 1024)}"}`),
      413,
      'RequestEntityTooLarge',
    ],
    [
      'another media type',
      () => server.call(BACKENDS, { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } }),
      415,
      'UnsupportedMediaType',
    ],
    ['another accepted type', () => server.call(BACKENDS, { headers: { accept: 'text/html' } }), 406, 'NotAcceptable'],
  ])('%s is refused', async (_, refused, code, reason) => {
    await create(SERVICES, service('known'))
    const { revision } = server.table
    const { status, body } = await refused()
    expect([status, body.kind, body.status, body.reason, body.code]).toEqual([code, 'Status', 'Failure', reason, code])
    expect(server.table.revision).toBe(revision)
  })

  test('a refusal names all causes with their fields', async () => {
    const { body } = await create(BACKENDS, { ...backend('x'), spec: { static: { host: '', port: 80 }, more: 1 } })
    expect(body.message).toContain('ProxyBackend.gatewright.dev "x" is invalid: [')
    expect(body.details.causes.map(({ field, reason }: { field: string; reason: string }) => [field, reason])).toEqual([
      ['spec.static.host', 'FieldValueInvalid'],
      ['spec.more', 'FieldValueInvalid'],
    ])
  })

  test('unknown fields are a warning, or nothing, if the client wants that', async () => {
    const written = { ...backend('one'), spec: { ...backend('one').spec, more: 1 } }
    const warned = await create(BACKENDS, written, '?fieldValidation=Warn')
    expect([warned.status, warned.body.spec.more]).toEqual([201, undefined])
    expect(warned.headers.warning).toContain('spec.more')
    const ignored = await create(BACKENDS, { ...written, metadata: { name: 'two' } }, '?fieldValidation=Ignore')
    expect([ignored.status, ignored.headers.warning]).toEqual([201, undefined])
  })

  test('a field of the Gateway API that is certainly a mistake is refused, unless the client wants a warning', async () => {
    const routes = '/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes'
    const route = (name: string, spec: object) => ({ metadata: { name }, spec })
    const refused = await create(routes, route('one', { hostname: ['shop.example'], later: 1 }))
    expect([refused.status, refused.body.details.causes]).toEqual([
      422,
      [
        {
          reason: 'FieldValueInvalid',
          field: 'spec.hostname',
          message: 'Invalid value: unknown field "hostname", did you mean "hostnames"?',
        },
      ],
    ])
    const warned = await create(routes, route('one', { hostname: ['shop.example'] }), '?fieldValidation=Warn')
    expect([warned.status, warned.headers.warning]).toEqual([201, expect.stringContaining('spec.hostname')])
    const newer = await create(routes, route('two', { later: 1 }))
    expect([newer.status, newer.headers.warning]).toEqual([201, expect.stringContaining('spec.later')])
  })

  test('a warning does not point to a position: it is one line', async () => {
    server.findings.set('one', ['found the end (column 5)\nfoo(\n    ^ [cel-syntax]'])
    const { headers } = await create(BACKENDS, backend('one'))
    expect(headers.warning).toBe('299 - "found the end (column 5) foo( [cel-syntax]"')
  })

  test('findings about the object are warnings', async () => {
    server.findings.set('one', ['line one\n"quoted"', 'line one\n"quoted"'])
    const { headers } = await create(BACKENDS, backend('one'))
    expect(headers.warning).toBe('299 - "line one \\"quoted\\""')
  })

  test('a dry run stores nothing', async () => {
    const { status, body } = await create(BACKENDS, backend('one'), '?dryRun=All')
    expect([status, body.metadata.name]).toEqual([201, 'one'])
    expect((await server.call(`${BACKENDS}/one`)).status).toBe(404)
  })

  test.each(['PUT', 'PATCH', 'DELETE', 'DELETE all'])('a dry run of %s stores nothing', async (verb) => {
    const { body: first } = await create(BACKENDS, backend('one'))
    const [method, all] = verb.split(' ') as [string, string?]
    const body = method === 'DELETE' ? undefined : { ...first, spec: { static: { host: 'b.test', port: 80 } } }
    const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}
    const path = `${BACKENDS}${all === undefined ? '/one' : ''}?dryRun=All`
    const answer = await server.call(path, { method, body, headers })
    expect([answer.status, answer.body.spec?.static.host]).toEqual([200, body && 'b.test'])
    expect((await server.call(`${BACKENDS}/one`)).body).toEqual(first)
  })

  test('the head of an answer stays small', async () => {
    server.findings.set(
      'one',
      Array.from({ length: 9 }, (_, at) => `${at}${'x'.repeat(1000)}`),
    )
    const { status, headers } = await create(BACKENDS, backend('one'))
    expect([status, String(headers.warning).match(/x+/g)?.length]).toEqual([201, 4])
  })

  test('YAML is read and written', async () => {
    const body = 'kind: ProxyBackend\nmetadata: {name: one}\nspec: {static: {host: a.test, port: 80}}\n'
    const headers = { 'content-type': 'application/yaml', accept: 'application/yaml' }
    const { status, text } = await server.call(BACKENDS, { method: 'POST', body, headers })
    expect([status, text]).toEqual([201, expect.stringContaining('\n    host: a.test\n')])
  })

  test('an object is read in each version of its kind', async () => {
    const route = { metadata: { name: 'r' }, spec: {} }
    await create('/apis/gateway.networking.k8s.io/v1beta1/namespaces/default/httproutes', route)
    const versions = await Promise.all(
      ['v1', 'v1beta1'].map((version) =>
        server.call(`/apis/gateway.networking.k8s.io/${version}/namespaces/default/httproutes/r`),
      ),
    )
    expect(versions.map(({ body }) => body.apiVersion)).toEqual([
      'gateway.networking.k8s.io/v1',
      'gateway.networking.k8s.io/v1beta1',
    ])
    await server.call('/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes/r', { method: 'DELETE' })
  })
})

describe('updates', () => {
  async function put(name: string, body: unknown, query = '') {
    return server.call(`${BACKENDS}/${name}${query}`, { method: 'PUT', body })
  }

  test('the generation rises with the spec, and the version with every change', async () => {
    const { body: first } = await create(BACKENDS, backend('one'))
    const { body: same } = await put('one', first)
    expect(same).toEqual(first)
    const { body: labelled } = await put('one', { ...first, metadata: { ...first.metadata, labels: { a: 'b' } } })
    expect(labelled.metadata.generation).toBe(1)
    expect(Number(labelled.metadata.resourceVersion)).toBe(Number(first.metadata.resourceVersion) + 1)
    const { body: changed } = await put('one', { ...labelled, spec: backend('one', 'b.test').spec })
    expect([changed.metadata.generation, changed.metadata.uid]).toEqual([2, first.metadata.uid])
    expect(changed.metadata.creationTimestamp).toBe(first.metadata.creationTimestamp)
  })

  test('an older version conflicts', async () => {
    const { body: first } = await create(BACKENDS, backend('one'))
    await put('one', { ...first, spec: backend('one', 'b.test').spec })
    const { status, body } = await put('one', { ...first, spec: backend('one', 'c.test').spec })
    expect([status, body.reason]).toEqual([409, 'Conflict'])
    expect(body.message).toContain('please apply your changes to the latest version and try again')
  })

  test('another uid conflicts, and own kinds need a version', async () => {
    const { body: first } = await create(BACKENDS, backend('one'))
    const other = await put('one', { ...first, metadata: { ...first.metadata, uid: 'x' } })
    expect([other.status, other.body.reason]).toEqual([409, 'Conflict'])
    const blind = await put('one', backend('one'))
    expect([blind.status, blind.body.details.causes[0].field]).toEqual([422, 'metadata.resourceVersion'])
    expect((await put('none', first)).status).toBe(404)
    expect((await put('one', { ...first, metadata: { ...first.metadata, name: 'two' } })).status).toBe(400)
  })

  test('status and the rest are written apart', async () => {
    const { body: first } = await create(BACKENDS, backend('one'))
    const status = { conditions: [] }
    const { body: told } = await server.call(`${BACKENDS}/one/status`, {
      method: 'PUT',
      body: {
        ...first,
        spec: backend('one', 'b.test').spec,
        metadata: { ...first.metadata, labels: { a: 'b' } },
        status,
      },
    })
    expect([told.status, told.spec.static.host, told.metadata.labels, told.metadata.generation]).toEqual([
      status,
      'a.test',
      undefined,
      1,
    ])
    const { body: changed } = await put('one', {
      ...told,
      spec: backend('one', 'b.test').spec,
      status: { conditions: [1] },
    })
    expect([changed.status, changed.spec.static.host]).toEqual([status, 'b.test'])
    expect((await server.call(`${BACKENDS}/one/status`)).body).toEqual(changed)
  })

  test('an object of a file is changed only in the file, but for its status', async () => {
    const { body: first } = await create(BACKENDS, backend('one'))
    server.files.set('proxybackends.gatewright.dev/default/one', { file: 'shop.yaml', line: 12 })
    for (const refused of [await put('one', first), await server.call(`${BACKENDS}/one`, { method: 'DELETE' })]) {
      expect([refused.status, refused.body.reason]).toEqual([403, 'Forbidden'])
      expect(refused.body.message).toContain('the file shop.yaml manages it (line 12)')
    }
    expect((await server.call(BACKENDS, { method: 'DELETE' })).status).toBe(403)
    const body = { ...first, status: { conditions: [] } }
    // The journal would keep the object when the file no longer has it.
    const stored = vi.spyOn(server.table, 'commit')
    expect((await server.call(`${BACKENDS}/one/status`, { method: 'PUT', body })).status).toBe(200)
    expect(stored).not.toHaveBeenCalled()
    stored.mockRestore()
  })

  test('a Namespace with objects of a file cannot be deleted', async () => {
    const remove = (path: string) => server.call(`/api/v1/namespaces${path}`, { method: 'DELETE' })
    await create('/api/v1/namespaces', { metadata: { name: 'shop' } })
    await create(BACKENDS.replace('default', 'shop'), backend('one'))
    server.files.set('proxybackends.gatewright.dev/shop/one', { file: 'shop.yaml', line: 12 })
    const refused = await remove('/shop')
    expect([refused.status, refused.body.message]).toEqual([
      403,
      expect.stringContaining('the file shop.yaml has objects in it (line 12)'),
    ])
    server.files.clear()
    expect((await remove('/shop')).status).toBe(200)
    expect((await remove('/default')).body.message).toContain('may not be deleted')
    expect((await remove('')).status).toBe(405)
    const { body } = await server.call('/api/v1')
    const { verbs } = body.resources.find(({ name }: { name: string }) => name === 'namespaces')
    expect(verbs).not.toContain('deletecollection')
  })

  test('the log gets each write, but no read', async () => {
    const written = () => server.audit.filter(({ method }) => method !== 'DELETE')
    await create(BACKENDS, backend('one'), '?dryRun=All')
    await server.call(`${BACKENDS}/one`)
    await server.call(`${BACKENDS}/one/status`, {
      method: 'PUT',
      body: backend('one'),
      headers: { 'user-agent': 'kubectl/v1' },
    })
    await server.call(BACKENDS, { method: 'POST', token: 'wrong', body: backend('one') })
    await server.call(BACKENDS, { method: 'POST', body: 'no object' })
    await server.call(`${BACKENDS}/one`, { method: 'POST', body: backend('one') })
    await create('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: { resourceAttributes: { verb: 'get' } },
    })
    await eventually('all writes are in the log', () => written().length === 5)
    expect(written()).toMatchObject([
      {
        method: 'POST',
        target: 'proxybackends.gatewright.dev',
        namespace: 'default',
        name: 'one',
        status: 201,
        dryRun: true,
      },
      {
        method: 'PUT',
        target: 'proxybackends.gatewright.dev/status',
        name: 'one',
        status: 404,
        userAgent: 'kubectl/v1',
      },
      { method: 'POST', status: 401, name: undefined },
      { method: 'POST', status: 400 },
      { method: 'POST', status: 405 },
    ])
  })

  test('a client that leaves in the middle of its request is no bug of the gateway', async () => {
    const other = await startTestServer()
    const headers = { 'content-length': '1000', expect: '100-continue' }
    const request = other.open(BACKENDS, { method: 'POST', headers })
    const failure = once(request, 'error')
    await once(request, 'continue')
    request.destroy(new Error('left'))
    await failure
    await other.close()
    expect([other.bugs, other.audit]).toEqual([[], []])
  })
})

describe('deletion', () => {
  test('an object without finalizers is removed', async () => {
    const { body: first } = await create(BACKENDS, backend('one'))
    const { status, body } = await server.call(`${BACKENDS}/one`, { method: 'DELETE' })
    expect([status, body.status, body.details.uid]).toEqual([200, 'Success', first.metadata.uid])
    expect((await server.call(`${BACKENDS}/one`)).status).toBe(404)
  })

  test.each([{ uid: 'other' }, { resourceVersion: '1' }])('the precondition %j is checked', async (preconditions) => {
    await create(BACKENDS, backend('one'))
    const { status } = await server.call(`${BACKENDS}/one`, { method: 'DELETE', body: { preconditions } })
    expect(status).toBe(409)
    expect((await server.call(`${BACKENDS}/one`)).status).toBe(200)
  })

  test.each([
    { preconditions: 5 },
    { preconditions: [] },
    { preconditions: { uid: 5 } },
    { preconditions: { resourceVersion: 7 } },
    { dryRun: 'All' },
    { dryRun: [5] },
    { orphanDependents: 'true' },
    { propagationPolicy: 5 },
  ])('the option %j is refused, and nothing is deleted', async (options) => {
    await create(BACKENDS, backend('one'))
    const { status, body } = await server.call(`${BACKENDS}/one`, { method: 'DELETE', body: options })
    expect([status, body.reason]).toEqual([400, 'BadRequest'])
    expect((await server.call(`${BACKENDS}/one`)).status).toBe(200)
  })

  test('an object with finalizers stays until the last one is removed', async () => {
    const written = backend('one')
    await create(BACKENDS, { ...written, metadata: { name: 'one', finalizers: ['example.com/a'] } })
    const { body: marked } = await server.call(`${BACKENDS}/one`, { method: 'DELETE' })
    const deletion = { deletionGracePeriodSeconds: 0, deletionTimestamp: expect.any(String), generation: 2 }
    expect(marked.metadata).toMatchObject(deletion)
    const { body: again } = await server.call(`${BACKENDS}/one`, { method: 'DELETE' })
    expect(again).toEqual(marked)
    const more = { ...marked, metadata: { ...marked.metadata, finalizers: ['example.com/a', 'example.com/b'] } }
    expect((await server.call(`${BACKENDS}/one`, { method: 'PUT', body: more })).status).toBe(403)
    const free = { ...marked, metadata: { ...marked.metadata, finalizers: [] } }
    expect((await server.call(`${BACKENDS}/one`, { method: 'PUT', body: free })).status).toBe(200)
    expect((await server.call(`${BACKENDS}/one`)).status).toBe(404)
  })

  test('a collection is deleted by selector', async () => {
    for (const name of ['a', 'b', 'c']) await create(SERVICES, service(name))
    const { body } = await server.call(`${SERVICES}?labelSelector=app+in+(a,b)`, { method: 'DELETE' })
    expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['a', 'b'])
    expect((await server.call(SERVICES)).body.items).toHaveLength(1)
  })

  test('nothing is created in a namespace that is being deleted', async () => {
    const namespaces = '/api/v1/namespaces'
    await create(namespaces, { metadata: { name: 'ending', finalizers: ['example.com/a'] } })
    expect((await server.call(`${namespaces}/ending`, { method: 'DELETE' })).body.status.phase).toBe('Terminating')
    const { status, body } = await create(`${namespaces}/ending/services`, service('late'))
    expect([status, body.reason, body.details.causes[0].reason]).toEqual([403, 'Forbidden', 'NamespaceTerminating'])
  })

  test('the namespace default stays', async () => {
    expect((await server.call('/api/v1/namespaces/default', { method: 'DELETE' })).status).toBe(403)
  })
})

describe('lists', () => {
  beforeEach(async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await create(SERVICES, service(name))
  })
  const names = (body: { items: { metadata: { name: string } }[] }) => body.items.map(({ metadata }) => metadata.name)

  test('all, of a namespace and of all namespaces', async () => {
    const { body } = await server.call(SERVICES)
    expect([body.kind, body.apiVersion, body.metadata.resourceVersion]).toEqual([
      'ServiceList',
      'v1',
      String(server.table.revision),
    ])
    expect(names(body)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(names((await server.call('/api/v1/services')).body)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(names((await server.call('/api/v1/namespaces/other/services')).body)).toEqual([])
  })

  test('pages show one state, whatever is written meanwhile', async () => {
    const first = await server.call(`${SERVICES}?limit=2`)
    expect([names(first.body), first.body.metadata.remainingItemCount]).toEqual([['a', 'b'], 3])
    await server.call(`${SERVICES}/c`, { method: 'DELETE' })
    const second = await server.call(`${SERVICES}?limit=2&continue=${first.body.metadata.continue}`)
    expect([names(second.body), second.body.metadata.resourceVersion]).toEqual([
      ['c', 'd'],
      first.body.metadata.resourceVersion,
    ])
    const last = await server.call(`${SERVICES}?limit=2&continue=${second.body.metadata.continue}`)
    expect([names(last.body), last.body.metadata.continue]).toEqual([['e'], undefined])
  })

  test('objects that a selector leaves are not counted', async () => {
    const { body } = await server.call(`${SERVICES}?limit=2&labelSelector=app`)
    expect([names(body), body.metadata.remainingItemCount]).toEqual([['a', 'b'], undefined])
    expect(body.metadata.continue).toBeDefined()
  })

  test.each([
    ['limit=x', 400],
    ['limit=1e3', 400],
    ['limit=0x10', 400],
    ['continue=x', 400],
    [`continue=${Buffer.from('{"revision":1,"namespace":"","name":""}').toString('base64url')}`, 410],
    ['labelSelector=%2C', 400],
    ['fieldSelector=spec.a%3Db', 400],
    ['resourceVersion=x', 400],
    ['resourceVersionMatch=Exact', 400],
    ['resourceVersion=1&resourceVersionMatch=Exact', 410],
    ['resourceVersion=999999999', 504],
    ['resourceVersion=0', 200],
    ['resourceVersion=1&resourceVersionMatch=NotOlderThan', 200],
  ])('%s: %d', async (query, code) => {
    expect((await server.call(`${SERVICES}?${query}`)).status).toBe(code)
  })

  test('tables and lists of metadata', async () => {
    const table = await server.call(SERVICES, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } })
    expect(table.body).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' })
    expect(table.body.rows[0].cells.slice(0, 1)).toEqual(['a'])
    expect(table.body.rows[0].object.kind).toBe('PartialObjectMetadata')
    const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
    const partial = await server.call(SERVICES, { headers: { accept } })
    expect([partial.body.kind, partial.body.items[0].spec]).toEqual(['PartialObjectMetadataList', undefined])
  })
})

describe('watches', () => {
  test('without a version: all objects, then changes', async () => {
    await create(SERVICES, service('a'))
    const watch = await server.watch(`${SERVICES}?watch=True`)
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } })
    await create(SERVICES, service('b'))
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'b' }, kind: 'Service' } })
    await server.call(`${SERVICES}/a`, { method: 'DELETE' })
    const deleted = await watch.next()
    expect([deleted.type, deleted.object.metadata.resourceVersion]).toEqual(['DELETED', String(server.table.revision)])
    watch.leave()
    await eventually('no watch is open', () => server.watches.count === 0)
  })

  test('the objects that a watch begins with may be more than a slow client may leave unread', async () => {
    const megabyte = 'x'.repeat(1024 * 1024)
    const names = Array.from({ length: 20 }, (_, at) => `big-${at + 10}`)
    const metadata = { namespace: 'default', uid: '', resourceVersion: '', creationTimestamp: '' }
    server.table.commit(
      names.map((name) => ({
        key: { collection: 'configmaps', namespace: 'default', name },
        object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, name }, data: { megabyte } },
      })),
    )
    const watch = await server.watch('/api/v1/namespaces/default/configmaps?watch=1')
    const seen: string[] = []
    for (const _ of names) seen.push((await watch.next())?.object.metadata.name)
    expect(seen).toEqual(names)
    watch.leave()
  })

  test('from a version: what was missed, then changes', async () => {
    const { body } = await create(SERVICES, service('a'))
    await create(SERVICES, service('b'))
    const watch = await server.watch(`${SERVICES}?watch=1&resourceVersion=${body.metadata.resourceVersion}`)
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'b' } } })
    watch.leave()
  })

  test('an object that is no longer selected is deleted for the client', async () => {
    const { body } = await create(SERVICES, service('a'))
    const { resourceVersion } = body.metadata
    const watch = await server.watch(`${SERVICES}?watch=1&labelSelector=app%3Da&resourceVersion=${resourceVersion}`)
    await create(SERVICES, service('b'))
    const relabel = (labels: object, from: { metadata: object }) =>
      server.call(`${SERVICES}/a`, { method: 'PUT', body: { ...from, metadata: { ...from.metadata, labels } } })
    const { body: other } = await relabel({ app: 'other' }, body)
    const gone = await watch.next()
    expect([gone.type, gone.object.metadata.labels, gone.object.metadata.resourceVersion]).toEqual([
      'DELETED',
      { app: 'a' },
      other.metadata.resourceVersion,
    ])
    await relabel({ app: 'a' }, other)
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { labels: { app: 'a' } } } })
    watch.leave()
  })

  test('a version that is no longer known', async () => {
    const unknown = await startTestServer()
    for (let port = 1; port <= 20_001; port += 1) {
      unknown.table.commit([
        {
          key: { collection: 'x', namespace: '', name: 'x' },
          object: {
            apiVersion: 'v1',
            kind: 'X',
            metadata: { name: 'x', uid: '', resourceVersion: '', creationTimestamp: '' },
          },
        },
      ])
    }
    const old = await unknown.watch(`${SERVICES}?watch=1&resourceVersion=2`)
    expect(await old.next()).toMatchObject({ type: 'ERROR', object: { kind: 'Status', reason: 'Expired', code: 410 } })
    expect(await old.next()).toBeUndefined()
    await unknown.close()
  })

  test('initial events end with a bookmark', async () => {
    await create(SERVICES, service('a'))
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    const watch = await server.watch(`${SERVICES}?${query}`)
    expect(await watch.next()).toMatchObject({ type: 'ADDED' })
    expect(await watch.next()).toMatchObject({
      type: 'BOOKMARK',
      object: {
        kind: 'Service',
        metadata: {
          annotations: { 'k8s.io/initial-events-end': 'true' },
          resourceVersion: String(server.table.revision),
        },
      },
    })
    watch.leave()
  })

  test('a watch ends after its time', async () => {
    using time = new PassingTime()
    const watch = await server.watch(`${SERVICES}?watch=1&timeoutSeconds=1`)
    expect(await time.hurry(watch.next())).toBeUndefined()
  })

  test('rows of tables: the columns come once', async () => {
    const watch = await server.watch(`${SERVICES}?watch=1`, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    })
    await create(SERVICES, service('a'))
    await create(SERVICES, service('b'))
    const [first, second] = [await watch.next(), await watch.next()]
    expect([first.object.columnDefinitions[0].name, first.object.rows[0].cells[0]]).toEqual(['Name', 'a'])
    expect([second.object.columnDefinitions, second.object.rows[0].cells[0]]).toEqual([null, 'b'])
    watch.leave()
  })

  test.each([
    ['sendInitialEvents=true', 400],
    ['resourceVersionMatch=NotOlderThan', 400],
    ['timeoutSeconds=x', 400],
    ['resourceVersion=x', 400],
    ['resourceVersion=99999999', 504],
    ['labelSelector=%2C', 400],
  ])('%s: %d', async (query, code) => {
    expect((await server.call(`${SERVICES}?watch=1&${query}`)).status).toBe(code)
  })
})

test('questions about access are answered', async () => {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const spec = { resourceAttributes: { verb: 'create', resource: 'services' } }
  const { status, body } = await server.call(path, { method: 'POST', body: { spec } })
  expect([status, body.kind, body.spec, body.status.allowed]).toEqual([201, 'SelfSubjectAccessReview', spec, true])
  expect((await server.call(path)).status).toBe(405)
})

describe('patches', () => {
  const patchBackend = (type: string, body: unknown, path = '') =>
    server.call(`${BACKENDS}/one${path}`, { method: 'PATCH', body, headers: { 'content-type': `application/${type}` } })

  beforeEach(async () => {
    await create(BACKENDS, backend('one'))
  })

  test('a merge patch', async () => {
    const { status, body } = await patchBackend('merge-patch+json', {
      metadata: { labels: { a: 'b' } },
      spec: { static: { host: 'b.test' } },
    })
    expect([status, body.metadata.labels, body.spec.static, body.metadata.generation]).toEqual([
      200,
      { a: 'b' },
      { host: 'b.test', port: 80 },
      2,
    ])
    const { body: without } = await patchBackend('merge-patch+json', { metadata: { labels: null } })
    expect([without.metadata.labels, without.metadata.generation]).toEqual([undefined, 2])
  })

  test('a JSON patch', async () => {
    const { body } = await patchBackend('json-patch+json', [
      { op: 'replace', path: '/spec/static/host', value: 'b.test' },
    ])
    expect(body.spec.static.host).toBe('b.test')
    const failed = await patchBackend('json-patch+json', [{ op: 'test', path: '/spec/static/host', value: 'a.test' }])
    // `kubectl` prints the message only without the name of the object.
    expect([failed.status, failed.body.reason, failed.body.details]).toEqual([422, 'Invalid', {}])
  })

  test('a strategic merge patch, for kinds of the platform only', async () => {
    await create(SERVICES, service('shop'))
    const headers = { 'content-type': 'application/strategic-merge-patch+json' }
    const body = {
      spec: {
        ports: [
          { port: 81, name: 'b' },
          { port: 80, name: 'a' },
        ],
      },
    }
    const patched = await server.call(`${SERVICES}/shop`, { method: 'PATCH', body, headers })
    expect(patched.body.spec.ports.map(({ port, name }: { port: number; name: string }) => [port, name])).toEqual([
      [81, 'b'],
      [80, 'a'],
    ])
    expect((await patchBackend('strategic-merge-patch+json', {})).status).toBe(415)
  })

  test('of the status alone', async () => {
    const { body } = await patchBackend(
      'merge-patch+json',
      { status: { conditions: [] }, spec: { static: { host: 'b.test' } } },
      '/status',
    )
    expect([body.status, body.spec.static.host]).toEqual([{ conditions: [] }, 'a.test'])
  })

  test('the version in a patch is a precondition', async () => {
    const { status } = await patchBackend('merge-patch+json', {
      metadata: { resourceVersion: '1', labels: { a: 'b' } },
    })
    expect(status).toBe(409)
  })

  test.each([
    ['text/plain', {}, 415],
    ['application/merge-patch+json', '{', 400],
    ['application/merge-patch+json', { metadata: { name: 'two' } }, 400],
    ['application/merge-patch+json', { kind: 'Other' }, 400],
    ['application/merge-patch+json', { spec: null }, 422],
    ['application/json-patch+json', {}, 400],
  ])('%s %j is refused with %3$d', async (type, body, code) => {
    const answer = await server.call(`${BACKENDS}/one`, { method: 'PATCH', body, headers: { 'content-type': type } })
    expect(answer.status).toBe(code)
    expect((await server.call(`${BACKENDS}/one`)).body.metadata.generation).toBe(1)
  })

  test('an object that does not exist', async () => {
    const headers = { 'content-type': 'application/merge-patch+json' }
    expect((await server.call(`${BACKENDS}/none`, { method: 'PATCH', body: {}, headers })).status).toBe(404)
  })
})

test('a Service as protobuf, as kubectl creates it', async () => {
  const metadata = Buffer.from('\x0a\x04shop')
  const port = Buffer.from('\x18\x50')
  const spec = Buffer.concat([Buffer.from([0x0a, port.length]), port])
  const raw = Buffer.concat([Buffer.from([0x0a, metadata.length]), metadata, Buffer.from([0x12, spec.length]), spec])
  const type = Buffer.from('\x0a\x02v1\x12\x07Service')
  const text = Buffer.concat([
    Buffer.from('k8s\0'),
    Buffer.from([0x0a, type.length]),
    type,
    Buffer.from([0x12, raw.length]),
    raw,
  ])
  const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
  const { status, body } = await server.call(SERVICES, { method: 'POST', body: text.toString(), headers })
  expect([status, body.metadata.name, body.spec.ports]).toEqual([201, 'shop', [expect.objectContaining({ port: 80 })]])
})

describe('managers of fields', () => {
  const apply = (manager: string, body: unknown, query = '', path = `${BACKENDS}/one`) =>
    server.call(`${path}?fieldManager=${manager}${query}`, {
      method: 'PATCH',
      body,
      headers: { 'content-type': 'application/apply-patch+yaml' },
    })
  const applied = (host: string, labels: object = {}) => ({
    apiVersion: 'gatewright.dev/v1alpha1',
    kind: 'ProxyBackend',
    metadata: { name: 'one', labels },
    spec: { static: { host, port: 80 } },
  })
  const managers = (body: { metadata: { managedFields?: { manager: string; operation: string }[] } }) =>
    body.metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`)

  test('who creates, changes or applies an object owns its fields', async () => {
    const { body: first } = await create(BACKENDS, backend('one'), '?fieldManager=creator')
    expect(managers(first)).toEqual(['creator Update'])
    expect(first.metadata.managedFields[0]).toMatchObject({
      apiVersion: 'gatewright.dev/v1alpha1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:static': { 'f:host': {} } } },
    })
    const { body: told } = await server.call(`${BACKENDS}/one/status`, {
      method: 'PUT',
      body: { ...first, status: { conditions: [] } },
      headers: { 'user-agent': 'controller/v1' },
    })
    // In the order of their times, which are whole seconds.
    expect(managers(told)?.toSorted()).toEqual(['controller Update', 'creator Update'])
    const { revision } = server.table
    const same = await server.call(`${BACKENDS}/one?fieldManager=other`, { method: 'PUT', body: told })
    expect([same.body, server.table.revision]).toEqual([told, revision])
  })

  test('configuration is applied, and what is no longer applied is removed', async () => {
    const { status, body } = await apply('a', applied('a.test', { x: '1', y: '2' }))
    expect([status, managers(body), body.metadata.generation]).toEqual([201, ['a Apply'], 1])
    const { revision } = server.table
    expect((await apply('a', applied('a.test', { x: '1', y: '2' }))).body).toEqual(body)
    expect(server.table.revision).toBe(revision)
    const { body: next } = await apply('a', applied('b.test', { x: '1' }))
    expect([next.metadata.labels, next.spec.static.host, next.metadata.generation]).toEqual([{ x: '1' }, 'b.test', 2])
  })

  test('fields of another manager conflict, unless they are taken', async () => {
    await apply('a', applied('a.test'))
    const refused = await apply('b', applied('b.test'))
    expect([refused.status, refused.body.reason]).toEqual([409, 'Conflict'])
    expect(refused.body.message).toBe('Apply failed with 1 conflict: conflict with "a": .spec.static.host')
    expect(refused.body.details.causes).toEqual([
      { reason: 'FieldManagerConflict', message: 'conflict with "a"', field: '.spec.static.host' },
    ])
    const { status, body } = await apply('b', applied('b.test'), '&force=true')
    expect([status, body.spec.static.host]).toEqual([200, 'b.test'])
  })

  test('a status is applied apart, and has its own manager', async () => {
    await apply('a', applied('a.test'))
    const { spec: _, ...identity } = applied('a.test')
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'Ok',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }
    const status = { conditions: [condition] }
    const { body } = await apply('controller', { ...identity, status }, '', `${BACKENDS}/one/status`)
    expect([body.status, body.spec.static.host, managers(body)]).toEqual([
      status,
      'a.test',
      ['a Apply', 'controller Apply'],
    ])
    const { revision } = server.table
    await apply('controller', { ...identity, status }, '', `${BACKENDS}/one/status`)
    expect(server.table.revision).toBe(revision)
  })

  test.each([
    ['without manager', () => apply('', applied('a.test')), 422],
    ['that is invalid', () => apply('a', { ...applied('a.test'), spec: {} }), 422],
    ['with managed fields', () => apply('a', { ...applied('a.test'), metadata: { managedFields: [{}] } }), 400],
    ['that is no object', () => apply('a', '[]'), 400],
    ['that is not YAML', () => apply('a', '{'), 400],
    ['of another object', () => apply('a', { ...applied('a.test'), metadata: { uid: 'other' } }), 409],
    ['of the status of nothing', () => apply('a', applied('a.test'), '', `${BACKENDS}/one/status`), 404],
  ])('configuration %s is refused', async (_, refused, code) => {
    expect((await refused()).status).toBe(code)
    expect((await server.call(`${BACKENDS}/one`)).status).toBe(404)
  })

  test('an object of a file cannot be applied to, but for its status', async () => {
    await create(BACKENDS, backend('one'))
    server.files.set('proxybackends.gatewright.dev/default/one', { file: 'shop.yaml', line: 12 })
    expect((await apply('a', applied('a.test'), '&force=true')).status).toBe(403)
    expect((await apply('a', applied('a.test'), '', `${BACKENDS}/one/status`)).status).toBe(200)
  })
})

test('a selector may be long', async () => {
  const values = Array.from({ length: 10_000 }, (_, at) => `v${at}`).join()
  expect((await server.call(`${SERVICES}?labelSelector=a+in+(${values})`)).status).toBe(200)
})

test('a body of YAML whose aliases never end', async () => {
  const headers = { 'content-type': 'application/yaml' }
  expect((await server.call(SERVICES, { method: 'POST', body: 'a: &a [*a, *a]', headers })).status).toBe(400)
})

test('a body of YAML with aliases and merge keys', async () => {
  const headers = { 'content-type': 'application/yaml' }
  const body = 'metadata: {name: merged, labels: &l {a: b}, annotations: {<<: *l, c: d}}\nspec: {ports: [{port: 80}]}\n'
  const created = await server.call(SERVICES, { method: 'POST', body, headers })
  expect(created.body.metadata).toMatchObject({ labels: { a: 'b' }, annotations: { a: 'b', c: 'd' } })
})

test('a body that is nested too deeply', async () => {
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  const bodyOf = (levels: number) =>
    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"more":${nested(levels)}}`
  const write = async (levels: number, type: string) => {
    const options = { method: 'POST', body: bodyOf(levels), headers: { 'content-type': type } }
    const { status, body } = await server.call('/api/v1/namespaces/default/configmaps?fieldValidation=Ignore', options)
    return [status, body.message]
  }
  const refusal = [400, 'the body is nested too deeply: at most 1000 levels are allowed']
  for (const levels of [1001, 100_000]) expect(await write(levels, 'application/json')).toEqual(refusal)
  expect(await write(1100, 'application/yaml')).toEqual(refusal)
  expect((await write(900, 'application/json'))[0]).toBe(201)
  const operations = Array.from({ length: 1100 }, (_, level) => ({
    op: 'add',
    path: `/${Array(level + 1)
      .fill('a')
      .join('/')}`,
    value: {},
  }))
  const patched = await server.call('/api/v1/namespaces/default/configmaps/deep', {
    method: 'PATCH',
    body: operations,
    headers: { 'content-type': 'application/json-patch+json' },
  })
  expect([patched.status, patched.body.message]).toEqual(refusal)
})
