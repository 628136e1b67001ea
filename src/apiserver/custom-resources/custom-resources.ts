import { clock } from '#base/clock.ts'
import { sameData } from '#base/incremental/same-data.ts'
import type { Resource, ResourceKey } from '#store/resources/resource.ts'
import type { ResourceTable, ResourceWrite } from '#store/resources/resource-table.ts'
import { collectionOf } from '../kinds/collection.ts'
import type { KindRegistry } from '../kinds/registry.ts'
import { REMOVED_AT_ONCE, removalOf } from '../verbs/delete.ts'
import { timestamp } from '../verbs/prepare.ts'
import { acceptNames } from './accept-names.ts'
import { customKinds } from './custom-kind.ts'
import { withCondition } from './definition-conditions.ts'
import { DEFINITIONS } from './definition-kind.ts'
import type { DefinitionSpec } from './definition-schema.ts'

/** Keeps a definition until the objects of its kind are gone (Kubernetes, "Delete a CustomResourceDefinition"). */
const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io'
/** After a write fails, as on a full disk. */
const RETRY_MS = 5000

interface CustomResourcesOptions {
  readonly table: ResourceTable
  readonly kinds: KindRegistry
  readonly reportFailure: (error: unknown) => void
}

/** Serves the kinds of the CustomResourceDefinitions in the table, and writes the status of these. */
export class CustomResources {
  readonly #options: CustomResourcesOptions
  readonly #table: ResourceTable
  readonly #kinds: KindRegistry
  /** Definitions whose kinds are served, by name, with the specification that is in force. */
  readonly #served = new Map<string, DefinitionSpec>()
  /** Definitions to look at. */
  readonly #queue = new Set<string>()
  readonly #unsubscribe: () => void
  #run: { cancel(): void } | undefined

  constructor(options: CustomResourcesOptions) {
    this.#options = options
    this.#table = options.table
    this.#kinds = options.kinds
    this.#unsubscribe = options.table.subscribe((events) => {
      for (const { type, key } of events) {
        if (key.collection === DEFINITIONS) this.#ask(key.name)
        // A definition may wait for the last object of its kind.
        else if (type === 'DELETED' && this.#served.has(key.collection)) this.#ask(key.collection)
      }
    })
    for (const { metadata } of options.table.list(DEFINITIONS)) this.#queue.add(metadata.name)
    this.#work()
  }

  close(): void {
    this.#unsubscribe()
    this.#run?.cancel()
  }

  #ask(name: string): void {
    this.#queue.add(name)
    if (this.#run === undefined) this.#workAfter(0)
  }

  #workAfter(ms: number): void {
    this.#run?.cancel()
    this.#run = clock.after(ms, () => this.#work())
  }

  #work(): void {
    this.#run = undefined
    // Without those that this work adds: other work runs before the next part of a long one.
    for (const name of [...this.#queue]) {
      this.#queue.delete(name)
      try {
        this.#look(name)
      } catch (error) {
        this.#options.reportFailure(error)
        this.#queue.add(name)
        return this.#workAfter(RETRY_MS)
      }
    }
  }

  #look(name: string): void {
    const key = { collection: DEFINITIONS, namespace: '', name }
    const definition = this.#table.get(key)
    if (definition === undefined) this.#withdraw(name)
    else if (definition.metadata.deletionTimestamp !== undefined) this.#terminate(key, definition)
    else this.#establish(key, definition)
  }

  /** The kind is no longer served, and its names are free for others. */
  #withdraw(name: string): void {
    const spec = this.#served.get(name)
    if (spec === undefined) return
    this.#served.delete(name)
    this.#kinds.replace({ group: spec.group, plural: spec.names.plural }, [])
    for (const { metadata } of this.#table.list(DEFINITIONS)) this.#ask(metadata.name)
  }

  #establish(key: ResourceKey, definition: Resource): void {
    const spec = definition.spec as DefinitionSpec
    const others = this.#kinds.all.filter((kind) => collectionOf(kind) !== key.name)
    const isBuiltIn = !this.#served.has(key.name) && this.#kinds.versionsOf(key.name).length > 0
    const accepted = acceptNames(spec, isBuiltIn, others)
    if (accepted.isAccepted && !isBuiltIn) this.#serve(key.name, spec)
    const { storedVersions = [] } = (definition.status ?? {}) as { readonly storedVersions?: readonly string[] }
    const stored = spec.versions.find(({ storage }) => storage)!.name
    let status: Readonly<Record<string, unknown>> = {
      ...(definition.status as object | undefined),
      acceptedNames: accepted.names,
      storedVersions: storedVersions.includes(stored) ? storedVersions : [...storedVersions, stored],
    }
    for (const condition of accepted.conditions) status = withCondition(status, condition, timestamp())
    const { finalizers = [] } = definition.metadata
    // Objects of a built-in kind do not depend on the definition.
    const kept = isBuiltIn || finalizers.includes(CLEANUP) ? finalizers : [...finalizers, CLEANUP]
    this.#commit(key, definition, { ...definition, metadata: withFinalizers(definition, kept), status })
  }

  #serve(name: string, spec: DefinitionSpec): void {
    if (sameData(this.#served.get(name), spec)) return
    this.#served.set(name, spec)
    this.#kinds.replace({ group: spec.group, plural: spec.names.plural }, customKinds(spec))
  }

  /** Deletes the objects of the kind, then the definition. */
  #terminate(key: ResourceKey, definition: Resource): void {
    const { finalizers = [] } = definition.metadata
    if (!finalizers.includes(CLEANUP)) return
    const writes: ResourceWrite[] = []
    for (const object of this.#table.list(key.name)) {
      const own = { collection: key.name, namespace: object.metadata.namespace ?? '', name: object.metadata.name }
      const write = removalOf(own, object, 'Background')
      if (write !== undefined) writes.push(write)
      if (writes.length === REMOVED_AT_ONCE) break
    }
    if (writes.length > 0) this.#ask(key.name)
    this.#table.commit(writes)
    if (this.#table.list(key.name).length === 0) {
      const left = finalizers.filter((finalizer) => finalizer !== CLEANUP)
      const next = { ...definition, metadata: withFinalizers(definition, left) }
      this.#table.commit([{ key, object: left.length === 0 ? undefined : next }])
      return
    }
    const condition = {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionInProgress',
      message: 'CustomResource deletion is in progress',
    } as const
    const status = withCondition((definition.status ?? {}) as Readonly<Record<string, unknown>>, condition, timestamp())
    this.#commit(key, definition, { ...definition, status })
  }

  #commit(key: ResourceKey, before: Resource, next: Resource): void {
    if (!sameData(before, next)) this.#table.commit([{ key, object: next }])
  }
}

function withFinalizers({ metadata }: Resource, finalizers: readonly string[]): Resource['metadata'] {
  const { finalizers: _, ...rest } = metadata
  return finalizers.length === 0 ? rest : { ...rest, finalizers }
}
