import { expect, test } from 'vitest'
import { wrongReference } from './wrong-reference.ts'

const BACKENDS = { Service: '', ProxyBackend: 'gatewright.dev' }

test.each([
  ['', 'ProxyBackend', '.group', 'kind ProxyBackend needs group gatewright.dev'],
  ['v1', 'Service', '.group', 'kind Service needs an empty group'],
  [
    'gatewright.dev',
    'Service',
    '.group',
    'kind Service needs an empty group; group gatewright.dev needs kind ProxyBackend',
  ],
  ['gatewright.dev', 'Backend', '.kind', 'group gatewright.dev has no kind Backend; use kind ProxyBackend'],
  [
    'example.com',
    'Bucket',
    '.kind',
    'a Bucket of example.com cannot be used here; use a Service or a ProxyBackend of gatewright.dev',
  ],
  ['', 'Pod', '.kind', 'a Pod cannot be used here; use a Service or a ProxyBackend of gatewright.dev'],
  ['', 'toString', '.kind', 'a toString cannot be used here; use a Service or a ProxyBackend of gatewright.dev'],
])('group "%s", kind %s: %s', (group, kind, field, message) => {
  expect(wrongReference({ group, kind }, BACKENDS)).toEqual({ field, message })
})
