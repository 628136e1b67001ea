import type { Type } from '#cel/index.ts'
import type { JsonSchema } from './json-schema.ts'

/** The members of every object that rules may read, whatever the schema says (Kubernetes, "Validation rules"). */
const IDENTITY: Readonly<Record<string, JsonSchema>> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } },
}

/** A schema with the members that the root of an object has. */
export function withIdentity(schema: JsonSchema): JsonSchema {
  return { ...schema, type: 'object', properties: { ...schema.properties, ...IDENTITY } }
}

const DYN: Type = { kind: 'dyn' }
const FORMATS: Readonly<Record<string, Type>> = {
  byte: { kind: 'bytes' },
  duration: { kind: 'duration' },
  date: { kind: 'timestamp' },
  'date-time': { kind: 'timestamp' },
}
const SCALARS: Readonly<Record<string, Type>> = {
  integer: { kind: 'int' },
  number: { kind: 'double' },
  boolean: { kind: 'bool' },
}

/** The type in CEL of values with a schema. Undefined: rules cannot read them, because nothing is known of them. */
export function typeOfSchema(schema: JsonSchema, path: string): Type | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return DYN
  switch (schema.type) {
    case 'array': {
      const element = schema.items && typeOfSchema(embedded(schema.items), `${path}[]`)
      return element && { kind: 'list', element }
    }
    case 'object':
      return typeOfObject(schema, path)
    case 'string':
      return Object.hasOwn(FORMATS, schema.format ?? '') ? FORMATS[schema.format!] : { kind: 'string' }
    default:
      return Object.hasOwn(SCALARS, schema.type ?? '') ? SCALARS[schema.type!] : undefined
  }
}

/** An embedded object has the members of a root. */
export function embedded(schema: JsonSchema): JsonSchema {
  return schema['x-kubernetes-embedded-resource'] === true ? withIdentity(schema) : schema
}

function typeOfObject(schema: JsonSchema, path: string): Type | undefined {
  const key: Type = { kind: 'string' }
  const { additionalProperties } = schema
  if (typeof additionalProperties === 'object') {
    const value = typeOfSchema(embedded(additionalProperties), `${path}[]`)
    return value && { kind: 'map', key, value }
  }
  const members = new Map<string, Type>()
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const type = typeOfSchema(embedded(property), `${path}.${name}`)
    const escaped = escapeName(name)
    if (type !== undefined && escaped !== undefined) members.set(escaped, type)
  }
  const table = { path, names: () => members.keys(), typeOf: (name: string) => members.get(writtenName(name)) }
  return { kind: 'map', key, value: DYN, members: table }
}

const RESERVED: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return void while'.split(
    ' ',
  ),
)
const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
  ' ': '__space__',
}

/** The escaped name of a member that an expression names. Reserved words may also be written without escaping, as in `self.namespace`. */
export function writtenName(name: string): string {
  return RESERVED.has(name) ? `__${name}__` : name
}

/** The name of a member in CEL (Kubernetes, "Escaping"); undefined: expressions cannot name it. */
export function escapeName(name: string): string | undefined {
  if (RESERVED.has(name)) return writtenName(name)
  if (!/^[A-Za-z_][A-Za-z0-9_.\-/ ]*$/.test(name)) return undefined
  return name.replace(/__|[.\-/ ]/g, (part) => ESCAPES[part]!)
}
