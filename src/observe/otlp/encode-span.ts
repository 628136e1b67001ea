import type { Json } from '#base/json.ts'
import { Writer } from '#base/protobuf/writer.ts'
import type { RequestSpan } from '#exchange/request-span.ts'
import { SAMPLED } from '#exchange/trace-parent.ts'
import type { AttributeFields } from './attribute-fields.ts'
import { writeAttribute } from './write-attribute.ts'
import { writeTime } from './write-time.ts'

// Message `Span` of OTLP (opentelemetry/proto/trace/v1/trace.proto): tags of its fields.
const TRACE_ID = 0x0a
const SPAN_ID = 0x12
const TRACE_STATE = 0x1a
const PARENT_ID = 0x22
const NAME = 0x2a
const KIND = 0x30
const START = 0x39
const END = 0x41
export const SPAN_ATTRIBUTES = 0x4a
const STATUS = 0x7a
/** Field 16, of four bytes. */
const FLAGS = 8 * 16 + 5
/** `Status`. */
const MESSAGE = 0x12
const CODE = 0x18
const ERROR = 2

/** Values of `SpanKind`. */
export const SERVER = 2
export const CLIENT = 3

/** Bits of the flags: it is known whether the parent is in another process, and it is. */
const KNOWS_REMOTE = 0x100
const IS_REMOTE = 0x200

/** What the message says besides its attributes. */
export interface SpanFacts {
  readonly of: RequestSpan
  readonly spanId: string
  readonly parentId: string | undefined
  readonly kind: typeof SERVER | typeof CLIENT
  readonly name: string
  /** On the monotonic clock. */
  readonly startMs: number
  readonly endMs: number
  /** Undefined: no error. */
  readonly error: SpanError | undefined
}

export interface SpanError {
  /** Attribute `error.type`. */
  readonly type: string
  readonly message: string | undefined
}

/** One for all spans, because encoding does not wait. */
const writer = new Writer()

/** @param event what the fields are read from */
export function encodeSpan<E>(
  { of, spanId, parentId, kind, name, startMs, endMs, error }: SpanFacts,
  fields: AttributeFields<E>,
  event: E,
  added: readonly (readonly [name: string, value: Json])[],
): Uint8Array {
  writer.clear()
  writer.varint(TRACE_ID)
  writer.hex(of.traceId)
  writer.varint(SPAN_ID)
  writer.hex(spanId)
  if (of.traceState !== '') {
    writer.varint(TRACE_STATE)
    writer.text(of.traceState)
  }
  if (parentId !== undefined) {
    writer.varint(PARENT_ID)
    writer.hex(parentId)
  }
  writer.varint(NAME)
  writer.text(name)
  writer.varint(KIND)
  writer.varint(kind)
  writeTime(writer, START, of.aheadMs + startMs)
  writeTime(writer, END, of.aheadMs + endMs)
  // Names of flattened values are known only now.
  fields.write(writer, event, added.length === 0 ? undefined : new Set(added.map(([attribute]) => attribute)))
  for (const [attribute, value] of added) writeAttribute(writer, SPAN_ATTRIBUTES, attribute, value)
  if (error !== undefined) writeError(error, added)
  writer.varint(FLAGS)
  writer.fixed32(SAMPLED | KNOWS_REMOTE | (kind === SERVER && parentId !== undefined ? IS_REMOTE : 0))
  return writer.written.slice()
}

function writeError({ type, message }: SpanError, added: readonly (readonly [name: string, value: Json])[]): void {
  if (!added.some(([name]) => name === 'error.type')) writeAttribute(writer, SPAN_ATTRIBUTES, 'error.type', type)
  writer.varint(STATUS)
  const start = writer.begin()
  if (message !== undefined) {
    writer.varint(MESSAGE)
    writer.text(message)
  }
  writer.varint(CODE)
  writer.varint(ERROR)
  writer.end(start)
}
