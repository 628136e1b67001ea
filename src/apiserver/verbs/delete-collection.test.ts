import { expect, test } from 'vitest'
import { type Journal, ResourceTable } from '#store/resources/resource-table.ts'
import { KindRegistry } from '../kinds/registry.ts'
import { builtInKinds } from '../platform-rules/built-in-kinds.ts'
import { REMOVED_AT_ONCE } from './delete.ts'
import { removeAll } from './delete-collection.ts'
import type { ResourceRequest } from './resource-request.ts'

const commits: number[] = []
const journal: Journal = { append: (events) => void commits.push(events.length), reserve() {}, close() {} }
const kinds = new KindRegistry(builtInKinds())
const COUNT = 2.5 * REMOVED_AT_ONCE

function put(table: ResourceTable, name: string, uid = name): void {
  const metadata = { name, namespace: 'default', uid, resourceVersion: '', creationTimestamp: '' }
  const key = { collection: 'configmaps', namespace: 'default', name }
  table.commit([{ key, object: { apiVersion: 'v1', kind: 'ConfigMap', metadata } }])
}

function remove(table: ResourceTable, name: string): void {
  table.commit([{ key: { collection: 'configmaps', namespace: 'default', name }, object: undefined }])
}

function requestWith(query: string): ResourceRequest {
  return {
    kind: kinds.find('', 'v1', 'configmaps')!,
    target: { type: 'resource', group: '', version: 'v1', plural: 'configmaps', namespace: 'default' },
    query: new URLSearchParams(query),
    form: { as: 'object', encoding: 'json' },
    body: undefined,
    userAgent: '',
  } as ResourceRequest
}

function filledTable(): ResourceTable {
  const table = new ResourceTable(journal)
  for (let each = 0; each < COUNT; each += 1) put(table, `object-${String(each).padStart(4, '0')}`)
  commits.length = 0
  return table
}

function start(table: ResourceTable, query = '') {
  return removeAll({ table, kinds, fileOf: () => undefined, findingsOf: () => [] }, requestWith(query))
}

test('objects are deleted in few commits; what changes between them is left alone', () => {
  const table = filledTable()
  const steps = start(table)
  expect(steps.next().done).toBe(false)
  expect(table.list('configmaps')).toHaveLength(COUNT - REMOVED_AT_ONCE)
  remove(table, 'object-0150')
  remove(table, 'object-0200')
  put(table, 'object-0200', 'another')
  put(table, 'object-new')
  commits.length = 0
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  expect(commits).toEqual([REMOVED_AT_ONCE - 1, REMOVED_AT_ONCE / 2 - 1])
  expect(table.list('configmaps').map(({ metadata }) => metadata.uid)).toEqual(['another', 'object-new'])
  expect((step.value.body as { readonly items: readonly unknown[] }).items).toHaveLength(COUNT)
})

test('a dry run deletes nothing', () => {
  const table = filledTable()
  expect(start(table, 'dryRun=All').next().done).toBe(true)
  expect([commits, table.list('configmaps').length]).toEqual([[], COUNT])
})
