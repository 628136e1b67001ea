import { expect, test } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { formatProblem } from './file-problem.ts'
import { parseObjects } from './parse-yaml.ts'

/** The problems of a text as terminals show them. */
function linesOf(text: string): readonly string[] {
  return parseObjects(text, 'a.yaml').problems.map(formatProblem)
}

function namesOf(text: string): readonly string[] {
  return parseObjects(text, 'a.yaml').objects.map(
    ({ origin }) => `${origin.kind} ${origin.namespace}/${origin.name} ${origin.line}`,
  )
}

const SERVICE = `apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
`

test('objects of several documents, with their origin', () => {
  const text = `# two objects\n---\n${SERVICE}---\n# nothing here\n---\n${SERVICE.replace('web', 'api')}`
  expect(parseObjects(text, 'a.yaml').problems).toEqual([])
  expect(namesOf(text)).toEqual(['Service default/web 3', 'Service default/api 10'])
})

test.each(['\u2028', '\u2029', '\r'])('what ends a line in JavaScript only, %j, begins no document', (separator) => {
  const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: "one${separator}--- two"}\n`
  const { objects, problems } = parseObjects(text, 'a.yaml')
  expect(problems).toEqual([])
  expect(objects).toMatchObject([{ data: { x: `one${separator}--- two` } }])
})

test('JSON is YAML, also with tabs', () => {
  const text =
    '{\n\t"apiVersion": "v1",\n\t"kind": "Secret",\n\t"metadata": {"name": "a"},\n\t"stringData": {"k": "v"}\n}\n'
  expect(namesOf(text)).toEqual(['Secret default/a 1'])
})

test('a List is its items', () => {
  const item = (name: string) => `- {apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}, namespace: x}}\n`
  const text = `apiVersion: v1\nkind: List\nitems:\n${item('a')}${item('b')}`
  expect(namesOf(text)).toEqual(['ConfigMap x/a 4', 'ConfigMap x/b 5'])
})

test('one invalid object does not affect the others, and every problem has its place', () => {
  const text = `apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata:
  name: limits
spec:
  targetRefs:
    - {group: gateway.networking.k8s.io, kind: Gateway, name: main}
  traffic:
    rateLimit:
      local:
        - requests: 0
          unit: Second
    hostRewrite: {}
    corss: {}
---
${SERVICE}`
  expect(linesOf(text)).toEqual([
    'a.yaml:11:11: error: spec.traffic.rateLimit.local[0].requests: must be at least 1 [out-of-range]',
    'a.yaml:12:11: error: spec.traffic.rateLimit.local[0].unit: must be one of Seconds, Minutes, Hours, did you mean "Seconds"? [unknown-value]',
    'a.yaml:13:5: error: spec.traffic.hostRewrite.mode: is required [required]',
    'a.yaml:14:5: error: spec.traffic.corss: unknown field "corss", did you mean "cors"? [unknown-field]',
  ])
  expect(namesOf(text)).toEqual(['Service default/web 16'])
  expect(parseObjects(text, 'a.yaml').refused).toEqual(['ProxyPolicy/default/limits'])
  expect(parseObjects(text, 'a.yaml').problems[0]?.object).toBe('ProxyPolicy default/limits')
})

test('problems in anchors and merged maps are where the text is', () => {
  const text = `apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  ports:
    - &first
      port: 80
      protocol: TPC
    - <<: *first
      port: 0
`
  expect(linesOf(text)).toEqual([
    'a.yaml:8:7: error: spec.ports[0].protocol: must be one of TCP, UDP, SCTP, did you mean "TCP"? [unknown-value]',
    'a.yaml:10:7: error: spec.ports[1].port: must be between 1 and 65535 [out-of-range]',
    'a.yaml:8:7: error: spec.ports[1].protocol: must be one of TCP, UDP, SCTP, did you mean "TCP"? [unknown-value]',
  ])
})

test.each([
  ['a: b\n c: d\n', 'invalid-yaml', 2],
  ['a: [1\n', 'invalid-yaml', 2],
  ['a: 1\na: 2\n', 'invalid-yaml', 2],
  ['a: *nowhere\n', 'invalid-yaml', 1],
  ['a:\n\tb: 1\n', 'invalid-yaml', 2],
])('%j does not parse', (text, code, line) => {
  const parsed = parseObjects(`${text}---\n${SERVICE}`, 'a.yaml')
  expect(parsed.parses).toBe(false)
  expect(parsed.objects).toEqual([])
  expect(parsed.problems[0]).toMatchObject({ code, line, path: '', severity: 'error' })
})

test.each([
  ['prices:\n  - model: m\n    input: 1\n', []],
  ['{"prices":[{"model":"m","input":1}]}', []],
  [
    'prices:\n  - model: m\n    inptu: 1\n',
    ['a.yaml:3:5: error: prices[0].inptu: unknown field "inptu", did you mean "input"? [unknown-field]'],
  ],
  ['kind: Service\nprices: []\n', ['a.yaml:1:1: error: apiVersion: apiVersion is required in a file [required]']],
  [
    'prices: {}\n',
    [
      'a.yaml:1:1: error: apiVersion: apiVersion is required in a file [required]',
      'a.yaml:1:1: error: kind: kind is required in a file [required]',
    ],
  ],
])('a price file beside objects is no object, and is checked: %j', (text, problems) => {
  const parsed = parseObjects(text, 'a.yaml')
  expect(parsed.objects).toEqual([])
  expect(parsed.problems.map(formatProblem)).toEqual(problems)
})

const envelope = (apiVersion: string, kind: string) => `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: a}\n`

test.each([
  ['just text', 'a.yaml:1:1: error: must be an object with apiVersion, kind and metadata [not-an-object]'],
  ['kind: Service\n', 'a.yaml:1:1: error: apiVersion: apiVersion is required in a file [required]'],
  ['apiVersion: 1\nkind: A\n', 'a.yaml:1:1: error: apiVersion: apiVersion is required in a file [required]'],
  ['apiVersion: v1\nmetadata: {}\n', 'a.yaml:1:1: error: kind: kind is required in a file [required]'],
  [envelope('v1', 'Servce'), 'a.yaml:2:1: error: kind: unknown kind "Servce", did you mean "Service"? [unknown-kind]'],
  [
    envelope('gatewright.dev/v1alpha1', 'Gadget'),
    'a.yaml:2:1: error: kind: unknown kind "Gadget"; the kinds of gatewright.dev are ProxyBackend, ProxyParameters, ProxyPolicy [unknown-kind]',
  ],
  [
    envelope('apps/v1', 'Deployment'),
    'a.yaml:2:1: warning: kind: kind "Deployment" is not supported by the gateway and has no effect [unknown-kind]',
  ],
  [
    envelope('networking.istio.io/v1', 'Gateway'),
    'a.yaml:1:1: warning: apiVersion: Gateway of "networking.istio.io/v1" is not supported by the gateway; use Gateway of gateway.networking.k8s.io/v1 [unknown-kind]',
  ],
  [
    envelope('gateways.networking.k8s.io/v1', 'Gateway'),
    'a.yaml:1:1: error: apiVersion: there is no Gateway in "gateways.networking.k8s.io/v1", did you mean "gateway.networking.k8s.io/v1"? [unknown-kind]',
  ],
  [
    envelope('serving.knative.dev/v1', 'Service'),
    'a.yaml:1:1: warning: apiVersion: Service of "serving.knative.dev/v1" is not supported by the gateway; use Service of v1 [unknown-kind]',
  ],
])('%j is named', (text, expected) => {
  expect(linesOf(text)).toEqual([expected])
  expect(namesOf(text)).toEqual([])
})

verifies('version/unrecognized', 'another version of our group is refused, naming the served one', () => {
  expect(linesOf(envelope('gatewright.dev/v1', 'ProxyPolicy'))).toEqual([
    'a.yaml:1:1: error: apiVersion: ProxyPolicy has no version "v1"; use gatewright.dev/v1alpha1 [unknown-version]',
  ])
})

test('names and namespaces', () => {
  const secret = (metadata: string) => linesOf(`apiVersion: v1\nkind: Secret\nmetadata: ${metadata}\n`)
  expect(secret('{namespace: x}')).toEqual(['a.yaml:3:1: error: metadata.name: is required in a file [required]'])
  expect(secret('{name: A, namespace: a.b}').map((line) => line.replace(/:.*\[/, ' ['))).toEqual([
    'a.yaml [invalid-name]',
    'a.yaml [invalid-namespace]',
  ])
  expect(linesOf('apiVersion: v1\nkind: Namespace\nmetadata: {name: a, namespace: b}\n')).toEqual([
    'a.yaml:3:21: error: metadata.namespace: is not allowed on a Namespace, which is cluster-scoped [invalid-namespace]',
  ])
  expect(namesOf('apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n')).toEqual(['Namespace /a 1'])
})

test('fields that only a server sets are not read from a file', () => {
  const text = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: a, uid: x, creationTimestamp: "2030-01-01T00:00:00Z", generation: 7, labels: {a: b}}
spec: {gatewayClassName: gatewright, listeners: []}
status: {conditions: []}
`
  const [object] = parseObjects(text, 'a.yaml').objects
  expect(object?.metadata).toEqual({ name: 'a', namespace: 'default', labels: { a: 'b' }, generation: 1 })
  expect(object).not.toHaveProperty('status')
})

test('an object of a platform kind with an unknown field is used, and has an error', () => {
  const { objects, problems } = parseObjects(SERVICE.replace('ports:', 'prots: [], ports:'), 'a.yaml')
  expect(objects).toHaveLength(1)
  expect(problems).toMatchObject([{ path: 'spec.prots', code: 'unknown-field', severity: 'error', line: 4, column: 8 }])
})

test('parsing again keeps the objects that stayed where they were, and moves the others', () => {
  const doc = (name: string, value: string) =>
    `---\n${envelope('v1', 'ConfigMap').replace('a}', `${name}}`)}data: {v: "${value}"}\n`
  const before = parseObjects(doc('a', '1') + doc('b', '1') + doc('c', '1'), 'a.yaml')
  const after = parseObjects(
    doc('a', '1') + doc('b', '2').replace('\ndata', '\n# more\ndata') + doc('c', '1'),
    'a.yaml',
    before,
  )
  expect(after.objects[0]).toBe(before.objects[0])
  expect(after.objects[1]).toMatchObject({ data: { v: '2' }, origin: { line: 7 } })
  expect(after.objects[2]).toEqual({ ...before.objects[2], origin: { ...before.objects[2]?.origin, line: 13 } })
})

test('a text with directives or document ends is read as a whole', () => {
  const text = `%YAML 1.2\n---\n${SERVICE}...\n---\n${SERVICE.replace('web', 'api')}`
  expect(namesOf(text)).toEqual(['Service default/web 3', 'Service default/api 9'])
})

test.each([
  '*sk-live-123',
  '|sk-live-123',
  '>sk-live-123',
  '"sk-live-123',
  '@sk-live-123',
  '{sk-live-123',
  '!!binary :sk-live-123: a',
])('a fault of YAML quotes nothing of the text: %s', (value) => {
  const text = `apiVersion: v1\nkind: Secret\nmetadata: { name: a }\nstringData:\n  key: ${value}\n`
  const { problems } = parseObjects(text, 'f.yaml')
  expect(problems).toMatchObject([{ code: 'invalid-yaml' }])
  expect(JSON.stringify(problems)).not.toContain('sk-live')
})
