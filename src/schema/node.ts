import type { Static, TSchema } from 'typebox'
import type { ConfigProblem } from '#base/config-problem.ts'
import type { FindingCode } from '#base/findings.ts'

/** The scalar types of specification 1, 2.2, as docs name them; they tell a walker what a string means. */
export type ScalarName =
  | 'ShortString'
  | 'TinyString'
  | 'LongString'
  | 'CELExpression'
  | 'HTTPHeaderName'
  | 'HeaderName'
  | 'SNI'
  | 'ByteSize'
  | 'Duration'
  | 'DurationOrCEL'
  | 'JSON'
  | 'SectionName'
  | 'Quantity'

/** Why a scalar is refused; the validator adds the path. */
export interface ScalarRefusal {
  readonly code: FindingCode
  readonly message: string
}

/** How many of the named fields may be present. */
export interface FieldGroup {
  readonly count: 'exactly-one' | 'at-least-one' | 'at-most-one'
  readonly fields: readonly string[]
}

/**
 * A rule over several fields of one object. It runs only when the fields it reads are valid by themselves;
 * of all other fields it may only ask whether they are present.
 */
export interface ObjectRule {
  readonly reads: readonly string[]
  /** The rule in one sentence, for docs. */
  readonly description: string
  readonly check: (value: never, path: string) => readonly ConfigProblem[]
}

/**
 * The keywords that this project reads on a TypeBox schema. Those of JSON Schema keep their meaning, except that
 * lengths count Unicode code points (decision A-05); the others are ours.
 */
export interface SchemaNode {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'boolean'
  readonly description?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly enum?: readonly string[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: SchemaNode
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[]
  readonly minProperties?: number
  readonly maxProperties?: number
  /** The value schema of a map with free keys. */
  readonly additionalProperties?: SchemaNode
  /** Which scalar type of the specification this is. */
  readonly scalar?: ScalarName
  /** Both a string and an integer are accepted. */
  readonly intOrString?: boolean
  /** What bounds and enumeration cannot say about a scalar. */
  readonly check?: (value: string | number) => ScalarRefusal | undefined
  /** The fields whose values identify a list item; two items with equal ones are duplicates. An empty list means the whole item. */
  readonly uniqueBy?: readonly string[]
  readonly groups?: readonly FieldGroup[]
  readonly rules?: readonly ObjectRule[]
  /** A field that stands in for all others of this object: when it is present, they must be absent and nothing else is required. */
  readonly insteadOf?: string
  /** What the value refers to. */
  readonly refersTo?: Reference
  /** A secret, which no output shows; of `user:password` only what follows the colon is one. */
  readonly secret?: 'whole' | 'after-colon'
  /** Still works, but should not be used any more; says what to use. */
  readonly replacedBy?: string
  /** A platform object: unknown fields are kept and reported as warnings, null means absent (decision A-07). */
  readonly open?: boolean
}

/** What a part of an object refers to. */
export interface Reference {
  /** `secrets`: all that a selector of labels finds. `keySet`: a backend that serves JSON Web Keys. */
  readonly to: 'backend' | 'keySet' | 'secret' | 'secrets' | 'configMap'
  /** Entries that the Secret or ConfigMap must have; of an inner list, one. */
  readonly entries: readonly (readonly string[])[]
}

/** The same schema, seen as the keywords this project knows. */
export function nodeOf(schema: TSchema): SchemaNode {
  return schema as SchemaNode
}

/** Makes every member readonly, at every depth; `unknown` stays `unknown`. */
export type DeepReadonly<T> = unknown extends T ? T : { readonly [K in keyof T]: DeepReadonly<T[K]> }

/** The type of a validated value: schema defaults are present, everything is readonly. */
export type Parsed<S extends TSchema> = DeepReadonly<Static<S>>
