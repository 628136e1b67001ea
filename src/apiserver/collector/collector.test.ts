import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Resource, ResourceKey } from '#store/resources/resource.ts'
import { type Journal, ResourceTable } from '#store/resources/resource-table.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Propagation, removeObject } from '../verbs/delete.ts'
import { Collector } from './collector.ts'

let fails = false
let failures = 0
const journal: Journal = {
  append() {
    if (fails) throw new Error('disk full')
  },
  reserve() {},
  close() {},
}
let table: ResourceTable
let collector: Collector
const files = new Set<string>()

beforeEach(() => {
  fails = false
  failures = 0
  files.clear()
  table = new ResourceTable(journal)
  collector = start()
})
afterEach(() => collector.close())

function start(): Collector {
  return new Collector({ table, isFromFile: ({ name }) => files.has(name), reportFailure: () => (failures += 1) })
}

function keyOf(name: string): ResourceKey {
  return { collection: 'configmaps', namespace: 'a', name }
}

interface Parts {
  readonly owners?: readonly string[]
  readonly finalizers?: readonly string[]
  readonly blocks?: boolean
}

function put(name: string, { owners = [], finalizers = [], blocks = false }: Parts = {}): void {
  const ownerReferences = owners.map((uid) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: uid,
    uid,
    blockOwnerDeletion: blocks,
  }))
  const metadata = {
    name,
    namespace: 'a',
    uid: name,
    resourceVersion: '',
    creationTimestamp: '',
    ...(owners.length > 0 ? { ownerReferences } : {}),
    ...(finalizers.length > 0 ? { finalizers } : {}),
  }
  table.commit([{ key: keyOf(name), object: { apiVersion: 'v1', kind: 'ConfigMap', metadata } }])
}

function putNamespace(): ResourceKey {
  const key = { collection: 'namespaces', namespace: '', name: 'a' }
  const metadata = { name: 'a', uid: 'ns', resourceVersion: '', creationTimestamp: '' }
  table.commit([{ key, object: { apiVersion: 'v1', kind: 'Namespace', metadata } }])
  return key
}

function remove(name: string, propagation: Propagation = 'Background'): void {
  removeObject(table, keyOf(name), table.get(keyOf(name))!, { propagation, dryRun: false })
}

function left(): string {
  return table
    .list('configmaps')
    .map(({ metadata }: Resource) => metadata.name)
    .join()
}

test('dependents are deleted after their owner, and theirs', async () => {
  put('owner')
  put('child', { owners: ['owner'] })
  put('grandchild', { owners: ['child'] })
  put('other')
  remove('owner')
  expect(left()).toBe('child,grandchild,other')
  await eventually('only the other is left', () => left() === 'other')
})

test('an object with a living owner stays, and forgets the others', async () => {
  put('one')
  put('two')
  put('child', { owners: ['one', 'two'] })
  remove('one')
  const ownersOf = () => table.get(keyOf('child'))?.metadata.ownerReferences?.map(({ uid }) => uid)
  await eventually('one owner is left', () => ownersOf()?.join() === 'two')
  remove('two')
  await eventually('nothing is left', () => left() === '')
})

test('an object that never had a living owner is deleted', async () => {
  put('child', { owners: ['nobody'] })
  await eventually('nothing is left', () => left() === '')
})

test('orphans stay', async () => {
  put('owner')
  put('child', { owners: ['owner'] })
  remove('owner', 'Orphan')
  expect(left()).toBe('child,owner')
  await eventually('the child is alone', () => left() === 'child')
  expect(table.get(keyOf('child'))?.metadata.ownerReferences).toBeUndefined()
})

test('in the foreground, an owner waits for the dependents that block it', async () => {
  put('owner')
  put('child', { owners: ['owner'], blocks: true, finalizers: ['example.com/a'] })
  put('free', { owners: ['owner'] })
  remove('owner', 'Foreground')
  await eventually(
    'the child is being deleted',
    () => table.get(keyOf('child'))?.metadata.deletionTimestamp !== undefined,
  )
  await eventually('the other child is gone', () => left() === 'child,owner')
  table.commit([{ key: keyOf('child'), object: undefined }])
  await eventually('nothing is left', () => left() === '')
})

test('a Namespace is deleted with its content', async () => {
  const key = putNamespace()
  put('one')
  put('two', { finalizers: ['example.com/a'] })
  removeObject(table, key, table.get(key)!, { propagation: 'Background', dryRun: false })
  expect(table.get(key)?.status).toEqual({ phase: 'Terminating' })
  await eventually('one is gone', () => left() === 'two')
  expect(table.get(key)).toBeDefined()
  table.commit([{ key: keyOf('two'), object: undefined }])
  await eventually('the Namespace is gone', () => table.get(key) === undefined)
})

test('objects of files stay', async () => {
  files.add('child')
  put('owner')
  put('child', { owners: ['owner'] })
  put('later', { owners: ['owner'] })
  remove('owner')
  await eventually('the other is gone', () => left() === 'child')
})

test('a start finishes what another one began', async () => {
  collector.close()
  put('owner', { finalizers: ['orphan'] })
  put('child', { owners: ['nobody'] })
  remove('owner')
  expect(left()).toBe('child,owner')
  collector = start()
  await eventually('nothing is left', () => left() === '')
})

test('what fails is tried again', async () => {
  put('child', { owners: ['nobody'] })
  fails = true
  await eventually('a failure is reported', () => failures > 0)
  expect(left()).toBe('child')
  fails = false
  await eventually('nothing is left', () => left() === '')
})
