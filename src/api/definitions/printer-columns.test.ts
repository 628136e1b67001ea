import { expect, test } from 'vitest'
import { columnsOf } from './printer-columns.ts'

test.each([
  ['Event', ['Last Seen', 'Type', 'Reason', 'Kind', 'Object', 'Message']],
  ['Lease', ['Holder', 'Age']],
  ['GatewayClass', ['Controller', 'Accepted', 'Age', 'Description']],
  ['Gateway', ['Class', 'Address', 'Programmed', 'Age']],
  ['HTTPRoute', ['Hostnames', 'Age']],
  ['Service', ['Type', 'Cluster-IP', 'Ports', 'Age', 'Selector']],
  ['Secret', ['Type', 'Age']],
  ['Namespace', ['Status', 'Age']],
  ['EndpointSlice', ['AddressType', 'Ports', 'Endpoints', 'Age']],
  ['Pod', ['Status', 'IP', 'Age']],
] as const)('%s has the columns that kubectl prints', (kind, titles) => {
  expect(columnsOf(kind).map(({ name }) => name)).toEqual(titles)
})

test('the state of a namespace is that of its phase', () => {
  expect(columnsOf('Namespace')[0]).toEqual({ name: 'Status', type: 'string', jsonPath: '.status.phase' })
})
