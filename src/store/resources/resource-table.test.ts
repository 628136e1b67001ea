import { expect, test } from 'vitest'
import type { Resource, ResourceKey } from './resource.ts'
import { type Journal, ResourceTable } from './resource-table.ts'

const KEY: ResourceKey = { collection: 'services', namespace: 'default', name: 'shop' }

function service(name: string, namespace = 'default', port = 80): Resource {
  const metadata = { name, namespace, uid: name, resourceVersion: '', creationTimestamp: '2026-01-01T00:00:00Z' }
  return { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port }] } }
}

function put(table: ResourceTable, name: string, namespace = 'default', port = 80) {
  return table.commit([{ key: { ...KEY, name, namespace }, object: service(name, namespace, port) }])
}

test('each change has the next revision, and the object carries it', () => {
  const table = new ResourceTable()
  const [added] = put(table, 'shop')
  expect(added).toMatchObject({ type: 'ADDED', revision: 2, before: undefined })
  expect(table.get(KEY)?.metadata.resourceVersion).toBe('2')
  const [modified] = put(table, 'shop', 'default', 81)
  expect(modified).toMatchObject({ type: 'MODIFIED', revision: 3, before: added!.object })
  const [deleted] = table.commit([{ key: KEY, object: undefined }])
  expect(deleted).toMatchObject({ type: 'DELETED', revision: 4 })
  expect(deleted?.object.metadata.resourceVersion).toBe('4')
  expect([table.get(KEY), table.revision]).toEqual([undefined, 4])
})

test('removing an object that does not exist is no change', () => {
  const table = new ResourceTable()
  expect(table.commit([{ key: KEY, object: undefined }])).toEqual([])
  expect(table.revision).toBe(1)
})

test('lists are ordered by namespace and name', () => {
  const table = new ResourceTable()
  for (const [name, namespace] of [
    ['b', 'two'],
    ['c', 'one'],
    ['a', 'two'],
  ] as const)
    put(table, name, namespace)
  const names = (objects: readonly Resource[]) => objects.map(({ metadata }) => metadata.name)
  expect(names(table.list('services'))).toEqual(['c', 'a', 'b'])
  expect(names(table.list('services', 'two'))).toEqual(['a', 'b'])
  expect(table.list('gateways')).toEqual([])
  put(table, 'd', 'one')
  expect(names(table.list('services', 'one'))).toEqual(['c', 'd'])
})

test('subscribers get each commit once, with all of its changes', () => {
  const table = new ResourceTable()
  const seen: string[] = []
  const end = table.subscribe((events) => seen.push(events.map(({ type, key }) => `${type} ${key.name}`).join()))
  table.commit(['a', 'b'].map((name) => ({ key: { ...KEY, name }, object: service(name) })))
  end()
  put(table, 'c')
  expect(seen).toEqual(['ADDED a,ADDED b'])
})

test('changes since a revision are known for a while', () => {
  const table = new ResourceTable()
  put(table, 'a')
  put(table, 'b')
  expect(table.since(2)?.map(({ key }) => key.name)).toEqual(['b'])
  expect(table.since(3)).toEqual([])
  expect(table.since(4)).toBeUndefined()
  for (let port = 1; port < 20_000; port += 1) put(table, 'a', 'default', port)
  expect(table.since(2)).toBeUndefined()
  expect(table.since(table.revision - 9_999)).toHaveLength(9_999)
  // Each keeps two versions of an object in memory.
  expect(table.since(table.revision - 11_000)).toBeUndefined()
})

test('changes of large objects are known for less long, and of one that shares its content with the last version as long', () => {
  const table = new ResourceTable()
  const large = { ...service('large'), text: 'x'.repeat(2 ** 20) }
  const putLarge = () => table.commit([{ key: KEY, object: large }])
  for (let change = 0; change < 40; change += 1) putLarge()
  expect(table.since(table.revision - 39)).toHaveLength(39)
  for (let change = 0; change < 40; change += 1) putLarge()
  expect(table.since(table.revision - 65)).toBeUndefined()
  expect(table.since(table.revision - 30)).toHaveLength(30)
  table.commit([{ key: KEY, object: { ...large, text: 'x'.repeat(2 ** 27) } }])
  expect(table.since(table.revision - 1)).toHaveLength(1)
  const shared = { ...service('shared'), list: Array.from({ length: 1000 }, () => 'x'.repeat(2 ** 15)) }
  for (let change = 0; change < 100; change += 1) {
    table.commit([{ key: { ...KEY, name: 'shared' }, object: { ...shared, status: { change } } }])
  }
  expect(table.since(table.revision - 99)).toHaveLength(99)
})

test('a change that the journal refuses does not happen', () => {
  const written: string[] = []
  const reserved: number[] = []
  const journal: Journal = {
    append(events) {
      for (const { key } of events) {
        if (key.name === 'full') throw new Error('disk full')
        written.push(key.name)
      }
    },
    reserve: (revision) => reserved.push(revision),
    close() {},
  }
  const table = new ResourceTable(journal)
  put(table, 'a')
  expect(() => put(table, 'full')).toThrow('disk full')
  table.commitInMemory([{ key: { ...KEY, name: 'file' }, object: service('file') }])
  expect(written).toEqual(['a'])
  expect(table.list('services').map(({ metadata }) => metadata.name)).toEqual(['a', 'file'])
  expect([table.revision, reserved]).toEqual([3, [3]])
})

test('a listener that commits does not change the order of commits for others', () => {
  const table = new ResourceTable()
  const seen: string[] = []
  table.subscribe(([event]) => {
    if (event?.key.name === 'cause') put(table, 'effect')
  })
  table.subscribe(([event]) => seen.push(event!.key.name))
  put(table, 'cause')
  expect(seen).toEqual(['cause', 'effect'])
})

test('a table starts with the content of its journal', () => {
  const object = service('shop')
  const table = new ResourceTable(undefined, { objects: [{ key: KEY, object }], revision: 40 })
  expect(table.get(KEY)).toBe(object)
  expect(table.since(39)).toBeUndefined()
  expect(put(table, 'other')[0]?.revision).toBe(41)
})
