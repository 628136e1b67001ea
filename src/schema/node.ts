import type { Static, TSchema } from 'typebox'
import type { ConfigProblem } from '#base/config-problem.ts'
import type { FindingCode } from '#base/findings.ts'
import type { Meanings } from '#base/products.ts'

/** The scalar types of specification 1, 2.2, with their names in the documentation. They define the meaning of a string. */
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
 * A rule over several fields of one object. It runs only if the fields that it reads are valid; of all other fields it may only test the
 * presence.
 */
export interface ObjectRule {
  readonly reads: readonly string[]
  /** The rule in one sentence, for docs. */
  readonly description: string
  readonly check: (value: never, path: string) => readonly ConfigProblem[]
  /**
   * The same rule for API servers of Kubernetes: a CEL expression over the object `self`, with its defaults. Undefined: only this gateway
   * can check it.
   */
  readonly onServer?: string
}

/**
 * The keywords that this project reads from a TypeBox schema. Those of JSON Schema keep their meaning, except that lengths count Unicode
 * code points; the others are extensions.
 */
export interface SchemaNode {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  readonly description?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly enum?: readonly string[]
  readonly minLength?: number
  readonly maxLength?: number
  /** A regular expression that JavaScript and RE2 read in the same way. */
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  /** The minimum of a duration, as text. */
  readonly minimumDuration?: string
  readonly items?: SchemaNode
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[]
  readonly minProperties?: number
  readonly maxProperties?: number
  /** The value schema of a map with free keys. */
  readonly additionalProperties?: SchemaNode
  /** The scalar type of the specification. */
  readonly scalar?: ScalarName
  /** Both a string and an integer are accepted. */
  readonly intOrString?: boolean
  /** Constraints of a scalar that bounds and enumeration cannot express. */
  readonly check?: (value: string | number) => ScalarRefusal | undefined
  /** What its other keywords cannot say of a scalar, for API servers of Kubernetes: a CEL expression over the value `self`. */
  readonly onServer?: { readonly rule: string; readonly message: string }
  /** The fields that identify a list item; two items with equal values are duplicates. An empty list: the whole item. */
  readonly uniqueBy?: readonly string[]
  readonly groups?: readonly FieldGroup[]
  readonly rules?: readonly ObjectRule[]
  /** A field that replaces all others of this object: if it is present, they must be absent, and no other field is required. */
  readonly insteadOf?: string
  /** The object that the value refers to. */
  readonly refersTo?: Reference
  /**
   * The object is a destination by itself, with its backend policies in the member `policies`: type and settings of its backend in the plan;
   * undefined: this one is none.
   */
  readonly ownBackend?: OwnBackend
  /**
   * A secret, which no output may contain; `after-colon`: only the part after the colon of `user:password`; `key-set`: a key set, which is
   * one only with private keys.
   */
  readonly secret?: 'whole' | 'after-colon' | 'key-set'
  /** What to write instead of unknown field names or values (`base/products.ts`). */
  readonly meanings?: Meanings
  /** Only objects in local files may have the field. */
  readonly filesOnly?: true
  /** The field is deprecated; the path of its replacement. */
  readonly replacedBy?: string
  /** A platform object: unknown fields are kept and reported, null means absent (decision A-07). */
  readonly open?: boolean
}

export type OwnBackend = (value: never) => { readonly type: string; readonly spec: object } | undefined

/** A reference of a part of an object. */
export interface Reference {
  /** `secrets`: all that match a label selector. `keySet`: a backend that serves JSON Web Keys. */
  readonly to: 'backend' | 'keySet' | 'secret' | 'secrets' | 'configMap'
  /** Entries that the Secret or ConfigMap must have; of an inner list, at least one. */
  readonly entries: readonly (readonly string[])[]
}

/** The same schema, typed with the keywords that this project reads. */
export function nodeOf(schema: TSchema): SchemaNode {
  return schema as SchemaNode
}

/** Makes every member readonly, at every depth; `unknown` stays `unknown`. */
export type DeepReadonly<T> = unknown extends T ? T : { readonly [K in keyof T]: DeepReadonly<T[K]> }

/** The type of a validated value: schema defaults are present, everything is readonly. */
export type Parsed<S extends TSchema> = DeepReadonly<Static<S>>
