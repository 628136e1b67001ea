import { expect, test } from 'vitest'
import { TableWriter } from './table.ts'

const CREATED = Date.parse('2026-01-01T00:00:00Z')
const OBJECT = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'shop', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { ports: [{ port: 80 }, { port: 81 }], selector: { app: 'shop' }, replicas: 3, hosts: ['a', 'b'] },
}

test('a row has the cells of the columns, as texts, numbers and ages', () => {
  const table = new TableWriter({
    columns: [
      { name: 'Ports', type: 'string', jsonPath: '.spec.ports[*].port' },
      { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
      { name: 'Selector', type: 'string', jsonPath: '.spec.selector', priority: 1 },
      { name: 'Hosts', type: 'string', jsonPath: '.spec.hosts' },
      { name: 'Missing', type: 'string', jsonPath: '.spec.missing' },
      { name: 'Broken', type: 'string', jsonPath: 'broken' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  })
  expect(table.columnDefinitions.map((column) => (column as { name: string }).name).slice(0, 2)).toEqual([
    'Name',
    'Ports',
  ])
  const cells = ['shop', '80,81', 3, 'app=shop', 'a,b', null, null, '5m']
  expect(table.row(OBJECT, 'None', CREATED + 300_000)).toEqual({ cells })
  expect(table.row(OBJECT, 'Object', CREATED + 300_000)).toEqual({ cells, object: OBJECT })
  expect(table.row(OBJECT, 'Metadata', CREATED + 300_000)).toEqual({
    cells,
    object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: OBJECT.metadata },
  })
})
