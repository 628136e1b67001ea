import { type ApiObject, objectKey } from '#api/object.ts'
import { BackOff } from '#base/back-off.ts'
import { clock } from '#base/clock.ts'
import { hasLabels } from '#control/context/label-selector.ts'
import type { ApiClient } from './api-client.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import type { WatchedResource, WatchSink, WatchTimes } from './kind-watch.ts'
import { membersOf, textOf } from './kubeconfig.ts'
import { secretPath } from './object-path.ts'
import { type Labels, type SecretReferences, secretReferences } from './secret-references.ts'

/** What the metadata of a Secret tell. Annotations can have a copy of its content. */
interface SecretMetadata {
  readonly resourceVersion: string
  readonly labels: Labels
}

/** The reads of one Secret. */
interface SecretReads {
  readonly backOff: BackOff
  /** Of the metadata for which the Secret was read, and of the Secret itself. */
  versions: readonly string[]
  isReading: boolean
  error: ApiUnreadable | undefined
  retry: { cancel(): void } | undefined
}

/** Reads the Secrets that objects refer to, and no others: of these, it knows nothing but names, labels and versions. */
export class ReferredSecrets {
  readonly #client: ApiClient
  readonly #times: WatchTimes
  readonly #sink: WatchSink
  readonly #metadata = new Map<string, SecretMetadata>()
  /** By key of the referring object. */
  readonly #references = new Map<string, SecretReferences>()
  /** Keys of the objects that name a Secret, by its key. */
  readonly #referrers = new Map<string, Set<string>>()
  /** Of the objects of a namespace, by their keys. */
  readonly #selectors = new Map<string, Map<string, readonly Labels[]>>()
  readonly #reads = new Map<string, SecretReads>()
  /** Keys of Secrets that were never answered for. */
  readonly #pending = new Set<string>()

  /** @param sink gets the Secrets themselves */
  constructor(client: ApiClient, times: WatchTimes, sink: WatchSink) {
    this.#client = client
    this.#times = times
    this.#sink = sink
  }

  /** A Secret that exists and that an object refers to has not been read yet. */
  get isPending(): boolean {
    return this.#pending.size > 0
  }

  /** Why Secrets that objects refer to cannot be read; the last known content stays in force. */
  *failures(): Generator<readonly [key: string, error: ApiUnreadable]> {
    for (const [key, { error }] of this.#reads) if (error !== undefined) yield [key, error]
  }

  /** The Secrets that objects name, each with the keys of these objects. */
  get referrers(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#referrers
  }

  noteMetadata({ metadata }: WatchedResource): void {
    const key = objectKey('Secret', textOf(metadata.namespace) ?? '', metadata.name)
    const labels = membersOf(metadata.labels) as Labels
    this.#metadata.set(key, { resourceVersion: textOf(metadata.resourceVersion) ?? '', labels })
    this.#update(key)
  }

  forgetMetadata(namespace: string, name: string): void {
    const key = objectKey('Secret', namespace, name)
    this.#metadata.delete(key)
    this.#update(key)
  }

  /** Replaces the references of an object. @param object undefined: it does not exist, or its references are unknown */
  refer(key: string, object: ApiObject | undefined): void {
    const before = this.#references.get(key)
    const found = object && secretReferences(object)
    const now = found && (found.keys.length > 0 || found.selectors.length > 0) ? found : undefined
    if (before === undefined && now === undefined) return
    if (now === undefined) this.#references.delete(key)
    else this.#references.set(key, now)
    for (const secret of before?.keys ?? []) this.#withdraw(secret, key)
    for (const secret of now?.keys ?? [])
      this.#referrers.set(secret, (this.#referrers.get(secret) ?? new Set()).add(key))
    for (const secret of new Set([...(before?.keys ?? []), ...(now?.keys ?? [])])) this.#update(secret)
    const [, namespace = ''] = key.split('/')
    this.#select(namespace, key, { before: before?.selectors ?? [], now: now?.selectors ?? [] })
  }

  close(): void {
    for (const { retry } of this.#reads.values()) retry?.cancel()
    this.#reads.clear()
  }

  #withdraw(secret: string, by: string): void {
    const referrers = this.#referrers.get(secret)
    referrers?.delete(by)
    if (referrers?.size === 0) this.#referrers.delete(secret)
  }

  #select(
    namespace: string,
    key: string,
    { before, now }: { readonly before: readonly Labels[]; readonly now: readonly Labels[] },
  ): void {
    if (before.length === 0 && now.length === 0) return
    const selectors = this.#selectors.get(namespace) ?? new Map<string, readonly Labels[]>()
    this.#selectors.set(namespace, selectors)
    if (now.length === 0) selectors.delete(key)
    else selectors.set(key, now)
    const prefix = objectKey('Secret', namespace, '')
    for (const secret of this.#metadata.keys()) if (secret.startsWith(prefix)) this.#update(secret)
  }

  #isWanted(key: string, { labels }: SecretMetadata): boolean {
    if (this.#referrers.has(key)) return true
    const [, namespace = ''] = key.split('/')
    for (const selectors of this.#selectors.get(namespace)?.values() ?? [])
      if (selectors.some((wanted) => hasLabels(labels, wanted))) return true
    return false
  }

  #update(key: string): void {
    const metadata = this.#metadata.get(key)
    if (metadata === undefined || !this.#isWanted(key, metadata)) return this.#drop(key)
    const backOff = new BackOff(this.#times.firstBackOff, this.#times.maxBackOff)
    const reads = this.#reads.get(key) ?? {
      backOff,
      versions: [],
      isReading: false,
      error: undefined,
      retry: undefined,
    }
    if (!this.#reads.has(key)) this.#pending.add(key)
    this.#reads.set(key, reads)
    if (reads.isReading || reads.retry !== undefined || reads.versions.includes(metadata.resourceVersion)) return
    void this.#read(key, reads, metadata.resourceVersion)
  }

  #drop(key: string): void {
    const reads = this.#reads.get(key)
    if (reads === undefined) return
    reads.retry?.cancel()
    this.#reads.delete(key)
    this.#pending.delete(key)
    const [, namespace = '', name = ''] = key.split('/')
    this.#sink.removed(namespace, name)
    this.#sink.stateChanged()
  }

  async #read(key: string, reads: SecretReads, version: string): Promise<void> {
    reads.isReading = true
    try {
      const { status, body } = await this.#client.get(secretPath(key))
      // Nothing refers to it any more, or the store was closed.
      if (this.#reads.get(key) !== reads) return
      const metadata = membersOf(body.metadata) as WatchedResource['metadata']
      // Its deletion is about to arrive.
      if (status === 200) this.#sink.set({ ...body, apiVersion: 'v1', kind: 'Secret', metadata })
      reads.versions = [version, textOf(metadata.resourceVersion) ?? version]
      reads.error = undefined
      reads.backOff.reset()
    } catch (error) {
      if (!(error instanceof ApiUnreadable)) throw error
      if (this.#reads.get(key) !== reads) return
      reads.error = error
      reads.retry = clock.after(reads.backOff.next(error.retryAfterMs), () => {
        reads.retry = undefined
        this.#update(key)
      })
    } finally {
      reads.isReading = false
    }
    this.#pending.delete(key)
    this.#sink.stateChanged()
    // It may have changed meanwhile.
    this.#update(key)
  }
}
