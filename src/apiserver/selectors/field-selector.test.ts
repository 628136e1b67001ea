import { expect, test } from 'vitest'
import { ApiError } from '../http/api-error.ts'
import { builtInKinds } from '../platform-rules/built-in-kinds.ts'
import { fieldMatch } from './field-selector.ts'

const metadata = { name: 'keys', namespace: 'a', uid: '', resourceVersion: '1', creationTimestamp: '' }
const BUILT_IN = builtInKinds()
const KIND = BUILT_IN.find(({ kind }) => kind === 'Secret')!
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
  expect(fieldMatch(text, KIND)(SECRET)).toBe(expected)
})

test.each([
  ['HTTPRoute', ''],
  ['Secret', ', type'],
  ['Namespace', ', status.phase'],
  [
    'Pod',
    ', spec.nodeName, spec.restartPolicy, spec.schedulerName, spec.serviceAccountName, spec.hostNetwork, status.phase, status.podIP, status.nominatedNodeName',
  ],
  [
    'Event',
    ', involvedObject.kind, involvedObject.namespace, involvedObject.name, involvedObject.uid, involvedObject.apiVersion, involvedObject.resourceVersion, involvedObject.fieldPath, reason, reportingComponent, source, type',
  ],
])('the fields by which objects of kind %s are selected', (kind, others) => {
  const message = `field label not supported: x; ${kind} has metadata.name, metadata.namespace${others}`
  expect(() => fieldMatch('x=a', BUILT_IN.find((each) => each.kind === kind)!)).toThrow(
    new ApiError('BadRequest', message),
  )
})

test('an escaped comma is part of the value', () => {
  const secret = { ...SECRET, type: 'a,b' }
  expect(fieldMatch('type=a\\,b,metadata.name=keys', KIND)(secret)).toBe(true)
})

test('a term without an operator is refused', () => {
  expect(() => fieldMatch('name', KIND)).toThrow(new ApiError('BadRequest', 'invalid field selector "name"'))
})

test('at most a thousand terms', () => {
  const terms = (count: number) => Array.from({ length: count }, () => 'metadata.name=keys').join()
  expect(fieldMatch(terms(1000), KIND)(SECRET)).toBe(true)
  expect(() => fieldMatch(terms(1001), KIND)).toThrow('more than 1000 requirements')
})
