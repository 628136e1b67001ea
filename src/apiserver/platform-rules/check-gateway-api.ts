import { structuralSchema } from '#api/definitions/structural-schema.ts'
import { sameData } from '#base/incremental/same-data.ts'
import type { TSchema } from '#schema/index.ts'
import type { Resource } from '#store/resources/resource.ts'
import type { Cause, WrittenObject } from '../kinds/served-kind.ts'
import { checkLists } from '../schemas/check-lists.ts'
import { checkRules } from '../schemas/check-rules.ts'
import { checkValue } from '../schemas/check-value.ts'
import { compileRules, type RuleNode } from '../schemas/compile-rules.ts'
import type { JsonSchema } from '../schemas/json-schema.ts'
import { type Amendment, GATEWAY_API_RULES } from './gateway-api-rules.ts'

/** The schema of a kind with its amendments. */
interface Amended {
  readonly schema: JsonSchema
  readonly rules: RuleNode | undefined
}

/** By kind; compiled for the first object that is written. */
const compiled = new Map<string, Amended>()

/** Checks a valid object of a kind of the Gateway API by the rules of its CustomResourceDefinition. @param before the stored object */
export function checkGatewayApi(
  { kind, schema }: { readonly kind: string; readonly schema: TSchema },
  object: WrittenObject,
  before: Resource | undefined,
): readonly Cause[] {
  // A stored object, also one of a file, may break the rules; its metadata and its status can change.
  if (before !== undefined && sameData(before.spec, object.spec)) return []
  const { schema: amended, rules } = amendedSchema(kind, schema)
  const causes = [...checkValue(object, amended, ''), ...checkLists(object, amended, '')]
  return causes.length > 0 || rules === undefined ? causes : checkRules(rules, object, before)
}

function amendedSchema(kind: string, schema: TSchema): Amended {
  const known = compiled.get(kind)
  if (known !== undefined) return known
  const amended = (GATEWAY_API_RULES[kind] ?? []).reduce(
    (whole, amendment) => amend(whole, amendment.at.split(/\.|(?=\[\])/), amendment),
    structuralSchema(schema) as JsonSchema,
  )
  const { root, problems } = compileRules(amended)
  if (problems.length > 0) throw new Error(`${kind}: ${JSON.stringify(problems[0])}`)
  const made = { schema: amended, rules: root }
  compiled.set(kind, made)
  return made
}

/** @param steps names of members, and `[]` for the items of a list */
function amend(schema: JsonSchema, [step, ...rest]: readonly string[], amendment: Amendment): JsonSchema {
  if (step === undefined) return amendField(schema, amendment)
  if (step === '[]') return { ...schema, items: amend(schema.items!, rest, amendment) }
  const { properties = {} } = schema
  return { ...schema, properties: { ...properties, [step]: amend(properties[step]!, rest, amendment) } }
}

function amendField(schema: JsonSchema, { rules = [], enum: values, pattern, isSet }: Amendment): JsonSchema {
  const { 'x-kubernetes-validations': own = [] } = schema
  return {
    ...schema,
    ...(values === undefined ? {} : { enum: values }),
    ...(pattern === undefined ? {} : { pattern }),
    ...(isSet === undefined ? {} : { 'x-kubernetes-list-type': 'set' as const }),
    ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': [...own, ...rules] }),
  }
}
