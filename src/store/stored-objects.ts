import { kindOfCollection } from '#api/collection.ts'
import type { KindInfo } from '#api/kinds.ts'
import { type ApiObject, objectKey } from '#api/object.ts'
import type { RefusedPolicy } from '#api/refused-policy.ts'
import type { RefusedRoute } from '#api/refused-route.ts'
import { sameData } from '#base/incremental/same-data.ts'
import { describeOrigin } from '#base/origin.ts'
import { admit } from './admit.ts'
import { type FileProblem, formatProblem } from './file-problem.ts'
import { describeRefused } from './refused-policies.ts'
import type { Resource, ResourceKey } from './resources/resource.ts'

/** An object of the API, as the control plane reads it. */
export interface StoredObject {
  /** Undefined: the object is invalid, and was never valid. An API may accept what the gateway does not: an older version of it did, or another server. */
  readonly object: ApiObject | undefined
  /** The object is an earlier version, because this one is invalid. */
  readonly isKept: boolean
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

  /** Why objects keep their last valid version, by key. */
  refusedEdits(): ReadonlyMap<string, string> {
    const kept = [...this.#faulty].filter(([, { isKept }]) => isKept)
    return new Map(kept.map(([key, { problems }]) => [key, problems.map(formatProblem).join('\n')]))
  }

  /** Keys of the objects that were never valid. */
  refused(): ReadonlySet<string> {
    return new Set([...this.#faulty].flatMap(([key, { object }]) => (object === undefined ? [key] : [])))
  }

  /** The policies among them that protect their targets, or may do so. */
  refusedPolicies(): readonly RefusedPolicy[] {
    return [...this.#faulty.values()].flatMap(({ policy }) => (policy && policy.protects.length > 0 ? [policy] : []))
  }

  /** The problems of all objects, each with the object in its message: there is no place that tells which one it is. */
  problems(): readonly FileProblem[] {
    return [...this.#faulty.values()].flatMap((stored) => problemsOf(stored).map(withName))
  }

  /** @returns the key of the object if what the control plane reads has changed */
  set(key: ResourceKey, resource: Resource): string | undefined {
    const info = kindOfCollection(key.collection)
    if (info === undefined) return undefined
    const name = keyOfObject(info, key)
    const known = this.#objects.get(name)
    if (known !== undefined && isSame(known.resource, resource)) {
      // Managers and revisions change with each status.
      const current = { ...known.resource, metadata: resource.metadata }
      this.#put(name, { ...known, resource: current })
      return undefined
    }
    this.#put(name, keepVersion(check(resource, info), known))
    return name
  }

  #put(name: string, checked: StoredObject): void {
    this.#objects.set(name, checked)
    if (checked.problems.length > 0) this.#faulty.set(name, checked)
    else this.#faulty.delete(name)
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
    if (known !== undefined) this.#put(name!, { ...known, resource: { ...known.resource, status } })
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

function withName(problem: FileProblem): FileProblem {
  return problem.object === undefined ? problem : { ...problem, message: `${problem.object}: ${problem.message}` }
}

function keyOfObject({ kind }: KindInfo, { namespace, name }: ResourceKey): string {
  return objectKey(kind, namespace, name)
}

/** Whether two versions differ at most in what the gateway does not read. */
function isSame(one: Resource, other: Resource): boolean {
  return sameData(read(one), read(other))
}

function read({ metadata, ...members }: Resource): object {
  const { resourceVersion: _, managedFields: __, ...named } = metadata
  return { ...members, metadata: named }
}

/** An invalid version leaves the last valid one in force, as in a file. */
function keepVersion(checked: StoredObject, before: StoredObject | undefined): StoredObject {
  if (checked.object !== undefined || before?.object === undefined) return checked
  return { ...checked, object: before.object, isKept: true, policy: undefined, route: undefined }
}

function check(resource: Resource, info: KindInfo): StoredObject {
  const { managedFields: _, ...metadata } = resource.metadata
  const { object, policy, route, problems: found, name } = admit({ ...resource, metadata }, { info, place: undefined })
  const of = object?.origin ?? name ?? { kind: info.kind, namespace: metadata.namespace ?? '', name: metadata.name }
  const described = describeOrigin({ kind: of.kind, namespace: of.namespace, name: of.name })
  const problems = found.map((each) => ({ ...each, file: '', object: described }))
  return { object: object && withSharedParts(object, resource), isKept: false, policy, route, problems, resource }
}

/** An object that was checked before has its defaults, so its parts need not be in memory twice. */
function withSharedParts(object: ApiObject, resource: Resource): ApiObject {
  const parts = Object.entries(object).filter(([name]) => name !== 'metadata' && name !== 'origin')
  const shared = parts.flatMap(([name, part]) => (sameData(part, resource[name]) ? [[name, resource[name]]] : []))
  return { ...object, ...Object.fromEntries(shared) }
}
