import { numberIn } from '../exact-json.ts'
import type { Json, JsonObject } from '../json.ts'
import {
  BOOL,
  type DelimitedKind,
  DOUBLE,
  field,
  INT32,
  map,
  message,
  repeated,
  STRING,
  type ValueOf,
} from './message.ts'
import { DELIMITED } from './reader.ts'

// The well-known types `Struct`, `Value` and `ListValue` refer to each other, so their kinds use the tables below only when they run.

/** `google.protobuf.Struct`: a JSON object. */
export const STRUCT: DelimitedKind<JsonObject> = {
  wire: DELIMITED,
  write: (out, value) => STRUCT_MESSAGE.write(out, { fields: new Map(Object.entries(value)) }),
  read: (input) => Object.fromEntries(STRUCT_MESSAGE.read(input).fields ?? []),
}

/** Other implementations refuse messages that are nested more than 100 deep; a level of JSON is up to three levels of messages. */
const MAX_DEPTH = 28

/** Whether receivers can read an object as a `Struct`, also some levels deep in a message. */
export function isShallow(value: Json, maxDepth = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null || numberIn(value) !== undefined) return true
  return maxDepth > 0 && Object.values(value).every((member) => isShallow(member, maxDepth - 1))
}

const VALUE: DelimitedKind<Json> = {
  wire: DELIMITED,
  write: (out, value) => VALUE_MESSAGE.write(out, wrap(value)),
  read: (input) => unwrap(VALUE_MESSAGE.read(input)),
}

const LIST: DelimitedKind<readonly Json[]> = {
  wire: DELIMITED,
  write: (out, values) => LIST_MESSAGE.write(out, { values }),
  read: (input) => LIST_MESSAGE.read(input).values ?? [],
}

const STRUCT_MESSAGE = message({ fields: map(1, VALUE) })
const LIST_MESSAGE = message({ values: repeated(1, VALUE) })

/** Exactly one member is set. */
const VALUE_FIELDS = {
  nullValue: field(1, INT32),
  numberValue: field(2, DOUBLE),
  stringValue: field(3, STRING),
  boolValue: field(4, BOOL),
  structValue: field(5, STRUCT),
  listValue: field(6, LIST),
}
const VALUE_MESSAGE = message(VALUE_FIELDS)

function wrap(value: Json): ValueOf<typeof VALUE_FIELDS> {
  switch (typeof value) {
    case 'string':
      return { stringValue: value }
    case 'boolean':
      return { boolValue: value }
    default: {
      if (value === null) return { nullValue: 0 }
      // Also of a number that keeps its text (`parseExactJson`).
      const numberValue = numberIn(value)
      if (numberValue !== undefined) return { numberValue }
      return Array.isArray(value) ? { listValue: value } : { structValue: value as JsonObject }
    }
  }
}

function unwrap(value: ValueOf<typeof VALUE_FIELDS>): Json {
  const { numberValue, stringValue, boolValue, structValue, listValue } = value
  return numberValue ?? stringValue ?? boolValue ?? structValue ?? listValue ?? null
}
