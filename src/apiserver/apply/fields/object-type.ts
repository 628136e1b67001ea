import type { StructuralSchema } from '#api/definitions/structural-schema.ts'
import { ATOMIC, DEDUCED, type FieldType, type ListType, type MapType } from './field-type.ts'
import { isMembers, type Members } from './members.ts'
import { OBJECT_META } from './object-meta.ts'

const ROOT_TYPES = new WeakMap<StructuralSchema, FieldType>()

/** The type of the objects of a kind. Its `metadata` is that of every kind. */
export function objectTypeOf(schema: StructuralSchema): FieldType {
  const known = ROOT_TYPES.get(schema)
  if (known !== undefined) return known
  const { map } = convert(schema, false)
  const properties = { ...map?.fields, apiVersion: TEXT, kind: TEXT, metadata: OBJECT_META }
  const type: FieldType = { map: { atomic: false, others: map?.others, fields: properties } }
  ROOT_TYPES.set(schema, type)
  return type
}

const TEXT: FieldType = { scalar: 'string' }

/** @param preserves whether a schema around this one preserves unknown fields */
function convert(schema: StructuralSchema, preserves: boolean): FieldType {
  const { type } = schema
  const open = preserves || schema['x-kubernetes-preserve-unknown-fields'] === true
  switch (type) {
    case 'object':
      return { map: mapOf(schema, open) }
    case 'array':
      return { list: listOf(schema, open) }
    case 'integer':
    case 'number':
      return { scalar: 'number' }
    case 'boolean':
      return { scalar: 'boolean' }
    case 'string':
      return { scalar: schema.format === undefined || schema.format === 'byte' ? 'string' : 'any' }
    default:
      return { scalar: 'any', list: listOf(schema, open), map: mapOf(schema, open) }
  }
}

function mapOf(schema: StructuralSchema, open: boolean): MapType {
  const { properties = {}, additionalProperties } = schema as { properties?: Members; additionalProperties?: unknown }
  const fields = Object.entries(properties).map(([name, field]) => [name, convert(field as Members, open)] as const)
  return {
    atomic: schema['x-kubernetes-map-type'] === 'atomic',
    fields: Object.fromEntries(fields),
    others: othersOf(additionalProperties, open || fields.length === 0, open),
  }
}

function othersOf(additional: unknown, isFree: boolean, open: boolean): FieldType | undefined {
  if (isMembers(additional)) return convert(additional, open)
  if (additional === undefined ? isFree : additional === true) return DEDUCED
  return undefined
}

function listOf(schema: StructuralSchema, open: boolean): ListType {
  const { items } = schema
  const listType = schema['x-kubernetes-list-type']
  const keys = listType === 'map' ? (schema['x-kubernetes-list-map-keys'] as readonly string[]) : []
  const { properties = {} } = (items ?? {}) as { properties?: Readonly<Record<string, Members>> }
  const defaults = keys.flatMap((key) =>
    properties[key]?.default === undefined ? [] : [[key, properties[key].default]],
  )
  return {
    atomic: listType !== 'map' && listType !== 'set',
    keys,
    defaults: Object.fromEntries(defaults) as Members,
    items: isMembers(items) ? convert(items, open) : ATOMIC,
  }
}
