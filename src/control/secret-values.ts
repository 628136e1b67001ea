import { findKind, isKind } from '#api/kinds.ts'
import { type ApiObject, keyOf } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import { toByteText } from '#base/byte-text.ts'
import { KnownSecrets } from '#base/known-secrets.ts'
import type { PlanItem } from '#plan/item.ts'
import { secretsIn } from '#schema/index.ts'
import { secretData } from './references/secret-data.ts'

/** The values of a Secret, and the secrets that are written in another object, as byte text. */
export function secretsOfObject(object: ApiObject): readonly string[] {
  if (isKind(object, 'Secret')) return Object.values(secretData(object))
  const info = findKind(object.kind)
  return info === undefined ? [] : secretsIn(info.schema, '', object).map(toByteText)
}

/** The same of an item of the plan. */
export function secretsOfItem(item: PlanItem): readonly string[] {
  if (item.kind === 'secret') return Object.values(item.data)
  if (item.kind !== 'policy' && item.kind !== 'backend') return []
  const path = item.kind === 'policy' ? item.path : `spec.${item.type}`
  const info = findKind(item.origin.kind)
  return info === undefined ? [] : secretsIn(info.schema, path, item.spec).map(toByteText)
}

/** All secrets of the objects of a store. They are prepared anew only when one of them is another. */
export class SecretIndex {
  readonly #held = new Map<string, readonly string[]>()
  #secrets = new KnownSecrets()

  take({ set, removed }: ObjectChange): KnownSecrets {
    let isSame = true
    for (const object of removed) if (this.#held.delete(keyOf(object))) isSame = false
    for (const object of set) if (!this.#hold(keyOf(object), secretsOfObject(object))) isSame = false
    if (!isSame) this.#secrets = new KnownSecrets([...this.#held.values()].flat())
    return this.#secrets
  }

  /** @returns whether they are the same as before */
  #hold(key: string, secrets: readonly string[]): boolean {
    const before = this.#held.get(key) ?? []
    if (secrets.length === before.length && secrets.every((secret, i) => secret === before[i])) return true
    if (secrets.length > 0) this.#held.set(key, secrets)
    else this.#held.delete(key)
    return false
  }
}
