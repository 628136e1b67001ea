import type { Json } from '#base/json.ts'
import { Writer } from '#base/protobuf/writer.ts'
import { SAMPLED } from '#exchange/trace-parent.ts'
import type { Ended } from '../ended.ts'
import type { AttributeFields } from './attribute-fields.ts'
import { writeAttribute } from './write-attribute.ts'
import { writeTime } from './write-time.ts'

// Message `LogRecord` of OTLP (opentelemetry/proto/logs/v1/logs.proto): tags of its fields.
const TIME = 0x09
const OBSERVED_TIME = 0x59
const SEVERITY = 0x10
const SEVERITY_TEXT = 0x1a
export const LOG_ATTRIBUTES = 0x32
const FLAGS = 0x45
const TRACE_ID = 0x4a
const SPAN_ID = 0x52
const EVENT_NAME = 0x62
/** `SEVERITY_NUMBER_INFO` */
const INFO = 9

/** One for all records, because encoding does not wait. */
const writer = new Writer()

/** An entry of the access log; it has no body, because its attributes say all. @param added attributes by expression */
export function encodeLogRecord(
  ended: Ended,
  fields: AttributeFields<Ended>,
  added: readonly (readonly [name: string, value: Json])[],
  covered: ReadonlySet<string> | undefined,
): Uint8Array {
  writer.clear()
  writeTime(writer, TIME, ended.timeMs)
  writer.varint(SEVERITY)
  writer.varint(INFO)
  writer.varint(SEVERITY_TEXT)
  writer.text('INFO')
  fields.write(writer, ended, covered)
  for (const [name, value] of added) writeAttribute(writer, LOG_ATTRIBUTES, name, value)
  writeTime(writer, OBSERVED_TIME, ended.timeMs)
  const { span } = ended.exchange
  if (span !== undefined) {
    writer.varint(TRACE_ID)
    writer.hex(span.traceId)
    writer.varint(SPAN_ID)
    writer.hex(span.spanId)
    writer.varint(FLAGS)
    writer.fixed32(SAMPLED)
  }
  writer.varint(EVENT_NAME)
  writer.text('gatewright.request')
  return writer.written.slice()
}
