import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Writer } from '#base/protobuf/writer.ts'
import { decodeOfficial } from '#test/support/otlp-definitions.ts'
import { encodeExport, encodeResource } from './encode-export.ts'
import { keyBytes, writeAttribute, writeKnown, writeKnownList } from './write-attribute.ts'
import { writeTime } from './write-time.ts'

// `@bufbuild/protobuf` with the official definitions is the independent reader.

const ATTRIBUTES = 0x0a
const RESOURCE = 'opentelemetry.proto.resource.v1.Resource'

const written = (write: (out: Writer) => void) => {
  const out = new Writer()
  write(out)
  return out.written.slice()
}

test.each([
  ['text', 'a ü 😀', { stringValue: 'a ü 😀' }],
  ['empty text', '', { stringValue: '' }],
  ['an integer', 7, { intValue: '7' }],
  ['a negative one', -3, { intValue: '-3' }],
  ['the largest', Number.MAX_SAFE_INTEGER, { intValue: '9007199254740991' }],
  ['a fraction', 0.25, { doubleValue: 0.25 }],
  ['beyond integers', 1e300, { doubleValue: 1e300 }],
  ['true', true, { boolValue: true }],
  ['false', false, { boolValue: false }],
  ['a list', ['a', 1, null], { arrayValue: { values: [{ stringValue: 'a' }, { intValue: '1' }, {}] } }],
  ['an empty list', [], { arrayValue: {} }],
  [
    'a map',
    { a: { b: 1 } },
    {
      kvlistValue: {
        values: [{ key: 'a', value: { kvlistValue: { values: [{ key: 'b', value: { intValue: '1' } }] } } }],
      },
    },
  ],
  ['null', null, {}],
])('an attribute: %s', (_, value, expected) => {
  const bytes = written((out) => writeAttribute(out, ATTRIBUTES, 'name', value))
  expect(decodeOfficial(RESOURCE, bytes)).toEqual({ attributes: [{ key: 'name', value: expected }] })
  if (typeof value !== 'string' && typeof value !== 'number') return
  expect(written((out) => writeKnown(out, ATTRIBUTES, keyBytes('name'), value))).toEqual(bytes)
})

test('a list of texts', () => {
  const value = ['stop', 'length']
  expect(written((out) => writeKnownList(out, ATTRIBUTES, keyBytes('x'), value))).toEqual(
    written((out) => writeAttribute(out, ATTRIBUTES, 'x', value)),
  )
})

test('long values', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 300, unit: 'grapheme' }),
      fc.string({ maxLength: 20_000 }),
      (key, value) => {
        const bytes = written((out) => writeAttribute(out, ATTRIBUTES, key, { [key]: value }))
        expect(decodeOfficial(RESOURCE, bytes)).toMatchObject({ attributes: [{ key }] })
      },
    ),
    { numRuns: 50 },
  )
})

test('a time has nanoseconds', () => {
  const times = fc.integer({ min: 0, max: 4_102_444_800_000 })
  fc.assert(
    fc.property(times, fc.integer({ min: 0, max: 999 }), (ms, microseconds) => {
      const bytes = written((out) => writeTime(out, 0x09, ms + microseconds / 1000))
      const nanoseconds = BigInt(ms) * 1_000_000n + BigInt(microseconds) * 1000n
      expect(decodeOfficial('opentelemetry.proto.logs.v1.LogRecord', bytes)).toEqual(
        nanoseconds === 0n ? {} : { timeUnixNano: String(nanoseconds) },
      )
    }),
  )
})

test.each(['logs.v1.ExportLogsService', 'trace.v1.ExportTraceService'])('an export: %s', (service) => {
  const items = [new Uint8Array([]), new Uint8Array([])]
  const request = encodeExport(encodeResource([['service.name', 'x']]), '1.2.3', items)
  const [kind, list] = service.startsWith('logs') ? ['Logs', 'logRecords'] : ['Spans', 'spans']
  expect(decodeOfficial(`opentelemetry.proto.collector.${service}Request`, request)).toEqual({
    [`resource${kind}`]: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'x' } }] },
        [`scope${kind}`]: [{ scope: { name: 'gatewright', version: '1.2.3' }, [list!]: [{}, {}] }],
      },
    ],
  })
})
