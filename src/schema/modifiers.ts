import type { Static, TOptional, TSchema } from 'typebox'
import type { Meanings } from '#base/products.ts'
import { annotate, asOptional } from './build.ts'
import { nodeOf, type SchemaNode } from './node.ts'

/** A text that must never appear in output. */
export function secret<S extends TSchema>(schema: S, part: NonNullable<SchemaNode['secret']> = 'whole'): S {
  return annotate(schema, { secret: part })
}

/** Says what to write instead of names that users of other products write; keys as in `Meanings`. */
export function withMeanings<S extends TSchema>(meanings: Meanings, schema: S): S {
  return annotate(schema, { meanings: { ...nodeOf(schema).meanings, ...meanings } })
}

/** A field that only objects in local files may have: the gateway would read the environment or a file of its machine for its author. */
export function filesOnly<S extends TSchema>(schema: S): S {
  return annotate(schema, { filesOnly: true })
}

/** A required field. The description is user documentation. */
export function required<S extends TSchema>(schema: S, description: string): S {
  return annotate(schema, { description })
}

/** Describes a schema itself, instead of the field that contains it. */
export function described<S extends TSchema>(description: string, schema: S): S {
  return annotate(schema, { description })
}

/** An optional field without a default. @param description default: that of the schema */
export function optional<S extends TSchema>(schema: S, description?: string): TOptional<S> {
  return asOptional(description === undefined ? schema : annotate(schema, { description }))
}

/**
 * An optional field that admission sets to a default (decision A-08), so that a validated object always has it. For defaults that apply
 * only at use, take `optional` and document them in the description.
 */
export function defaulted<S extends TSchema>(schema: S, value: Static<S>, description: string): S {
  return asOptional(annotate(schema, { description, default: value })) as TSchema as S
}

/** A field that is still supported but deprecated (`lint -v` says so); `replacedBy` is the path of its replacement. */
export function deprecated<S extends TSchema>(schema: S, replacedBy: string, description: string): TOptional<S> {
  return optional(annotate(schema, { replacedBy, deprecated: true }), description)
}
