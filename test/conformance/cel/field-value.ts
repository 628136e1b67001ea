import {
  type DescEnum,
  type DescExtension,
  type DescField,
  type DescMessage,
  getExtension,
  hasExtension,
  type Message,
  type Registry,
  ScalarType,
} from '@bufbuild/protobuf'
import { type ReflectList, type ReflectMap, type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect'
import { type Any, AnySchema, anyPack, anyUnpack } from '@bufbuild/protobuf/wkt'
import {
  CelError,
  Double,
  Duration,
  EntryMap,
  fromJson,
  MapValue,
  Timestamp,
  toJson,
  Uint,
  type Value,
} from '#cel/index.ts'
import { EnumValue } from './enum-value.ts'
import { type FieldAccess, MessageValue } from './message-value.ts'

/** How protobuf and CEL values correspond. */
export interface Conversion {
  readonly registry: Registry
  /** Enums are values of their own types instead of ints. */
  readonly strongEnums: boolean
}

/** A field value of the wrong sort or size: caught where a message is built. */
export class FieldError extends Error {}

const WRAPPERS: ReadonlySet<string> = new Set(
  ['Bool', 'Bytes', 'Double', 'Float', 'Int32', 'Int64', 'String', 'UInt32', 'UInt64'].map(
    (name) => `google.protobuf.${name}Value`,
  ),
)

export function isWrapper(typeName: string): boolean {
  return WRAPPERS.has(typeName)
}

function accessOf(conversion: Conversion): FieldAccess {
  return {
    read: (message, field) => readField(message, field, conversion),
    readExtension: (message, name) => {
      const extension = conversion.registry.getExtension(name)
      if (extension === undefined || extension.extendee.typeName !== message.desc.typeName) return undefined
      const isSet = hasExtension(message.message, extension)
      return { isSet, value: readExtensionValue(getExtension(message.message, extension), extension, conversion) }
    },
  }
}

function readExtensionValue(value: unknown, extension: DescExtension, conversion: Conversion): Value {
  if (Array.isArray(value)) return value.map((item) => readExtensionElement(item, extension, conversion))
  return readExtensionElement(value, extension, conversion)
}

function readExtensionElement(
  value: unknown,
  { message, enum: desc, scalar }: DescExtension,
  conversion: Conversion,
): Value {
  if (message !== undefined) return readMessage(reflect(message, value as Message), conversion)
  return desc === undefined ? readScalar(value, scalar!) : readEnum(value as number, desc, conversion)
}

// Protobuf to CEL

/** The value of a field, set or not. */
export function readField(message: ReflectMessage, field: DescField, conversion: Conversion): Value {
  if (field.fieldKind === 'list')
    return [...(message.get(field) as ReflectList)].map((item) => readElement(item, field, conversion))
  if (field.fieldKind === 'map') return readMap(message.get(field) as ReflectMap, field, conversion)
  if (field.fieldKind === 'message' && !message.isSet(field)) return unsetMessage(field.message, conversion)
  return readElement(message.get(field), field, conversion)
}

function unsetMessage(desc: DescMessage, conversion: Conversion): Value {
  const isNull =
    isWrapper(desc.typeName) || desc.typeName === 'google.protobuf.Value' || desc.typeName === 'google.protobuf.Any'
  return isNull ? null : readMessage(reflect(desc), conversion)
}

interface ElementKind {
  readonly scalar?: ScalarType | undefined
  readonly enum?: DescEnum | undefined
}

function readElement(value: unknown, kind: ElementKind, conversion: Conversion): Value {
  if (kind.enum !== undefined) return readEnum(value as number, kind.enum, conversion)
  return kind.scalar === undefined ? readMessage(value as ReflectMessage, conversion) : readScalar(value, kind.scalar)
}

function readEnum(number: number, desc: DescEnum, conversion: Conversion): Value {
  if (desc.typeName === 'google.protobuf.NullValue') return null
  return conversion.strongEnums ? new EnumValue(desc, number) : number
}

function readMap(map: ReflectMap, field: DescField & { fieldKind: 'map' }, conversion: Conversion): Value {
  const result = new EntryMap()
  for (const [key, value] of map) result.set(readScalar(key, field.mapKey), readElement(value, field, conversion))
  return result
}

export function readScalar(value: unknown, scalar: ScalarType): Value {
  switch (scalar) {
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return new Double(value as number)
    case ScalarType.UINT32:
    case ScalarType.UINT64:
    case ScalarType.FIXED32:
    case ScalarType.FIXED64:
      return new Uint(fromJson(typeof value === 'string' ? BigInt(value) : value) as number | bigint)
    default:
      return fromJson(value)
  }
}

/** A message as a CEL value: well-known types become what they stand for. */
export function readMessage(message: ReflectMessage, conversion: Conversion): Value {
  const name = message.desc.typeName
  const field = (local: string): DescField => message.fields.find((candidate) => candidate.name === local)!
  if (isWrapper(name)) return readField(message, field('value'), conversion)
  switch (name) {
    case 'google.protobuf.Timestamp':
      return new Timestamp(Number(message.get(field('seconds'))), Number(message.get(field('nanos'))))
    case 'google.protobuf.Duration':
      return readDuration(Number(message.get(field('seconds'))), Number(message.get(field('nanos'))))
    case 'google.protobuf.Any':
      return readAny(message.message as Any, conversion)
    case 'google.protobuf.Struct':
      return readField(message, field('fields'), conversion)
    case 'google.protobuf.ListValue':
      return readField(message, field('values'), conversion)
    case 'google.protobuf.Value': {
      const set = message.oneofCase(message.oneofs[0]!)
      return set === undefined ? null : readField(message, set, conversion)
    }
    default:
      return new MessageValue(message, accessOf(conversion))
  }
}

function readDuration(seconds: number, nanos: number): Duration {
  return nanos < 0 ? new Duration(seconds - 1, nanos + 1e9) : new Duration(seconds, nanos)
}

export function readAny(any: Any, conversion: Conversion): Value {
  // Content of no known type stays as it is and is compared as bytes.
  if (any.typeUrl === '')
    return any.value.length === 0 ? null : new MessageValue(reflect(AnySchema, any), accessOf(conversion))
  const message = anyUnpack(any, conversion.registry)
  if (message === undefined) throw new FieldError(`unknown type ${any.typeUrl}`)
  return readMessage(reflect(conversion.registry.getMessage(message.$typeName)!, message), conversion)
}

// CEL to protobuf

/** Sets a field; null clears what can be absent. @throws FieldError when the value does not fit */
export function writeField(message: ReflectMessage, field: DescField, value: Value, conversion: Conversion): void {
  if (field.fieldKind === 'list') {
    if (!Array.isArray(value)) throw new FieldError('list expected')
    const list = message.get(field) as ReflectList
    for (const item of value as readonly Value[]) list.add(writeElement(item, field, conversion))
    return
  }
  if (field.fieldKind === 'map') return writeMap(message.get(field) as ReflectMap, field, value, conversion)
  if (value === null && field.fieldKind === 'message' && !takesNull(field.message.typeName)) {
    if (isStructural(field.message.typeName)) throw new FieldError('null is no struct')
    return
  }
  message.set(field, writeElement(value, field, conversion))
}

function takesNull(typeName: string): boolean {
  return typeName === 'google.protobuf.Value' || typeName === 'google.protobuf.Any'
}

function isStructural(typeName: string): boolean {
  return typeName === 'google.protobuf.Struct' || typeName === 'google.protobuf.ListValue'
}

function writeMap(
  map: ReflectMap,
  field: DescField & { fieldKind: 'map' },
  value: Value,
  conversion: Conversion,
): void {
  if (!(value instanceof MapValue)) throw new FieldError('map expected')
  for (const key of value.keys()) {
    const item = value.get(key)
    if (item === undefined || item instanceof CelError) throw new FieldError('map entry failed')
    map.set(writeScalar(key, field.mapKey), writeElement(item, field, conversion))
  }
}

function writeElement(
  value: Value,
  kind: ElementKind & { readonly message?: DescMessage | undefined },
  conversion: Conversion,
): unknown {
  if (kind.enum !== undefined) return writeEnum(value, kind.enum)
  return kind.message === undefined ? writeScalar(value, kind.scalar!) : writeMessage(value, kind.message, conversion)
}

function writeEnum(value: Value, desc: DescEnum): number {
  if (desc.typeName === 'google.protobuf.NullValue' && value === null) return 0
  if (value instanceof EnumValue && value.typeName === desc.typeName) return value.number
  return writeInteger(value, -(2 ** 31), 2 ** 31 - 1)
}

function writeInteger(value: Value, min: number, max: number): number {
  if (typeof value !== 'number') throw new FieldError(typeof value === 'bigint' ? 'range' : 'int expected')
  if (value < min || value > max) throw new FieldError('range')
  return value
}

function writeScalar(value: Value, scalar: ScalarType): unknown {
  switch (scalar) {
    case ScalarType.BOOL:
      return expectType(value, typeof value === 'boolean')
    case ScalarType.STRING:
      return expectType(value, typeof value === 'string')
    case ScalarType.BYTES:
      return expectType(value, value instanceof Uint8Array)
    case ScalarType.DOUBLE:
      return writeDouble(value)
    case ScalarType.FLOAT:
      return Math.fround(writeDouble(value))
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return writeInteger(value, -(2 ** 31), 2 ** 31 - 1)
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return writeInteger(value instanceof Uint ? value.value : null, 0, 2 ** 32 - 1)
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      if (!(value instanceof Uint)) throw new FieldError('uint expected')
      return BigInt(value.value)
    default:
      if (typeof value !== 'number' && typeof value !== 'bigint') throw new FieldError('int expected')
      return BigInt(value)
  }
}

function expectType(value: Value, fits: boolean): Value {
  if (!fits) throw new FieldError('unsupported field type')
  return value
}

function writeDouble(value: Value): number {
  if (!(value instanceof Double)) throw new FieldError('double expected')
  return value.value
}

/** A CEL value as a message of the given type. */
export function writeMessage(value: Value, desc: DescMessage, conversion: Conversion): ReflectMessage {
  if (value instanceof MessageValue) return writeKnownMessage(value, desc)
  const message = reflect(desc)
  const set = (name: string, content: unknown): void =>
    message.set(message.fields.find((field) => field.name === name)!, content)
  if (isWrapper(desc.typeName)) {
    writeField(message, desc.fields[0]!, value, conversion)
    return message
  }
  switch (desc.typeName) {
    case 'google.protobuf.Timestamp':
      if (!(value instanceof Timestamp)) throw new FieldError('timestamp expected')
      set('seconds', BigInt(value.seconds))
      set('nanos', value.nanos)
      return message
    case 'google.protobuf.Duration':
      if (!(value instanceof Duration)) throw new FieldError('duration expected')
      writeDuration(value, set)
      return message
    case 'google.protobuf.Any':
      return reflect(AnySchema, packAny(value, conversion))
    case 'google.protobuf.Struct':
      if (!(value instanceof MapValue)) throw new FieldError('map expected')
      writeField(message, desc.fields[0]!, value, conversion)
      return message
    case 'google.protobuf.ListValue':
      writeField(message, desc.fields[0]!, value, conversion)
      return message
    case 'google.protobuf.Value':
      writeJsonValue(message, value, conversion)
      return message
    default:
      throw new FieldError('message expected')
  }
}

function writeKnownMessage(value: MessageValue, desc: DescMessage): ReflectMessage {
  if (value.typeName === desc.typeName) return value.message
  const { typeName } = desc
  if (typeName === 'google.protobuf.Any') return reflect(AnySchema, anyPack(value.message.desc, value.message.message))
  if (typeName === 'google.protobuf.Struct' && value.typeName === 'google.protobuf.Empty') return reflect(desc)
  if (typeName !== 'google.protobuf.Value') throw new FieldError('message of another type')
  return jsonOfMessage(value, desc)
}

/** Messages with a JSON form of their own: field masks are text, an empty message is an empty object. */
function jsonOfMessage(value: MessageValue, desc: DescMessage): ReflectMessage {
  const message = reflect(desc)
  if (value.typeName === 'google.protobuf.FieldMask') {
    const paths = value.member('paths') as readonly string[]
    message.set(desc.fields.find((field) => field.name === 'string_value')!, paths.join(','))
    return message
  }
  if (value.typeName !== 'google.protobuf.Empty') throw new FieldError('message has no JSON form here')
  const structField = desc.fields.find((field) => field.name === 'struct_value')!
  message.set(structField, reflect(structField.message!))
  return message
}

function writeDuration(value: Duration, set: (name: string, content: unknown) => void): void {
  const isNegative = value.seconds < 0 && value.nanos > 0
  set('seconds', BigInt(isNegative ? value.seconds + 1 : value.seconds))
  set('nanos', isNegative ? value.nanos - 1e9 : value.nanos)
}

const ANY_TYPES: readonly (readonly [string, (value: Value) => boolean])[] = [
  ['BoolValue', (value) => typeof value === 'boolean'],
  ['StringValue', (value) => typeof value === 'string'],
  ['Int64Value', (value) => typeof value === 'number' || typeof value === 'bigint'],
  ['UInt64Value', (value) => value instanceof Uint],
  ['DoubleValue', (value) => value instanceof Double],
  ['BytesValue', (value) => value instanceof Uint8Array],
  ['Timestamp', (value) => value instanceof Timestamp],
  ['Duration', (value) => value instanceof Duration],
  ['ListValue', (value) => Array.isArray(value)],
  ['Struct', (value) => value instanceof MapValue],
  ['Value', (value) => value === null],
]

function packAny(value: Value, conversion: Conversion): Any {
  const name = ANY_TYPES.find(([, fits]) => fits(value))?.[0]
  const desc = name === undefined ? undefined : conversion.registry.getMessage(`google.protobuf.${name}`)
  if (desc === undefined) throw new FieldError('value cannot be packed')
  return anyPack(desc, writeMessage(value, desc, conversion).message as Message)
}

function writeJsonValue(message: ReflectMessage, value: Value, conversion: Conversion): void {
  const [name, content] = jsonForm(value)
  const field = message.fields.find((candidate) => candidate.name === name)!
  if (field.fieldKind === 'message') message.set(field, writeMessage(content as Value, field.message, conversion))
  else message.set(field, content)
}

/** The branch of `google.protobuf.Value` and what goes there, by the JSON mapping of protobuf. */
function jsonForm(value: Value): [string, unknown] {
  if (value === null) return ['null_value', 0]
  if (typeof value === 'boolean') return ['bool_value', value]
  if (typeof value === 'string') return ['string_value', value]
  if (typeof value === 'number') return ['number_value', value]
  if (typeof value === 'bigint') return ['string_value', String(value)]
  if (value instanceof Double) return ['number_value', value.value]
  if (value instanceof Uint)
    return typeof value.value === 'number' ? ['number_value', value.value] : ['string_value', String(value.value)]
  if (Array.isArray(value)) return ['list_value', value]
  if (value instanceof MapValue) return ['struct_value', value]
  return ['string_value', jsonText(value)]
}

function jsonText(value: Value): string {
  const json = toJson(value)
  if (typeof json !== 'string') throw new FieldError('value has no JSON form')
  return json
}
