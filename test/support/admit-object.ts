import { apiVersionOf, findKind } from '#api/kinds.ts'
import type { ApiObject } from '#api/object.ts'
import { validate } from '#schema/index.ts'

/**
 * Creates a valid stored object from a short form: `apiVersion` is derived from the kind, and the default namespace is `default`. Fields
 * that a server adds (creation time, generation, status) may be set. Throws if the object is invalid.
 */
export function admitObject(raw: unknown): ApiObject {
  const given = raw as { kind: string; metadata: { name: string; namespace?: string } }
  const info = findKind(given.kind)
  if (info === undefined) throw new Error(`unknown kind ${given.kind}`)
  const { value, problems } = validate(info.schema, { apiVersion: apiVersionOf(info), ...given })
  if (problems.length > 0) {
    const list = problems.map(({ path, message }) => `${path}: ${message}`).join('; ')
    throw new Error(`invalid ${given.kind} ${given.metadata.name}: ${list}`)
  }
  const { name, namespace = info.namespaced ? 'default' : '' } = given.metadata
  const admitted = value as Omit<ApiObject, 'origin'>
  return {
    ...admitted,
    metadata: { ...admitted.metadata, name, namespace },
    origin: { kind: given.kind, namespace, name },
  }
}
