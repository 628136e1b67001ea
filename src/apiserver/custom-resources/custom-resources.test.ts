import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { startTestServer } from '../testing.ts'

let server: Awaited<ReturnType<typeof startTestServer>>
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1, maximum: 9 },
        color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        locked: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'cannot change' }] },
      },
      'x-kubernetes-validations': [
        { rule: "self.color != 'blue' || self.size > 2", message: 'blue ones are larger', fieldPath: '.size' },
      ],
    },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
}

function definition(plural: string, kind: string, more: object = {}, version: object = {}) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      names: { plural, kind, shortNames: [plural.slice(0, 3)], categories: ['all'] },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: SCHEMA },
          subresources: { status: {} },
          additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
          ...version,
        },
      ],
      ...more,
    },
  }
}

async function establish(body: { metadata: { name: string } }) {
  const { status, text } = await server.call(DEFINITIONS, { method: 'POST', body })
  expect(text).not.toContain('Failure')
  expect(status).toBe(201)
  return conditionsOf(body.metadata.name, 'Established')
}

async function conditionsOf(name: string, type: string) {
  return eventually(`the condition ${type} of ${name}`, async () => {
    const { body } = await server.call(`${DEFINITIONS}/${name}`)
    const found = body.status?.conditions?.find((each: { type: string }) => each.type === type)
    expect(found).toBeDefined()
    return { ...found, status: found.status, all: body }
  })
}

const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'
const widget = (name: string, spec: object) => ({ metadata: { name }, spec })

test('a kind is served as soon as its definition is established', async () => {
  const { status, all } = await establish(definition('widgets', 'Widget'))
  expect(status).toBe('True')
  expect(all.spec.names).toMatchObject({ singular: 'widget', listKind: 'WidgetList' })
  expect(all.status).toMatchObject({ storedVersions: ['v1'], acceptedNames: { plural: 'widgets' } })
  const created = await server.call(WIDGETS, { method: 'POST', body: widget('a', { size: 3 }) })
  expect(created.body).toMatchObject({ kind: 'Widget', spec: { size: 3, color: 'red' }, metadata: { generation: 1 } })
  const { body } = await server.call('/apis/example.com/v1')
  expect(body.resources.map(({ name }: { name: string }) => name)).toEqual(['widgets', 'widgets/status'])
  expect((await server.call('/openapi/v3/apis/example.com/v1')).text).toContain('com.example.v1.Widget')
  const table = await server.call(WIDGETS, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } })
  expect(table.body.rows[0].cells).toEqual(['a', 3])
})

test.each([
  ['a required field', { color: 'red' }, ['spec.size: Required value']],
  ['a bound', { size: 10 }, ['spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9']],
  [
    'a type',
    { size: 'x' },
    ['spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'],
  ],
  [
    'an enumeration',
    { size: 1, color: 'green' },
    ['spec.color: Unsupported value: "green": supported values: "red", "blue"'],
  ],
  ['a rule', { size: 2, color: 'blue' }, ['spec.size: Invalid value: blue ones are larger']],
])('objects are refused for %s', async (_, spec, expected) => {
  const { status, body } = await server.call(WIDGETS, { method: 'POST', body: widget('b', spec) })
  expect(status).toBe(422)
  const causes = body.details.causes as { field: string; message: string }[]
  expect(causes.map(({ field, message }) => `${field}: ${message}`)).toEqual(expect.arrayContaining(expected))
})

test('unknown fields are dropped, reported or refused, and kept where the schema says so', async () => {
  const body = widget('c', { size: 1, more: 1, free: { anything: [1] } })
  const strict = await server.call(`${WIDGETS}?fieldValidation=Strict`, { method: 'POST', body })
  expect([strict.status, strict.text]).toEqual([422, expect.stringContaining('spec.more')])
  const warned = await server.call(`${WIDGETS}?fieldValidation=Warn`, { method: 'POST', body })
  expect(warned.headers.warning).toContain('unknown field')
  expect(warned.body.spec).toEqual({ size: 1, color: 'red', free: { anything: [1] } })
})

test('objects are selected by the fields that the definition names', async () => {
  const selectableFields = [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.size' }]
  await establish(definition('pickles', 'Pickle', {}, { selectableFields }))
  const pickles = '/apis/example.com/v1/namespaces/default/pickles'
  for (const [name, spec] of Object.entries({ a: { size: 1 }, b: { size: 3, color: 'blue' }, c: { size: 3 } })) {
    await server.call(pickles, { method: 'POST', body: widget(name, spec) })
  }
  const select = async (fields: string) => (await server.call(`${pickles}?fieldSelector=${fields}`)).body.items
  expect(await select('spec.size=3,spec.color!=blue')).toMatchObject([{ metadata: { name: 'c' } }])
  expect((await server.call(`${pickles}?fieldSelector=spec.locked=x`)).status).toBe(400)
})

test('a rule about changes compares with the stored object', async () => {
  await server.call(WIDGETS, { method: 'POST', body: widget('d', { size: 1, locked: 'x' }) })
  const { body } = await server.call(`${WIDGETS}/d`)
  const put = (locked: string) =>
    server.call(`${WIDGETS}/d`, { method: 'PUT', body: { ...body, spec: { ...body.spec, locked } } })
  expect((await put('y')).text).toContain('spec.locked: Invalid value: \\"y\\": cannot change')
  expect((await put('x')).status).toBe(200)
})

test('every served version has the objects, stored in one', async () => {
  const version = { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: SCHEMA } }
  const both = definition('gears', 'Gear')
  await establish({ ...both, spec: { ...both.spec, versions: [...both.spec.versions, version] } } as never)
  const path = (name: string) => `/apis/example.com/${name}/namespaces/default/gears`
  await server.call(path('v2'), { method: 'POST', body: widget('a', { size: 1 }) })
  const { body } = await server.call(`${path('v1')}/a`)
  expect([body.apiVersion, body.spec.size]).toEqual(['example.com/v1', 1])
  expect((await server.call(`${path('v2')}/a`)).body.apiVersion).toBe('example.com/v2')
  expect((await server.call(path('v3'))).status).toBe(404)
})

test('a definition whose names are taken is not established', async () => {
  await establish(definition('cogs', 'Cog'))
  const { body } = await server.call(DEFINITIONS, { method: 'POST', body: definition('cogwheels', 'Cog') })
  const { status, message } = await conditionsOf(body.metadata.name, 'NamesAccepted')
  expect([status, message]).toEqual(['False', expect.stringContaining('"Cog" is already in use')])
  expect((await server.call('/apis/example.com/v1/cogwheels')).status).toBe(404)
  await server.call(`${DEFINITIONS}/cogs.example.com`, { method: 'DELETE' })
  await eventually('the other kind is served', async () =>
    expect((await server.call('/apis/example.com/v1/cogwheels')).status).toBe(200),
  )
})

test('the objects go with their definition', async () => {
  await establish(definition('bolts', 'Bolt'))
  const path = '/apis/example.com/v1/namespaces/default/bolts'
  const held = { metadata: { name: 'held', finalizers: ['example.com/wait'] }, spec: { size: 1 } }
  await server.call(path, { method: 'POST', body: widget('a', { size: 1 }) })
  await server.call(path, { method: 'POST', body: held })
  await server.call(`${DEFINITIONS}/bolts.example.com`, { method: 'DELETE' })
  await conditionsOf('bolts.example.com', 'Terminating')
  const { body } = await server.call(path)
  expect(body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(['held'])
  const patch = [{ op: 'remove', path: '/metadata/finalizers' }]
  const headers = { 'content-type': 'application/json-patch+json' }
  await server.call(`${path}/held`, { method: 'PATCH', body: patch, headers })
  await eventually('the definition is gone', async () =>
    expect((await server.call(`${DEFINITIONS}/bolts.example.com`)).status).toBe(404),
  )
  await eventually('the kind is gone', async () => expect((await server.call(path)).status).toBe(404))
})

test('a definition of a built-in kind is established, and the built-in definition stays', async () => {
  const gateways = definition('gateways', 'Gateway')
  const body = {
    ...gateways,
    metadata: {
      name: 'gateways.gateway.networking.k8s.io',
      annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api/pull/1' },
    },
    spec: { ...gateways.spec, group: 'gateway.networking.k8s.io' },
  }
  const { status, message } = await establish(body)
  expect([status, message]).toEqual(['True', expect.stringContaining('built in')])
  const { body: list } = await server.call('/apis/gateway.networking.k8s.io/v1')
  expect(list.resources.map(({ name }: { name: string }) => name)).toContain('gateways/status')
  const gateway = { metadata: { name: 'g' }, spec: { gatewayClassName: 'x', listeners: [], onlyInTheDefinition: 1 } }
  const created = await server.call('/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways', {
    method: 'POST',
    body: gateway,
  })
  expect(created.body.spec).toMatchObject({ onlyInTheDefinition: 1 })
  await server.call(`${DEFINITIONS}/${body.metadata.name}`, { method: 'DELETE' })
  const kept = await server.call('/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways/g')
  expect(kept.status).toBe(200)
})

test('kinds are served again after a restart', async () => {
  const { CustomResources } = await import('./custom-resources.ts')
  const { KindRegistry } = await import('../kinds/registry.ts')
  const kinds = new KindRegistry([])
  const again = new CustomResources({
    table: server.table,
    kinds,
    reportFailure: (error) => expect(error).toBeUndefined(),
  })
  expect(kinds.find('example.com', 'v1', 'widgets')?.kind).toBe('Widget')
  again.close()
})

test('nothing failed', () => {
  expect(server.bugs).toEqual([])
})

describe('the scale subresource', () => {
  const CRATES = '/apis/example.com/v1/namespaces/default/crates'
  const integer = { type: 'integer' }
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { copies: { ...integer, maximum: 5 } } },
      status: { type: 'object', properties: { copies: integer, selector: { type: 'string' } } },
    },
  }
  const subresources = {
    status: {},
    scale: {
      specReplicasPath: '.spec.copies',
      statusReplicasPath: '.status.copies',
      labelSelectorPath: '.status.selector',
    },
  }
  const scale = (replicas: unknown, metadata: object = {}) => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'one', ...metadata },
    spec: { replicas },
  })
  const write = (method: string, body: unknown, type = 'application/json', query = '') =>
    server.call(`${CRATES}/one/scale${query}`, { method, body, headers: { 'content-type': type } })
  const copies = async () => (await server.call(`${CRATES}/one`)).body.spec.copies

  beforeAll(async () => {
    await establish(definition('crates', 'Crate', {}, { schema: { openAPIV3Schema: schema }, subresources }))
    await server.call(CRATES, { method: 'POST', body: { metadata: { name: 'one' }, spec: { copies: 2 } } })
    const status = { copies: 1, selector: 'app=one' }
    const { body } = await server.call(`${CRATES}/one`)
    await server.call(`${CRATES}/one/status`, { method: 'PUT', body: { ...body, status } })
  })

  test('is read', async () => {
    const { body } = await server.call(`${CRATES}/one/scale`)
    expect(body).toMatchObject({
      ...scale(2, { namespace: 'default' }),
      status: { replicas: 1, selector: 'app=one' },
    })
    const { body: object } = await server.call(`${CRATES}/one`)
    expect(body.metadata).toEqual({
      name: 'one',
      namespace: 'default',
      uid: object.metadata.uid,
      resourceVersion: object.metadata.resourceVersion,
      creationTimestamp: object.metadata.creationTimestamp,
    })
  })

  test('is replaced, patched and applied', async () => {
    const replaced = await write('PUT', scale(3))
    expect([replaced.status, replaced.body.kind, replaced.body.spec, await copies()]).toEqual([
      200,
      'Scale',
      { replicas: 3 },
      3,
    ])
    await write('PATCH', { spec: { replicas: 4 } }, 'application/merge-patch+json')
    expect(await copies()).toBe(4)
    const operations = [{ op: 'replace', path: '/spec/replicas', value: 1 }]
    await write('PATCH', operations, 'application/json-patch+json')
    expect(await copies()).toBe(1)
    const apply = (replicas: number, force: boolean) =>
      write('PATCH', scale(replicas), 'application/apply-patch+yaml', `?fieldManager=scaler&force=${force}`)
    expect((await apply(5, false)).status).toBe(409)
    expect((await apply(5, true)).status).toBe(200)
    const { body } = await server.call(`${CRATES}/one`)
    expect(body.spec.copies).toBe(5)
    expect(body.metadata.managedFields).toContainEqual(
      expect.objectContaining({
        manager: 'scaler',
        operation: 'Apply',
        subresource: 'scale',
        fieldsV1: { 'f:spec': { 'f:copies': {} } },
      }),
    )
  })

  test('is refused', async () => {
    const causes = async (body: unknown) => {
      const { status, body: answer } = await write('PUT', body)
      return [status, ...(answer.details?.causes ?? []).map((cause: { field: string }) => cause.field)]
    }
    expect(await causes(scale(-1))).toEqual([422, 'spec.replicas'])
    expect(await causes(scale('2'))).toEqual([422, 'spec.replicas'])
    expect(await causes(scale(6))).toEqual([422, 'spec.copies'])
    expect(await causes(scale(1, { resourceVersion: '1' }))).toEqual([409])
    expect(await causes(scale(1, { name: 'two' }))).toEqual([400])
    expect(await causes({ ...scale(1), kind: 'Crate' })).toEqual([400])
    expect((await write('DELETE', undefined)).status).toBe(405)
    expect((await server.call(`${WIDGETS}/one/scale`)).status).toBe(404)
    expect((await server.call(`${CRATES}/none/scale`)).status).toBe(404)
  })
})
