import Type, { type Static, type TOptional, type TSchema } from 'typebox'

/** A copy of a schema with more keywords; TypeBox keeps its own marks in properties that a spread would lose. */
export function annotate<S extends TSchema>(schema: S, keywords: object): S {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema))
  return Object.assign(copy, keywords) as S
}

/** A text that no output may show. */
export function secret<S extends TSchema>(schema: S, part: 'whole' | 'after-colon' = 'whole'): S {
  return annotate(schema, { secret: part })
}

/** A field that must be there. The text is user documentation. */
export function required<S extends TSchema>(schema: S, description: string): S {
  return annotate(schema, { description })
}

/** Describes a schema itself, instead of the field that contains it. */
export function described<S extends TSchema>(description: string, schema: S): S {
  return annotate(schema, { description })
}

/** A field that may be absent and then stays absent. @param description unset: that of the schema */
export function optional<S extends TSchema>(schema: S, description?: string): TOptional<S> {
  return Type.Optional(description === undefined ? schema : annotate(schema, { description })) as TOptional<S>
}

/**
 * A field that may be left out and then gets a value at admission (decision A-08), so a validated object always has it.
 * For defaults that apply only at use, take `optional` and say so in the text.
 */
export function defaulted<S extends TSchema>(schema: S, value: Static<S>, description: string): S {
  return Type.Optional(annotate(schema, { description, default: value })) as TSchema as S
}

/** A field that still works but should not be used any more (lint and status say so); `replacedBy` is the path to use instead. */
export function deprecated<S extends TSchema>(schema: S, replacedBy: string, description: string): TOptional<S> {
  return optional(annotate(schema, { replacedBy, deprecated: true }), description)
}
