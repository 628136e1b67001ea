/** The type of an expression, as the checker knows it. */
export type Type =
  | { readonly kind: SimpleKind }
  | { readonly kind: 'list'; readonly element: Type }
  | MapType
  /** The type of a type: `type(x)`. */
  | { readonly kind: 'type'; readonly of: Type | undefined }
  /** A primitive that may be null. */
  | { readonly kind: 'wrapper'; readonly of: Type }
  /** A host object or message. */
  | { readonly kind: 'object'; readonly name: string }
  /** A named type with parameters, such as `optional_type(int)`. */
  | { readonly kind: 'opaque'; readonly name: string; readonly params: readonly Type[] }
  /** A type parameter of a function, or a type that is unbound during checking. */
  | { readonly kind: 'param'; readonly name: string }

export interface MapType {
  readonly kind: 'map'
  readonly key: Type
  readonly value: Type
  /** The members of a declared root such as `request`: no others exist. */
  readonly members?: MemberTable
}

/** What the checker needs of a root whose members are declared one by one. */
export interface MemberTable {
  readonly path: string
  readonly names: () => Iterable<string>
  readonly typeOf: (name: string) => Type | undefined
}

type SimpleKind =
  | 'dyn'
  | 'error'
  | 'any'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'

export const DYN: Type = { kind: 'dyn' }
export const ERROR: Type = { kind: 'error' }
export const ANY: Type = { kind: 'any' }
export const NULL: Type = { kind: 'null' }
export const BOOL: Type = { kind: 'bool' }
export const INT: Type = { kind: 'int' }
export const UINT: Type = { kind: 'uint' }
export const DOUBLE: Type = { kind: 'double' }
export const STRING: Type = { kind: 'string' }
export const BYTES: Type = { kind: 'bytes' }
export const TIMESTAMP: Type = { kind: 'timestamp' }
export const DURATION: Type = { kind: 'duration' }

export function listOf(element: Type): Type {
  return { kind: 'list', element }
}

export function mapOf(key: Type, value: Type): Type {
  return { kind: 'map', key, value }
}

export function typeOf(of: Type | undefined): Type {
  return { kind: 'type', of }
}

export function optionalOf(value: Type): Type {
  return { kind: 'opaque', name: 'optional_type', params: [value] }
}

export function objectType(name: string): Type {
  return { kind: 'object', name }
}

export function wrapperOf(of: Type): Type {
  return { kind: 'wrapper', of }
}

/** The type inside an optional, or undefined for any other type. */
export function optionalElement(type: Type): Type | undefined {
  return type.kind === 'opaque' && type.name === 'optional_type' ? type.params[0] : undefined
}

/** As messages and the API print it: `map(string, list(int))`. */
export function formatType(type: Type): string {
  switch (type.kind) {
    case 'list':
      return `list(${formatType(type.element)})`
    case 'map':
      return `map(${formatType(type.key)}, ${formatType(type.value)})`
    case 'type':
      return type.of === undefined ? 'type' : `type(${formatType(type.of)})`
    case 'wrapper':
      return `wrapper(${formatType(type.of)})`
    case 'object':
      return type.name
    case 'opaque':
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(formatType).join(', ')})`
    case 'param':
      return type.name
    default:
      return type.kind
  }
}

export function isExactType(a: Type, b: Type): boolean {
  if (a === b) return true
  if (a.kind !== b.kind) return false
  switch (a.kind) {
    case 'list':
      return b.kind === 'list' && isExactType(a.element, b.element)
    case 'map':
      return b.kind === 'map' && isExactType(a.key, b.key) && isExactType(a.value, b.value)
    case 'type':
      return (
        b.kind === 'type' && (a.of === b.of || (a.of !== undefined && b.of !== undefined && isExactType(a.of, b.of)))
      )
    case 'wrapper':
      return b.kind === 'wrapper' && isExactType(a.of, b.of)
    case 'object':
    case 'param':
      return 'name' in b && a.name === b.name
    case 'opaque':
      return b.kind === 'opaque' && a.name === b.name && areExactTypes(a.params, b.params)
    default:
      return true
  }
}

function areExactTypes(a: readonly Type[], b: readonly Type[]): boolean {
  return a.length === b.length && a.every((type, i) => isExactType(type, b[i]!))
}
