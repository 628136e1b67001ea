import { objectMeta } from '#api/object-meta.ts'
import { validate } from '#schema/index.ts'
import { causeOf } from '../kinds/causes.ts'
import { requiredField } from '../kinds/field-errors.ts'
import type { Cause } from '../kinds/served-kind.ts'
import { isJsonObject, type JsonObject, type JsonSchema, pathOfMember, schemaOfMember } from './json-schema.ts'

/** Checks the names, labels and so on of an object. */
export function checkMetadataSchema(metadata: unknown, path: string): readonly Cause[] {
  const { problems } = validate(objectMeta, metadata)
  return problems
    .filter(({ severity }) => severity === 'error')
    .map((problem) => causeOf({ ...problem, path: problem.path === '' ? path : `${path}.${problem.path}` }))
}

/** An object inside another one has a kind, a version and valid metadata, too (Kubernetes, `x-kubernetes-embedded-resource`). */
export function checkEmbedded(value: unknown, schema: JsonSchema | undefined, path: string): readonly Cause[] {
  if (schema === undefined) return []
  if (Array.isArray(value))
    return value.flatMap((item, index) => checkEmbedded(item, schema.items, `${path}[${index}]`))
  if (!isJsonObject(value)) return []
  const inside = (name: string) => pathOfMember(schema, path, name)
  const identity = (name: string) => (path === '' ? name : `${path}.${name}`)
  const own = schema['x-kubernetes-embedded-resource'] === true ? checkIdentity(value, identity) : []
  const members = Object.entries(value).flatMap(([name, member]) =>
    checkEmbedded(member, schemaOfMember(schema, name), inside(name)),
  )
  return [...own, ...members]
}

function checkIdentity(object: JsonObject, inside: (name: string) => string): readonly Cause[] {
  const missing = ['apiVersion', 'kind'].filter((name) => typeof object[name] !== 'string' || object[name] === '')
  const causes = missing.map((name) => requiredField(inside(name)))
  return object.metadata === undefined
    ? causes
    : [...causes, ...checkMetadataSchema(object.metadata, inside('metadata'))]
}
