import { findKind, isKind } from '#api/kinds.ts'
import { type ApiObject, keyOf } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import { secretData } from '#api/secret-data.ts'
import { toByteText } from '#base/byte-text.ts'
import { KnownSecrets } from '#base/known-secrets.ts'
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

/** All secrets of the objects of a store. `KnownSecrets` is rebuilt only when a secret changes. */
export class SecretIndex {
  readonly #byObject = new Map<string, readonly string[]>()
  #secrets = new KnownSecrets()

  update({ set, removed }: ObjectChange): KnownSecrets {
    let unchanged = true
    for (const object of removed) if (this.#byObject.delete(keyOf(object))) unchanged = false
    for (const object of set) if (!this.#set(keyOf(object), secretsOfObject(object))) unchanged = false
    if (!unchanged) this.#secrets = new KnownSecrets([...this.#byObject.values()].flat())
    return this.#secrets
  }

  /** @returns whether the secrets are unchanged */
  #set(key: string, secrets: readonly string[]): boolean {
    const before = this.#byObject.get(key) ?? []
    if (secrets.length === before.length && secrets.every((secret, i) => secret === before[i])) return true
    if (secrets.length > 0) this.#byObject.set(key, secrets)
    else this.#byObject.delete(key)
    return false
  }
}
