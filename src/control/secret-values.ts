import { findKind, isKind } from '#api/kinds.ts'
import { type ApiObject, keyOf } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import { secretData } from '#api/secret-data.ts'
import { toByteText } from '#base/byte-text.ts'
import type { SecretSet } from '#base/secret-set.ts'
import { backendPath } from '#plan/backend-path.ts'
import type { PlanItem } from '#plan/item.ts'
import { secretsIn } from '#schema/index.ts'

/** The secrets in an object, as byte text: all values of a Secret, or the fields that the schema marks as secret. */
export function secretsOfObject(object: ApiObject): readonly string[] {
  if (isKind(object, 'Secret')) return Object.values(secretData(object))
  const info = findKind(object.kind)
  return info === undefined ? [] : secretsIn(info.schema, '', object).map(toByteText)
}

/** The secrets in an item of the plan, as byte text. */
export function secretsOfItem(item: PlanItem): readonly string[] {
  if (item.kind === 'secret') return Object.values(item.data)
  if (item.kind !== 'policy' && item.kind !== 'backend') return []
  const path = item.kind === 'policy' ? item.path : backendPath(item)
  const info = findKind(item.origin.kind)
  return info === undefined ? [] : secretsIn(info.schema, path, item.spec).map(toByteText)
}

/** Notes the secrets of objects that have changed. */
export function noteSecrets(secrets: SecretSet, { set, removed }: ObjectChange): void {
  for (const object of removed) secrets.set(keyOf(object), [])
  for (const object of set) secrets.set(keyOf(object), secretsOfObject(object))
}
