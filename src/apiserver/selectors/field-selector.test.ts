import { expect, test } from 'vitest'
import { fieldMatch } from './field-selector.ts'

const metadata = { name: 'keys', namespace: 'a', uid: '', resourceVersion: '1', creationTimestamp: '' }
const SECRET = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque' }

test.each([
  ['', true],
  ['metadata.name=keys', true],
  ['metadata.name==keys,metadata.namespace=a', true],
  ['metadata.name=other', false],
  ['metadata.name!=other', true],
  ['type=Opaque', true],
  ['type!=Opaque', false],
  ['type=a\\,b', false],
])('%s', (text, expected) => {
  expect(fieldMatch(text, SECRET)(SECRET)).toBe(expected)
})

test('an escaped comma is part of the value', () => {
  const secret = { ...SECRET, type: 'a,b' }
  expect(fieldMatch('type=a\\,b,metadata.name=keys', SECRET)(secret)).toBe(true)
})

test.each([
  ['spec.host=a', 'field label not supported: spec.host; Secret has metadata.name, metadata.namespace, type'],
  ['name', 'invalid field selector "name"'],
])('%s is refused', (text, message) => {
  expect(() => fieldMatch(text, SECRET)).toThrow(message)
})
