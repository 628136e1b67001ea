import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Resource, ResourceKey } from '#store/resources/resource.ts'
import { type Journal, ResourceTable } from '#store/resources/resource-table.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Propagation, REMOVED_AT_ONCE, removalOf, removeObject } from '../verbs/delete.ts'
import { Collector } from './collector.ts'

let fails = false
let failures = 0
/** Number of changes of each commit. */
let commits: number[] = []
const journal: Journal = {
  append(events) {
    if (fails) throw new Error('disk full')
    commits.push(events.length)
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

test('in the foreground, an owner does not wait for a dependent that does not block it', async () => {
  put('owner')
  put('free', { owners: ['owner'], finalizers: ['example.com/a'] })
  remove('owner', 'Foreground')
  await eventually('the owner is gone', () => left() === 'free')
  expect(table.get(keyOf('free'))?.metadata.deletionTimestamp).toBeDefined()
})

test('a Namespace is deleted with its content', async () => {
  const key = putNamespace()
  put('one')
  put('two', { finalizers: ['example.com/a'] })
  put('three', { finalizers: ['example.com/a', 'example.com/b'] })
  removeObject(table, key, table.get(key)!, { propagation: 'Background', dryRun: false })
  expect(table.get(key)?.status).toEqual({ phase: 'Terminating' })
  await eventually('one is gone', () => left() === 'three,two')
  const conditions = () => (table.get(key)!.status as { conditions: { message: string }[] }).conditions
  await eventually('the Namespace says what it waits for', () => {
    expect(conditions()).toMatchObject([
      { reason: 'SomeResourcesRemain', message: 'Some resources are remaining: configmaps has 2 resource instances' },
      {
        reason: 'SomeFinalizersRemain',
        message:
          'Some content in the namespace has finalizers remaining: example.com/a in 2 resource instances, example.com/b in 1 resource instances',
      },
    ])
    return true
  })
  const three = table.get(keyOf('three'))!
  table.commit([
    { key: keyOf('three'), object: { ...three, metadata: { ...three.metadata, finalizers: ['example.com/b'] } } },
  ])
  await eventually('a finalizer is done', () => {
    expect(conditions()[1]!.message).toMatch(/a in 1 resource instances, example\.com\/b in 1 resource instances$/)
    return true
  })
  const { revision } = table
  for (const name of ['two', 'three']) table.commit([{ key: keyOf(name), object: undefined }])
  await eventually('the Namespace is gone', () => table.get(key) === undefined)
  expect(table.revision - revision).toBeLessThanOrEqual(4)
})

test('objects of files stay', async () => {
  files.add('child')
  put('owner')
  put('child', { owners: ['owner'] })
  put('later', { owners: ['owner'] })
  remove('owner')
  await eventually('the other is gone', () => left() === 'child')
})

test('in the foreground, objects of files stay, too', async () => {
  files.add('child')
  put('owner')
  put('child', { owners: ['owner'] })
  remove('owner', 'Foreground')
  await eventually('the owner is gone', () => left() === 'child')
  expect(table.get(keyOf('child'))?.metadata.deletionTimestamp).toBeUndefined()
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

test('what fails is tried again after 5 seconds', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  put('child', { owners: ['nobody'] })
  fails = true
  vi.advanceTimersByTime(1)
  expect(failures).toBe(1)
  fails = false
  vi.advanceTimersByTime(4998)
  expect(left()).toBe('child')
  vi.advanceTimersByTime(2)
  expect(left()).toBe('')
})

describe('thousands of objects are changed in few commits, none of which is big', () => {
  const COUNT = 1234

  function putMany(parts: Parts): void {
    for (let each = 0; each < COUNT; each += 1) put(`many-${each}`, parts)
  }

  async function expectCommits(removed: () => boolean): Promise<void> {
    await eventually('the collector is done', removed)
    expect(Math.max(...commits)).toBeLessThanOrEqual(REMOVED_AT_ONCE)
    // A few are those of the owner, and of pieces that ended because of their time.
    expect(commits.length).toBeLessThan(COUNT / 4)
    expect(commits.reduce((sum, size) => sum + size, 0)).toBeGreaterThanOrEqual(COUNT)
  }

  test('the content of a Namespace', async () => {
    const key = putNamespace()
    putMany({})
    commits = []
    removeObject(table, key, table.get(key)!, { propagation: 'Background', dryRun: false })
    await expectCommits(() => table.get(key) === undefined)
    expect(left()).toBe('')
  })

  test.each<Propagation>(['Background', 'Foreground'])('dependents, in the %s', async (propagation) => {
    put('owner')
    putMany({ owners: ['owner'], blocks: true })
    commits = []
    remove('owner', propagation)
    await expectCommits(() => left() === '')
  })

  test('orphans', async () => {
    put('owner')
    putMany({ owners: ['owner'] })
    commits = []
    remove('owner', 'Orphan')
    await expectCommits(() => table.get(keyOf('owner')) === undefined)
    expect(table.list('configmaps').filter(({ metadata }) => metadata.ownerReferences !== undefined)).toEqual([])
  })
})

test('a dependent of two owners that are deleted in the foreground is deleted once', async () => {
  put('one')
  put('two')
  put('child', { owners: ['one', 'two'], blocks: true })
  const seen: string[] = []
  const end = table.subscribe((events) => seen.push(...events.map(({ type, key }) => `${type} ${key.name}`)))
  const write = (name: string) => removalOf(keyOf(name), table.get(keyOf(name))!, 'Foreground')!
  table.commit([write('one'), write('two')])
  await eventually('nothing is left', () => left() === '')
  end()
  expect(seen.toSorted()).toEqual(['DELETED child', 'DELETED one', 'DELETED two', 'MODIFIED one', 'MODIFIED two'])
})
