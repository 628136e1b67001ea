import type { Static, TArray, TObject, TProperties, TRecord, TSchema } from 'typebox'
import type { ConfigProblem } from '#base/config-problem.ts'
import { annotate, build, buildObject } from './build.ts'
import { type DeepReadonly, type FieldGroup, nodeOf, type ObjectRule } from './node.ts'

/** An object with exactly these fields; unknown fields are refused. */
export function object<P extends TProperties>(properties: P): TObject<P> {
  return buildObject(properties)
}

/** A platform object of which only these fields are read; unknown ones are kept and reported (decision A-07). */
export function openObject<P extends TProperties>(properties: P): TObject<P> {
  return buildObject(properties, { open: true })
}

interface ListBounds {
  readonly min?: number
  readonly max?: number
}

function itemBounds({ min, max }: ListBounds) {
  return { ...(min === undefined ? {} : { minItems: min }), ...(max === undefined ? {} : { maxItems: max }) }
}

export function list<S extends TSchema>(item: S, bounds: ListBounds = {}): TArray<S> {
  return build({ type: 'array', items: item, ...itemBounds(bounds) })
}

/** A list without duplicates. */
export function setOf<S extends TSchema>(item: S, bounds: ListBounds = {}): TArray<S> {
  return build({ type: 'array', items: item, ...itemBounds(bounds), uniqueBy: [] })
}

/** A list in which no two items have the same value in the key fields. */
export function listMap<P extends TProperties>(
  keys: (keyof P & string) | readonly (keyof P & string)[],
  item: TObject<P>,
  bounds: ListBounds = {},
): TArray<TObject<P>> {
  return build({
    type: 'array',
    items: item,
    ...itemBounds(bounds),
    uniqueBy: typeof keys === 'string' ? [keys] : keys,
  })
}

/** A map with free keys; bounds count the entries. */
export function mapOf<S extends TSchema>(value: S, { min, max }: ListBounds = {}): TRecord<string, S> {
  return build({
    type: 'object',
    additionalProperties: value,
    ...(min === undefined ? {} : { minProperties: min }),
    ...(max === undefined ? {} : { maxProperties: max }),
  })
}

/** An object with any members. */
export function jsonObject(): TRecord<string, TSchema> {
  return mapOf(build({ scalar: 'JSON' }))
}

type FieldsOf<S extends TObject> = keyof S['properties'] & string

function grouped<S extends TObject>(count: FieldGroup['count'], fields: readonly FieldsOf<S>[], schema: S): S {
  return annotate(schema, { groups: [...(nodeOf(schema).groups ?? []), { count, fields }] })
}

/** Exactly one of the named fields is set. */
export function exactlyOne<S extends TObject>(fields: readonly FieldsOf<S>[], schema: S): S {
  return grouped('exactly-one', fields, schema)
}

export function atLeastOne<S extends TObject>(fields: readonly FieldsOf<S>[], schema: S): S {
  return grouped('at-least-one', fields, schema)
}

export function atMostOne<S extends TObject>(fields: readonly FieldsOf<S>[], schema: S): S {
  return grouped('at-most-one', fields, schema)
}

/** At least one field of the object is set. */
export function notEmpty<S extends TObject>(schema: S): S {
  return grouped('at-least-one', Object.keys(schema.properties) as FieldsOf<S>[], schema)
}

/** The view of a rule: the fields that it reads, which are valid; of the others, only their presence. */
export type RuleView<T, K extends keyof T> = DeepReadonly<Pick<T, K>> & {
  readonly [F in Exclude<keyof T, K>]?: unknown
}

interface RuleOf<T, K extends keyof T> {
  /** The fields whose values the rule reads. */
  readonly reads: readonly K[]
  /** One sentence for docs. */
  readonly description: string
  readonly check: (value: RuleView<T, K>, path: string) => readonly ConfigProblem[]
  /** As in `ObjectRule`. */
  readonly onServer?: string
}

/** Adds a rule over several fields to an object schema. */
export function withRule<S extends TObject, const K extends keyof Static<S> & string>(
  schema: S,
  rule: RuleOf<Static<S>, K>,
): S {
  return annotate(schema, { rules: [...(nodeOf(schema).rules ?? []), rule as ObjectRule] })
}
