import { expect, test } from 'vitest'
import { findKind } from '../kinds.ts'
import { customResourceDefinition } from './custom-resource-definition.ts'

const definitionOf = (kind: string) => customResourceDefinition(findKind(kind)!)

test('names, scope and version', () => {
  expect(definitionOf('ProxyPolicy')).toMatchObject({
    metadata: { name: 'proxypolicies.gatewright.dev', labels: { 'gateway.networking.k8s.io/policy': 'Direct' } },
    spec: {
      scope: 'Namespaced',
      names: { singular: 'proxypolicy', shortNames: ['ppolicy'], categories: ['gatewright'] },
      versions: [{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } }],
    },
  })
  expect(definitionOf('ProxyBackend')).not.toHaveProperty(['metadata', 'labels', 'gateway.networking.k8s.io/policy'])
})

test.each([
  ['ProxyPolicy', ['Accepted', 'Attached', 'Age']],
  ['ProxyBackend', ['Accepted', 'Age']],
  ['ProxyParameters', ['Age']],
])('columns of %s', (kind, expected) => {
  const { versions } = definitionOf(kind).spec as {
    readonly versions: readonly { readonly additionalPrinterColumns: readonly { readonly name: string }[] }[]
  }
  expect(versions[0]!.additionalPrinterColumns.map(({ name }) => name)).toEqual(expected)
})

test('the API server checks metadata and kind; the spec is required', () => {
  expect(definitionOf('ProxyBackend')).toMatchObject({
    spec: {
      versions: [
        {
          schema: {
            openAPIV3Schema: {
              required: ['spec'],
              properties: {
                metadata: { type: 'object' },
                kind: { type: 'string', description: 'Kind of the object.' },
              },
            },
          },
        },
      ],
    },
  })
})
