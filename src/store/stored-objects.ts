import { kindOfCollection } from '#api/collection.ts'
import type { KindInfo } from '#api/kinds.ts'
import { type ApiObject, objectKey } from '#api/object.ts'
import type { RefusedPolicy } from '#api/refused-policy.ts'
import type { RefusedRoute } from '#api/refused-route.ts'
import { sameData } from '#base/incremental/same-data.ts'
import { describeOrigin } from '#base/origin.ts'
import { admit } from './admit.ts'
import type { FileProblem } from './file-problem.ts'
import { describeRefused } from './refused-policies.ts'
import type { Resource, ResourceKey } from './resources/resource.ts'

/** An object of the API, as the control plane reads it. */
export interface StoredObject {
  /** Undefined: the object is invalid. It is of an older version of the gateway, which accepted it. */
  readonly object: ApiObject | undefined
  readonly policy: RefusedPolicy | undefined
  readonly route: RefusedRoute | undefined
  readonly problems: readonly FileProblem[]
  readonly resource: Resource
}

/** The objects of the API that the control plane reads, checked as those of files are. */
export class StoredObjects {
  /** By `objectKey`. */
  readonly #objects = new Map<string, StoredObject>()
  /** Those with problems. */
  readonly #faulty = new Map<string, StoredObject>()

  get isEmpty(): boolean {
    return this.#objects.size === 0
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key)
  }

  /** All objects, in an order that does not change with them. */
  all(): Iterable<readonly [key: string, stored: StoredObject]> {
    return this.#objects
  }

  /** The objects with problems. */
  faulty(): Iterable<readonly [key: string, stored: StoredObject]> {
    return this.#faulty
  }

  /** @returns the key of the object if what the control plane reads has changed */
  set(key: ResourceKey, resource: Resource): string | undefined {
    const info = kindOfCollection(key.collection)
    if (info === undefined) return undefined
    const name = keyOfObject(info, key)
    const known = this.#objects.get(name)
    if (known !== undefined && isSame(known.resource, resource)) return undefined
    const checked = check(resource, info)
    this.#objects.set(name, checked)
    if (checked.problems.length > 0) this.#faulty.set(name, checked)
    else this.#faulty.delete(name)
    return name
  }

  remove(key: ResourceKey): void {
    const info = kindOfCollection(key.collection)
    if (info === undefined) return
    this.#objects.delete(keyOfObject(info, key))
    this.#faulty.delete(keyOfObject(info, key))
  }

  /** Takes the status of an object as known: the control plane has written it. */
  noteStatus(key: ResourceKey, { status }: Resource): void {
    const info = kindOfCollection(key.collection)
    const name = info && keyOfObject(info, key)
    const known = name === undefined ? undefined : this.#objects.get(name)
    if (known !== undefined) this.#objects.set(name!, { ...known, resource: { ...known.resource, status } })
  }
}

/** The object in force: of an invalid route, a stand-in that refuses its requests. */
export function inForce({ object, route }: StoredObject): ApiObject | undefined {
  return object ?? route?.standIn
}

/** All problems of an object, with what follows from them. */
export function problemsOf({ problems, policy, route }: StoredObject): readonly FileProblem[] {
  const policies = policy === undefined ? [] : [policy]
  const routes = route === undefined ? [] : [route]
  return [...problems, ...describeRefused({ problems, isKnown: true }, policies, routes)]
}

function keyOfObject({ kind }: KindInfo, { namespace, name }: ResourceKey): string {
  return objectKey(kind, namespace, name)
}

/** Managers and revisions change with each status. */
function isSame(one: Resource, other: Resource): boolean {
  return sameData(read(one), read(other))
}

function read({ metadata, ...members }: Resource): object {
  const { resourceVersion: _, managedFields: __, ...named } = metadata
  return { ...members, metadata: named }
}

function check(resource: Resource, info: KindInfo): StoredObject {
  const { managedFields: _, ...metadata } = resource.metadata
  const { object, policy, route, problems: found, name } = admit({ ...resource, metadata }, { info, place: undefined })
  const of = object?.origin ?? name ?? { kind: info.kind, namespace: metadata.namespace ?? '', name: metadata.name }
  const described = describeOrigin({ kind: of.kind, namespace: of.namespace, name: of.name })
  const problems = found.map((each) => ({ ...each, file: '', object: described }))
  return { object: object && withSharedParts(object, resource), policy, route, problems, resource }
}

/** An object that was checked before has its defaults, so its parts need not be in memory twice. */
function withSharedParts(object: ApiObject, resource: Resource): ApiObject {
  const parts = Object.entries(object).filter(([name]) => name !== 'metadata' && name !== 'origin')
  const shared = parts.flatMap(([name, part]) => (sameData(part, resource[name]) ? [[name, resource[name]]] : []))
  return { ...object, ...Object.fromEntries(shared) }
}
