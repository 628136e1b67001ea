import { CelError } from './error.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  TIMESTAMP,
  type Type,
  typeOf,
  UINT,
} from './type.ts'
import {
  Double,
  Duration,
  HostObject,
  MapValue,
  Optional,
  type Result,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './value.ts'

/** Types that expressions may name. */
export const BUILT_IN_TYPES: ReadonlyMap<string, Type> = new Map<string, Type>([
  ['bool', BOOL],
  ['int', INT],
  ['uint', UINT],
  ['double', DOUBLE],
  ['string', STRING],
  ['bytes', BYTES],
  ['null_type', NULL],
  ['list', listOf(DYN)],
  ['map', mapOf(DYN, DYN)],
  ['type', typeOf(undefined)],
  ['optional_type', optionalOf(DYN)],
  ['google.protobuf.Timestamp', TIMESTAMP],
  ['google.protobuf.Duration', DURATION],
])

const NAMES: Readonly<Record<string, string>> = {
  null: 'null_type',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
}

const VALUES = new Map<string, TypeValue>()

/** The type value of a type, without parameters: `list(int)` is `list`. */
export function typeValueOf(type: Type): TypeValue {
  if (type.kind === 'object' || type.kind === 'opaque' || type.kind === 'param') return typeValue(type.name)
  return typeValue(NAMES[type.kind] ?? type.kind)
}

function typeValue(name: string): TypeValue {
  const known = VALUES.get(name)
  if (known !== undefined) return known
  const created = new TypeValue(name)
  if (VALUES.size < 1000) VALUES.set(name, created)
  return created
}

/** `type(x)` */
export function typeOfValue(value: Value): TypeValue {
  return typeValue(typeNameOf(value))
}

/** The CEL name of a value's type, for `type()` and messages. */
export function typeNameOf(value: Result | undefined): string {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'number':
    case 'bigint':
      return 'int'
    default:
      return value === null ? 'null_type' : objectTypeName(value)
  }
}

function objectTypeName(value: Exclude<Result, null | string | boolean | number | bigint> | undefined): string {
  if (value instanceof Double) return 'double'
  if (value instanceof Uint) return 'uint'
  if (value instanceof MapValue) return 'map'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp'
  if (value instanceof Duration) return 'google.protobuf.Duration'
  if (value instanceof Optional) return 'optional_type'
  if (value instanceof TypeValue) return 'type'
  if (value instanceof HostObject) return value.typeName
  return value === undefined || value instanceof CelError ? 'error' : 'list'
}
