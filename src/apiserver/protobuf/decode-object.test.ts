import { expect, test } from 'vitest'
import { decodeObject, UnreadableObject } from './decode-object.ts'

type Piece = Buffer | string | number

/** A field in the wire format: text and messages with their length, numbers as varint. */
function field(number: number, value: Piece): Buffer {
  if (typeof value === 'number') return Buffer.concat([varint(number << 3), varint(value)])
  const bytes = Buffer.from(value)
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Buffer.from([...bytes, rest])
}

function message(...fields: Buffer[]): Buffer {
  return Buffer.concat(fields)
}

function envelope(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const type = message(field(1, apiVersion), field(2, kind))
  return Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, raw), field(3, ''), field(4, '')])
}

/** The metadata as Go writes it, with all fields that are zero. */
const METADATA = message(
  field(1, 'shop'),
  field(2, ''),
  field(3, ''),
  field(7, 0),
  field(8, ''),
  field(11, message(field(1, 'app'), field(2, 'shop'))),
  field(11, message(field(1, 'empty'), field(2, ''))),
)
const METADATA_JSON = { name: 'shop', labels: { app: 'shop', empty: '' } }

test('a Service', () => {
  const byNumber = message(
    field(1, 'http'),
    field(2, 'TCP'),
    field(3, 80),
    field(4, message(field(1, 0), field(2, 8080), field(3, ''))),
    field(5, 0),
  )
  const byName = message(field(3, 81), field(4, message(field(1, 1), field(2, 0), field(3, 'web'))))
  const spec = message(
    field(1, byNumber),
    field(1, byName),
    field(2, message(field(1, 'a'), field(2, 'b'))),
    field(4, 'ClusterIP'),
  )
  const raw = message(field(1, METADATA), field(2, spec), field(3, message()))
  expect(decodeObject(envelope('v1', 'Service', raw))).toEqual({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: METADATA_JSON,
    spec: {
      ports: [
        { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 },
        { port: 81, targetPort: 'web' },
      ],
      selector: { a: 'b' },
      type: 'ClusterIP',
    },
    status: {},
  })
})

test('a Secret: bytes are base64', () => {
  const raw = message(
    field(1, METADATA),
    field(2, message(field(1, 'key'), field(2, Buffer.from([0, 255])))),
    field(3, 'Opaque'),
    field(5, 0),
  )
  expect(decodeObject(envelope('v1', 'Secret', raw))).toEqual({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: METADATA_JSON,
    data: { key: 'AP8=' },
    type: 'Opaque',
    immutable: false,
  })
})

test('a Pod: members of inner messages, quantities, pointers', () => {
  const resources = message(field(1, message(field(1, 'cpu'), field(2, message(field(1, '500m'))))))
  const container = message(field(1, 'web'), field(8, resources))
  const volume = message(field(1, 'tmp'), field(2, message(field(2, message()))))
  const spec = message(field(1, volume), field(2, container), field(4, 0), field(11, 0))
  expect(decodeObject(envelope('v1', 'Pod', message(field(2, spec))))).toMatchObject({
    spec: {
      volumes: [{ name: 'tmp', emptyDir: {} }],
      containers: [{ name: 'web', resources: { limits: { cpu: '500m' } } }],
      terminationGracePeriodSeconds: 0,
    },
  })
})

test('an entry of a map may lack its value', () => {
  const annotations = message(field(12, message(field(1, 'a'))))
  const data = message(field(2, message(field(1, 'key'))))
  expect(decodeObject(envelope('v1', 'Secret', message(field(1, annotations), data)))).toMatchObject({
    metadata: { annotations: { a: '' } },
    data: { key: '' },
  })
})

test('a Lease: times', () => {
  const micro = message(field(1, 1_767_225_600), field(2, 123_456_000))
  const spec = message(field(1, 'me'), field(2, 15), field(4, micro))
  const raw = message(field(1, message(field(1, 'l'), field(8, message(field(1, 1_767_225_600))))), field(2, spec))
  expect(decodeObject(envelope('coordination.k8s.io/v1', 'Lease', raw))).toMatchObject({
    metadata: { name: 'l', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.123456Z' },
  })
})

test('managed fields are JSON, and options of deletion have no group', () => {
  const entry = message(field(1, 'kubectl'), field(2, 'Update'), field(7, message(field(1, '{"f:spec":{}}'))))
  const raw = message(field(1, message(field(17, entry))))
  expect(decodeObject(envelope('v1', 'ConfigMap', raw))).toMatchObject({
    metadata: { managedFields: [{ manager: 'kubectl', operation: 'Update', fieldsV1: { 'f:spec': {} } }] },
  })
  const options = message(field(1, 0), field(4, 'Foreground'))
  expect(decodeObject(envelope('gatewright.dev/v1alpha1', 'DeleteOptions', options))).toMatchObject({
    gracePeriodSeconds: 0,
    propagationPolicy: 'Foreground',
  })
})

test('a name of JavaScript is an ordinary key', () => {
  const raw = message(field(2, message(field(1, '__proto__'), field(2, 'x'))))
  const { data } = decodeObject(envelope('v1', 'ConfigMap', raw)) as { data: object }
  expect(Object.entries(data)).toEqual([['__proto__', 'x']])
})

test.each([
  ['other bytes', Buffer.from('{}'), 'the body does not begin with "k8s"'],
  ['an unknown kind', envelope('v1', 'Node', message()), 'Node of v1 is not available as protobuf'],
  ['a cut message', envelope('v1', 'Secret', Buffer.from([0x0a, 9])), 'the message ends too early'],
  ['text that is not UTF-8', envelope('v1', 'Secret', field(3, Buffer.from([0xff]))), 'a text is not UTF-8'],
  ['no kind', Buffer.from('k8s\0'), ' of  is not available as protobuf'],
])('%s is refused', (_, bytes, reason) => {
  expect(() => decodeObject(bytes)).toThrow(new UnreadableObject(reason))
})
