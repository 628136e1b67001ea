import { findKind, isKind } from '#api/kinds.ts'
import type { ApiObject } from '#api/object.ts'
import { toByteText } from '#base/byte-text.ts'
import { KnownSecrets } from '#base/known-secrets.ts'
import type { PlanItem } from '#plan/item.ts'
import { secretsIn } from '#schema/index.ts'
import { secretData } from './references/secret-data.ts'

/** The values of a Secret, and the secrets that are written in another object, as byte text. */
export function secretsOfObject(object: ApiObject): readonly string[] {
  if (isKind(object, 'Secret')) return Object.values(secretData(object))
  const info = findKind(object.kind)
  return info === undefined ? [] : [...secretsIn(info.schema, '', object)].map(toByteText)
}

/** The same of an item of the plan. */
export function secretsOfItem(item: PlanItem): readonly string[] {
  if (item.kind === 'secret') return Object.values(item.data)
  if (item.kind !== 'policy' && item.kind !== 'backend') return []
  const path = item.kind === 'policy' ? item.path : `spec.${item.type}`
  const info = findKind(item.origin.kind)
  return info === undefined ? [] : [...secretsIn(info.schema, path, item.spec)].map(toByteText)
}

/** All secrets of the objects of a store. They are prepared anew only when one of them is another. */
export class SecretIndex {
  /** Objects that do not change stay the same objects. */
  readonly #known = new WeakMap<ApiObject, readonly string[]>()
  #held: readonly (readonly string[])[] = []
  #secrets = new KnownSecrets()

  take(objects: readonly ApiObject[]): KnownSecrets {
    const held = objects.map((object) => this.#secretsOf(object)).filter((secrets) => secrets.length > 0)
    const isSame = held.length === this.#held.length && held.every((secrets, i) => secrets === this.#held[i])
    if (!isSame) this.#secrets = new KnownSecrets(held.flat())
    this.#held = held
    return this.#secrets
  }

  #secretsOf(object: ApiObject): readonly string[] {
    let secrets = this.#known.get(object)
    if (secrets === undefined) {
      secrets = secretsOfObject(object)
      this.#known.set(object, secrets)
    }
    return secrets
  }
}
