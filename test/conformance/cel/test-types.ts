import {
  type Type as TestType,
  Type_PrimitiveType,
  Type_WellKnownType,
} from '@bufbuild/cel-spec/cel/expr/checked_pb.js'
import type { Type } from '#cel/index.ts'
import {
  ANY,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  ERROR,
  INT,
  listOf,
  mapOf,
  NULL,
  STRING,
  TIMESTAMP,
  typeOf,
  UINT,
  wrapperOf,
} from '#cel/type.ts'
import { messageType } from './message-types.ts'

const PRIMITIVES: Readonly<Record<Type_PrimitiveType, Type>> = {
  [Type_PrimitiveType.PRIMITIVE_TYPE_UNSPECIFIED]: ERROR,
  [Type_PrimitiveType.BOOL]: BOOL,
  [Type_PrimitiveType.INT64]: INT,
  [Type_PrimitiveType.UINT64]: UINT,
  [Type_PrimitiveType.DOUBLE]: DOUBLE,
  [Type_PrimitiveType.STRING]: STRING,
  [Type_PrimitiveType.BYTES]: BYTES,
}

const WELL_KNOWN: Readonly<Record<Type_WellKnownType, Type>> = {
  [Type_WellKnownType.WELL_KNOWN_TYPE_UNSPECIFIED]: ERROR,
  [Type_WellKnownType.ANY]: ANY,
  [Type_WellKnownType.TIMESTAMP]: TIMESTAMP,
  [Type_WellKnownType.DURATION]: DURATION,
}

/** A type of the test data as the checker represents it. */
export function readTestType({ typeKind }: TestType): Type {
  switch (typeKind.case) {
    case 'dyn':
      return DYN
    case 'null':
      return NULL
    case 'primitive':
      return PRIMITIVES[typeKind.value]
    case 'wrapper':
      return wrapperOf(PRIMITIVES[typeKind.value])
    case 'wellKnown':
      return WELL_KNOWN[typeKind.value]
    case 'listType':
      return listOf(readTestType(typeKind.value.elemType!))
    case 'mapType':
      return mapOf(readTestType(typeKind.value.keyType!), readTestType(typeKind.value.valueType!))
    case 'messageType':
      return messageType(typeKind.value)
    case 'typeParam':
      return { kind: 'param', name: typeKind.value }
    case 'type':
      return typeOf(readTestType(typeKind.value))
    case 'abstractType':
      return { kind: 'opaque', name: typeKind.value.name, params: typeKind.value.parameterTypes.map(readTestType) }
    default:
      return ERROR
  }
}
