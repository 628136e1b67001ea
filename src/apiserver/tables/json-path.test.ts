import { expect, test } from 'vitest'
import { jsonPath } from './json-path.ts'

const VALUE = {
  spec: { ports: [{ port: 80 }, { port: 443 }], host: 'a.test' },
  metadata: { annotations: { 'example.com/a': 'yes' } },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Other', status: 'False' },
    ],
  },
}

test.each([
  ['.spec.host', ['a.test']],
  ['{.spec.host}', ['a.test']],
  ['$.spec.host', ['a.test']],
  ['.spec.missing', []],
  ['.spec.ports[*].port', [80, 443]],
  ['.spec.ports[1].port', [443]],
  ['.spec.ports[-1].port', [443]],
  ['.spec.ports[7].port', []],
  ['.spec.ports.*.port', [80, 443]],
  ['.spec.ports[?(@.port==443)].port', [443]],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type=='Other')].status", ['False']],
  ['.status.conditions[?(@.type!="Ready")].status', ['False']],
  [".metadata.annotations['example\\.com/a']", ['yes']],
  ['.metadata.annotations["example.com/a"]', ['yes']],
  ['.metadata.annotations.example\\.com/a', ['yes']],
  ['.spec.host.length', []],
  ['.constructor.name', []],
])('%s', (path, expected) => {
  expect(jsonPath(path)?.(VALUE)).toEqual(expected)
})

test.each(['spec', '.spec[', '.spec[?(@.a)]', '.a..b'])('%s is malformed', (path) => {
  expect(jsonPath(path)).toBeUndefined()
})
