import type { Resource, ResourceKey } from '../resources/resource.ts'
import { ResourceTable, type ResourceWrite } from '../resources/resource-table.ts'
import { lockWait } from './open-database.ts'
import { SqliteJournal } from './sqlite-journal.ts'

// No test waits for a file until another process releases it.
lockWait.ms = 20

export interface OpenTable {
  readonly table: ResourceTable
  readonly journal: SqliteJournal
  /** Problems of reservations. */
  readonly reported: readonly Error[]
}

/** A table with its journal in a file. */
export function openTable(file: string): OpenTable {
  const reported: Error[] = []
  const { journal, content } = SqliteJournal.open(file, (problem) => reported.push(problem))
  return { table: new ResourceTable(journal, content), journal, reported }
}

export function configMapKey(name: string): ResourceKey {
  return { collection: 'configmaps', namespace: 'default', name }
}

export function configMap(name: string, value: string): ResourceWrite & { readonly object: Resource } {
  const metadata = {
    name,
    namespace: 'default',
    uid: name,
    resourceVersion: '',
    creationTimestamp: '2026-01-01T00:00:00Z',
  }
  return { key: configMapKey(name), object: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value } } }
}

/** The names of the objects in a table, with their values. */
export function valuesOf(table: ResourceTable): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    table.list('configmaps').map(({ metadata, data }) => [metadata.name, (data as { value: unknown }).value]),
  )
}
