import { type DescEnum, type DescField, ScalarType } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import { CelError, define, type Overload, type Result, type Type, type TypeProvider, type Value } from '#cel/index.ts'
import {
  ANY,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  objectType,
  STRING,
  TIMESTAMP,
  UINT,
  wrapperOf,
} from '#cel/type.ts'
import { EnumValue } from './enum-value.ts'
import { type Conversion, FieldError, readMessage, writeField } from './field-value.ts'

const WELL_KNOWN: Readonly<Record<string, Type>> = {
  'google.protobuf.Any': ANY,
  'google.protobuf.Value': DYN,
  'google.protobuf.Struct': mapOf(STRING, DYN),
  'google.protobuf.ListValue': listOf(DYN),
  'google.protobuf.Timestamp': TIMESTAMP,
  'google.protobuf.Duration': DURATION,
  'google.protobuf.BoolValue': wrapperOf(BOOL),
  'google.protobuf.BytesValue': wrapperOf(BYTES),
  'google.protobuf.DoubleValue': wrapperOf(DOUBLE),
  'google.protobuf.FloatValue': wrapperOf(DOUBLE),
  'google.protobuf.Int32Value': wrapperOf(INT),
  'google.protobuf.Int64Value': wrapperOf(INT),
  'google.protobuf.StringValue': wrapperOf(STRING),
  'google.protobuf.UInt32Value': wrapperOf(UINT),
  'google.protobuf.UInt64Value': wrapperOf(UINT),
}

const NULL_VALUE = 'google.protobuf.NullValue'

/** The CEL type of a message type. */
export function messageType(name: string): Type {
  return WELL_KNOWN[name] ?? objectType(name)
}

/** Lets expressions name, build and read the messages, enums and extensions of a registry. */
export function createMessageTypes(conversion: Conversion): TypeProvider {
  const { registry } = conversion
  const enums = new Map<string, DescEnum>()
  for (const type of registry) {
    if (type.kind === 'message') for (const nested of type.nestedEnums) enums.set(nested.typeName, nested)
    if (type.kind === 'enum') enums.set(type.typeName, type)
  }
  return {
    findType(name) {
      if (registry.getMessage(name) !== undefined) return messageType(name)
      return conversion.strongEnums && enums.has(name) ? objectType(name) : undefined
    },
    findConstant(name) {
      // Extensions are handed to proto.getExt and proto.hasExt by their names.
      if (registry.getExtension(name) !== undefined) return { type: DYN, value: name }
      const dot = name.lastIndexOf('.')
      const desc = enums.get(name.slice(0, dot))
      const found = desc?.values.find((value) => value.name === name.slice(dot + 1))
      if (desc === undefined || found === undefined) return undefined
      if (desc.typeName === NULL_VALUE) return { type: NULL, value: null }
      if (conversion.strongEnums) return { type: objectType(desc.typeName), value: new EnumValue(desc, found.number) }
      return { type: INT, value: found.number }
    },
    findField(typeName, name) {
      const field = registry.getMessage(typeName)?.fields.find((candidate) => candidate.name === name)
      if (field !== undefined) return fieldType(field, conversion)
      return registry.getExtension(name) === undefined ? undefined : DYN
    },
    fieldNames: (typeName) => registry.getMessage(typeName)?.fields.map((field) => field.name) ?? [],
    findFunction(name) {
      const desc = conversion.strongEnums ? enums.get(name) : undefined
      return desc === undefined ? undefined : enumConversions(desc)
    },
    construct: (typeName, fields) => construct(typeName, fields, conversion),
  }
}

function construct(typeName: string, fields: readonly (readonly [string, Value])[], conversion: Conversion): Result {
  const desc = conversion.registry.getMessage(typeName)
  if (desc === undefined) return new CelError('undeclared', `undeclared type ${typeName}`)
  const message = reflect(desc)
  try {
    for (const [name, value] of fields) {
      const field = desc.fields.find((candidate) => candidate.name === name)
      if (field === undefined) return new CelError('no-such-key', `no such field: ${name}`)
      writeField(message, field, value, conversion)
    }
    if (typeName === 'google.protobuf.Any' && !message.isSet(desc.fields[0]!))
      return new CelError('invalid', 'Any without a type')
    return readMessage(message, conversion)
  } catch (error) {
    if (error instanceof FieldError) return new CelError('invalid', `${typeName}: ${error.message}`)
    throw error
  }
}

function fieldType(field: DescField, conversion: Conversion): Type {
  if (field.fieldKind === 'list') return listOf(elementType(field, conversion))
  if (field.fieldKind === 'map') return mapOf(scalarType(field.mapKey), elementType(field, conversion))
  return elementType(field, conversion)
}

function elementType(field: DescField, conversion: Conversion): Type {
  if (field.message !== undefined) return messageType(field.message.typeName)
  if (field.enum === undefined) return scalarType(field.scalar!)
  if (field.enum.typeName === NULL_VALUE) return NULL
  return conversion.strongEnums ? objectType(field.enum.typeName) : INT
}

function scalarType(scalar: ScalarType): Type {
  switch (scalar) {
    case ScalarType.BOOL:
      return BOOL
    case ScalarType.STRING:
      return STRING
    case ScalarType.BYTES:
      return BYTES
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return DOUBLE
    case ScalarType.UINT32:
    case ScalarType.UINT64:
    case ScalarType.FIXED32:
    case ScalarType.FIXED64:
      return UINT
    default:
      return INT
  }
}

function enumConversions(desc: DescEnum): readonly Overload[] {
  const name = desc.typeName
  const invalid = new CelError('invalid', `no such value of ${name}`)
  return [
    define(`${name}(int) -> ${name}`, (number: number | bigint) =>
      typeof number === 'number' && number === (number | 0) ? new EnumValue(desc, number) : invalid,
    ),
    define(`${name}(string) -> ${name}`, (text: string) => {
      const found = desc.values.find((value) => value.name === text)
      return found === undefined ? invalid : new EnumValue(desc, found.number)
    }),
  ]
}

/** Functions on messages and enums: extensions by name, and the number of an enum value. */
export const MESSAGE_FUNCTIONS: readonly Overload[] = [
  define(
    'int(dyn) -> int',
    (value: Value) =>
      value instanceof EnumValue ? value.number : new CelError('no-such-overload', 'no such overload: int()'),
    {
      fallback: true,
    },
  ),
  define('proto.getExt(dyn, dyn) -> dyn', (message: Value, name: string) => extensionOf(message, name, false)),
  define('proto.hasExt(dyn, dyn) -> bool', (message: Value, name: string) => extensionOf(message, name, true)),
]

function extensionOf(message: Value, name: string, presence: boolean): Result {
  const failed = new CelError('no-such-key', `no such extension: ${name}`)
  if (message === null || typeof message !== 'object' || !('member' in message)) return failed
  return presence ? message.has(name) : (message.member(name) ?? failed)
}
