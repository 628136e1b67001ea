import type { TObject, TOptional, TProperties, TSchema } from 'typebox'

// Schemas are plain JSON Schema with the types of TypeBox. Its own constructors come with code that compiles and evaluates types, which would
// cost every thread 20 MB and a tenth of a second (docs/decisions/0110-schema.md).

/** Marks a schema as an optional member. Not enumerable: it is not part of the JSON. */
const OPTIONAL = Symbol('optional')

/** A schema with these keywords; the caller knows its type. */
export function build<S extends TSchema>(keywords: object): S {
  return { ...keywords } as S
}

export function buildObject<P extends TProperties>(properties: P, keywords: object = {}): TObject<P> {
  const required = Object.keys(properties).filter((name) => !isOptional(properties[name]!))
  return build({ type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...keywords })
}

/** A copy of a schema with more keywords. It is an optional member if the schema is one. */
export function annotate<S extends TSchema>(schema: S, keywords: object): S {
  const copy = build<S>({ ...schema, ...keywords })
  return isOptional(schema) ? markOptional(copy) : copy
}

/** A copy of a schema that is an optional member of its object. */
export function asOptional<S extends TSchema>(schema: S): TOptional<S> {
  return markOptional(build<S>(schema)) as TOptional<S>
}

function markOptional<S extends TSchema>(schema: S): S {
  return Object.defineProperty(schema, OPTIONAL, { value: true })
}

function isOptional(schema: TSchema): boolean {
  return OPTIONAL in schema
}
