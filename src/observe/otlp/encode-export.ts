import type { Json } from '#base/json.ts'
import { Writer } from '#base/protobuf/writer.ts'
import { writeAttribute } from './write-attribute.ts'

// `ExportLogsServiceRequest` and `ExportTraceServiceRequest` have the same numbers: a list of resources (1), each with its attributes (1)
// and a list of scopes (2), each with its name (1) and a list of records or spans (2).
const FIRST = 0x0a
const SECOND = 0x12

/** The message `Resource` of OTLP: the entity that exports. */
export function encodeResource(attributes: readonly (readonly [name: string, value: Json])[]): Uint8Array {
  const out = new Writer()
  for (const [name, value] of attributes) writeAttribute(out, FIRST, name, value)
  return out.written.slice()
}

/** Tag and length of an item, and all that is not an item. */
const ITEM_BYTES = 4
const HEAD_BYTES = 100

/** @param items encoded records or spans */
export function encodeExport(resource: Uint8Array, version: string, items: readonly Uint8Array[]): Uint8Array {
  const out = new Writer(items.reduce((sum, { length }) => sum + length + ITEM_BYTES, HEAD_BYTES + resource.length))
  out.varint(FIRST)
  const ofResource = out.begin()
  out.varint(FIRST)
  out.bytes(resource)
  out.varint(SECOND)
  const ofScope = out.begin()
  out.varint(FIRST)
  const scope = out.begin()
  out.varint(FIRST)
  out.text('gatewright')
  out.varint(SECOND)
  out.text(version)
  out.end(scope)
  for (const item of items) {
    out.varint(SECOND)
    out.bytes(item)
  }
  out.end(ofScope)
  out.end(ofResource)
  return out.written
}
