import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestServer, TOKEN } from '#apiserver/testing.ts'
import { ApiClient } from '#cluster/api-client.ts'
import { ApiUnreadable } from '#cluster/api-unreadable.ts'
import { definitionPath } from '#cluster/definition-path.ts'
import { migrateDefinition } from '#cluster/migrate-definition.ts'
import { eventually } from '#test/support/eventually.ts'

const NAME = 'widgets.example.com'
const LIST = '/apis/example.com/v1/namespaces/default/widgets'
const OBJECTS = 250

let server: Awaited<ReturnType<typeof startTestServer>>
let client: ApiClient
beforeAll(async () => {
  server = await startTestServer()
  const access = { server: new URL(server.url), tls: { ca: server.ca }, headers: { authorization: `Bearer ${TOKEN}` } }
  client = new ApiClient(access)
  await client.create(definitionPath('').slice(0, -1), definition('v1alpha1'))
  await eventually('the kind is served', () => client.get(LIST))
})
afterAll(async () => {
  client[Symbol.dispose]()
  await server.close()
})

function definition(stored: string): object {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
    },
  }
  const versions = ['v1alpha1', 'v1'].map((name) => ({ name, served: true, storage: name === stored, schema }))
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: NAME },
    spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' }, versions },
  }
}

async function storedVersions(): Promise<unknown> {
  const { body } = await client.get(definitionPath(NAME))
  return (body.status as { storedVersions: unknown }).storedVersions
}

test('objects are stored anew in pages, and then the old version is forgotten', async () => {
  const names = Array.from({ length: OBJECTS }, (_, index) => `w${index}`)
  for (const name of names)
    await client.create(LIST.replace('/v1/', '/v1alpha1/'), {
      apiVersion: 'example.com/v1alpha1',
      kind: 'Widget',
      metadata: { name },
      spec: { size: 1 },
    })
  const both = { name: NAME, storage: 'v1', former: ['v1alpha1'], objects: OBJECTS }
  expect(await migrateDefinition(client, NAME, { dryRun: true })).toEqual({
    name: NAME,
    storage: 'v1alpha1',
    former: [],
    objects: 0,
  })
  await client.merge(definitionPath(NAME), { spec: (definition('v1') as { spec: object }).spec })
  await eventually('the server lists both versions', async () => String(await storedVersions()) === 'v1alpha1,v1')
  const written: string[] = []
  const api = {
    server: client.server,
    get: client.get.bind(client),
    replace: async (path: string, object: object) => {
      written.push(path)
      // Somebody else is faster.
      if (path === `${LIST}/w7`) await client.merge(path, { spec: { size: 2 } })
      return client.replace(path, object)
    },
  }
  expect(await migrateDefinition(api, NAME, { dryRun: true })).toEqual(both)
  expect(written).toEqual([])
  expect(await migrateDefinition(api, NAME, { dryRun: false })).toEqual(both)
  expect(written.length).toBe(OBJECTS + 1)
  expect(written.at(-1)).toBe(`${definitionPath(NAME)}/status`)
  expect(await storedVersions()).toEqual(['v1'])
  expect((await client.get(`${LIST}/w7`)).body).toMatchObject({ spec: { size: 2 } })
  expect(await migrateDefinition(api, NAME, { dryRun: false })).toEqual({ ...both, former: [], objects: 0 })
})

test('a migration that ends early forgets nothing, and can be repeated', async () => {
  const { body } = await client.get(definitionPath(NAME))
  await client.replace(`${definitionPath(NAME)}/status`, {
    ...body,
    status: { ...(body.status as object), storedVersions: ['v1alpha1', 'v1'] },
  })
  let writes = 0
  const broken = {
    server: client.server,
    get: client.get.bind(client),
    replace: async (path: string, object: object) => {
      if (++writes > 10) throw new ApiUnreadable('away')
      return client.replace(path, object)
    },
  }
  await expect(migrateDefinition(broken, NAME, { dryRun: false })).rejects.toThrow('away')
  expect(await storedVersions()).toEqual(['v1alpha1', 'v1'])
  // A definition that changes meanwhile may want another version.
  const changing = {
    server: client.server,
    get: client.get.bind(client),
    replace: async (path: string, object: object) => {
      if (path.endsWith('/w9'))
        await client.merge(definitionPath(NAME), { spec: (definition('v1alpha1') as { spec: object }).spec })
      return client.replace(path, object)
    },
  }
  await expect(migrateDefinition(changing, NAME, { dryRun: false })).rejects.toThrow(
    'has changed while its objects were stored',
  )
  expect(await migrateDefinition(client, NAME, { dryRun: false })).toMatchObject({
    storage: 'v1alpha1',
    objects: OBJECTS,
  })
  expect(await storedVersions()).toEqual(['v1alpha1'])
})

test('a definition that does not exist', async () => {
  expect(await migrateDefinition(client, 'gadgets.example.com', { dryRun: false })).toBeUndefined()
})
