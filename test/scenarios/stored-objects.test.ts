import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { openTable } from '#store/database/testing.ts'
import type { Resource } from '#store/resources/resource.ts'
import type { ResourceTable, ResourceWrite } from '#store/resources/resource-table.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { gatewayYaml } from '#test/support/objects-folder.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

let state: string
let files: string
let port: number

beforeEach(async () => {
  state = temporaryFolder()
  files = temporaryFolder()
  port = await freePort()
  writeFileSync(join(files, 'gateway.yaml'), gatewayYaml(port))
})

const GATEWAY_API = 'gateway.networking.k8s.io'

/** A route of the API that redirects everything. */
function redirect(status: unknown): ResourceWrite {
  const filter = { type: 'RequestRedirect', requestRedirect: { hostname: 'other.example', statusCode: status } }
  const object = {
    apiVersion: `${GATEWAY_API}/v1`,
    kind: 'HTTPRoute',
    metadata: {
      name: 'stored',
      namespace: 'default',
      uid: 'u',
      resourceVersion: '',
      creationTimestamp: '2026-01-01T00:00:00Z',
      generation: 1,
    },
    spec: { parentRefs: [{ name: 'main' }], rules: [{ filters: [filter] }] },
  }
  return { key: { collection: `httproutes.${GATEWAY_API}`, namespace: 'default', name: 'stored' }, object }
}

function withTable<T>(use: (table: ResourceTable) => T): T {
  const { table } = openTable(join(state, 'objects.db'))
  try {
    return use(table)
  } finally {
    table.close()
  }
}

const start = () => startGateway({ files: [files], stateFolder: state, workers: 1 })

test('objects in the database of the state folder are in force, and get their status there', async () => {
  withTable((table) => table.commit([redirect(302)]))
  {
    await using gateway = await start()
    const response = await fetch(gateway.url(port), { redirect: 'manual' })
    expect([response.status, response.headers.get('location')]).toEqual([302, `http://other.example:${port}/`])
  }
  const stored = withTable((table) => table.get(redirect(302).key)) as Resource & {
    status: { parents: { conditions: { type: string; status: string }[] }[] }
  }
  const conditions = stored.status.parents.flatMap((parent) => parent.conditions)
  expect(conditions).toContainEqual(expect.objectContaining({ type: 'Accepted', status: 'True' }))
})

test('a stored route that this version refuses fails closed', async () => {
  withTable((table) => table.commit([redirect(999)]))
  await using gateway = await start()
  expect((await fetch(gateway.url(port), { redirect: 'manual' })).status).toBe(500)
  expect(gateway.output.stderr).toContain('HTTPRoute default/stored')
})

test('a gateway does not start with a damaged database, nor with one that is in use', async () => {
  writeFileSync(join(state, 'objects.db'), 'this is the text of a letter\n'.repeat(500))
  await expect(start()).rejects.toThrow(/the gateway cannot start .*objects\.db is damaged.*gatewright salvage --state/)
  const other = temporaryFolder()
  const { table } = openTable(join(other, 'objects.db'))
  const second = startGateway({ files: [files], stateFolder: other, workers: 1 })
  await expect(second).rejects.toThrow(/the gateway cannot start .*another process uses/)
  table.close()
})

test('a second gateway in the same state folder does not start, also without an API', async () => {
  const options = { files: [files], stateFolder: temporaryFolder(), workers: 1 }
  await using first = await startGateway(options)
  await expect(startGateway(options)).rejects.toThrow(/the gateway cannot start .*another process uses .*--state/)
  await first.close()
  await using third = await startGateway(options)
  expect(third.output.stderr).not.toContain('cannot start')
})
