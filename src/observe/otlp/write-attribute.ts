import type { Json } from '#base/json.ts'
import { Writer } from '#base/protobuf/writer.ts'

// Messages `KeyValue` and `AnyValue` of OTLP (opentelemetry/proto/common/v1/common.proto): tags of their fields.
const KEY = 0x0a
const VALUE = 0x12
const STRING = 0x0a
const BOOL = 0x10
const INT = 0x18
const DOUBLE = 0x21
const ARRAY = 0x2a
const MAP = 0x32
/** `ArrayValue.values` and `KeyValueList.values`. */
const ELEMENT = 0x0a

/** @param tag of the list of attributes in its message */
export function writeAttribute(out: Writer, tag: number, name: string, value: Json): void {
  out.varint(tag)
  const start = out.begin()
  out.varint(KEY)
  out.text(name)
  out.varint(VALUE)
  writeValue(out, value)
  out.end(start)
}

/** The bytes of an attribute before its value, which `writeKnown` writes. */
export function keyBytes(name: string): Uint8Array {
  const out = new Writer()
  out.varint(KEY)
  out.text(name)
  out.varint(VALUE)
  return out.written.slice()
}

/** Like `writeAttribute`, but fast. @param key from `keyBytes` */
export function writeKnown(out: Writer, tag: number, key: Uint8Array, value: string | number): void {
  out.varint(tag)
  const start = out.begin()
  out.encoded(key)
  const inner = out.begin()
  writeScalar(out, value)
  out.end(inner)
  out.end(start)
}

/** An attribute whose value is a list of texts. @param key from `keyBytes` */
export function writeKnownList(out: Writer, tag: number, key: Uint8Array, values: readonly string[]): void {
  out.varint(tag)
  const start = out.begin()
  out.encoded(key)
  writeValue(out, values)
  out.end(start)
}

function writeValue(out: Writer, value: Json): void {
  const start = out.begin()
  writeContent(out, value)
  out.end(start)
}

/** Null is a value without content. */
function writeContent(out: Writer, value: Json): void {
  if (value === null) return
  if (typeof value === 'boolean') {
    out.varint(BOOL)
    out.varint(value ? 1 : 0)
  } else if (typeof value !== 'object') writeScalar(out, value)
  else if (isList(value)) {
    out.varint(ARRAY)
    const start = out.begin()
    for (const element of value) {
      out.varint(ELEMENT)
      writeValue(out, element)
    }
    out.end(start)
  } else {
    out.varint(MAP)
    const start = out.begin()
    for (const [name, member] of Object.entries(value)) writeAttribute(out, ELEMENT, name, member)
    out.end(start)
  }
}

function writeScalar(out: Writer, value: string | number): void {
  if (typeof value === 'string') {
    out.varint(STRING)
    out.text(value)
  } else if (Number.isSafeInteger(value)) {
    out.varint(INT)
    if (value < 0) out.negativeVarint(value)
    else out.varint(value)
  } else {
    out.varint(DOUBLE)
    out.double(value)
  }
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
