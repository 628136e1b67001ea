import type { MapValue_Entry, Value as TestValue } from '@bufbuild/cel-spec/cel/expr/value_pb.js'
import { Double, EntryMap, fromJson, TypeValue, Uint, type Value } from '#cel/index.ts'
import { EnumValue } from './enum-value.ts'
import { type Conversion, readAny } from './field-value.ts'

/** A value of the test data as the engine represents it. */
export function readTestValue({ kind }: TestValue, conversion: Conversion): Value {
  switch (kind.case) {
    case 'boolValue':
    case 'stringValue':
    case 'bytesValue':
      return kind.value
    case 'int64Value':
      return fromJson(kind.value)
    case 'uint64Value':
      return new Uint(fromJson(kind.value) as number | bigint)
    case 'doubleValue':
      return new Double(kind.value)
    case 'enumValue':
      return conversion.strongEnums ? new EnumValue({ typeName: kind.value.type }, kind.value.value) : kind.value.value
    case 'objectValue':
      return readAny(kind.value, conversion)
    case 'listValue':
      return kind.value.values.map((value) => readTestValue(value, conversion))
    case 'mapValue':
      return readTestMap(kind.value.entries, conversion)
    case 'typeValue':
      return new TypeValue(kind.value)
    default:
      return null
  }
}

function readTestMap(entries: readonly MapValue_Entry[], conversion: Conversion): Value {
  const map = new EntryMap()
  for (const { key, value } of entries) map.set(readTestValue(key!, conversion), readTestValue(value!, conversion))
  return map
}
