import { apiVersionOf, type KindInfo } from '#api/kinds.ts'
import { BackOff, jitter } from '#base/back-off.ts'
import { clock } from '#base/clock.ts'
import type { ApiClient, WatchEvent } from './api-client.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import { type Members, membersOf, textOf } from './kubeconfig.ts'
import { listPath } from './object-path.ts'
import { PAGE, readPages } from './read-pages.ts'

/** Times of watches, in ms. */
export interface WatchTimes {
  readonly firstBackOff: number
  readonly maxBackOff: number
  /** Until the API is asked again for a kind that it does not serve. */
  readonly absent: number
  /** Without any byte. Servers send a bookmark every minute. */
  readonly idle: number
}

/** The objects to watch. */
export interface WatchedKind {
  readonly info: KindInfo
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  /** Of a list and of its watch (Kubernetes, "Field Selectors"). */
  readonly fieldSelector?: string
  /** Nothing but metadata is read. */
  readonly metadataOnly?: boolean
  /** Without permission, the kind is off, and what depends on the other kinds works. */
  readonly isOptional: boolean
}

/** Gets the objects of one watch. */
export interface WatchSink {
  /** An object was added or changed. */
  set(resource: WatchedResource): void
  removed(namespace: string, name: string): void
  /** The objects that arrived together are complete. */
  changed(): void
  /** The state of the watch has changed. */
  stateChanged(): void
}

/** An object with what names it. */
export interface WatchedResource extends Members {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Members & { readonly name: string }
}

/** `absent`: the API serves no version of the kind. `failing`: what was read before stays in force. */
export type WatchState =
  | { readonly kind: 'starting' | 'following' | 'absent' }
  | { readonly kind: 'failing'; readonly error: ApiUnreadable }

/** Where a watch continues. */
interface Position {
  readonly path: string
  readonly version: string
  resourceVersion: string
}

/** Kubernetes sends no events to a watch that asks for a list of metadata. */
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
export const METADATA_OF_OBJECT = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
/** A watch ends after a time between this one and twice as much, so that watches do not end together. */
const LIFETIME_SECONDS = 300
/** After so many attempts in a row that fail, the list is read again. */
const MAX_RESUMED = 3

/** All objects of a kind in one namespace or in all of them, and their changes, until it is closed. */
export class KindWatch {
  readonly watched: WatchedKind
  readonly #client: ApiClient
  readonly #times: WatchTimes
  readonly #sink: WatchSink
  readonly #backOff: BackOff
  readonly #closed = new AbortController()
  #state: WatchState = { kind: 'starting' }
  #isSynced = false
  #position: Position | undefined
  #version: string | undefined
  /** `namespace/name` of the objects. */
  #known = new Set<string>()
  /** When the list was last read, the API did not serve the kind. */
  #wasAbsent = false
  /** Attempts in a row that failed. */
  #failures = 0
  /** The list was read because its position was too old, and there was no event since. */
  #isExpired = false
  #timer: { cancel(): void } | undefined

  constructor(watched: WatchedKind, client: ApiClient, times: WatchTimes, sink: WatchSink) {
    this.watched = watched
    this.#client = client
    this.#times = times
    this.#sink = sink
    this.#backOff = new BackOff(times.firstBackOff, times.maxBackOff)
  }

  get state(): WatchState {
    return this.#state
  }

  /** The version in which the API serves the kind, if that is known. */
  get version(): string | undefined {
    return this.#version
  }

  /** All objects were read once, or there are none to read. */
  get isSynced(): boolean {
    return this.#isSynced
  }

  /** Follows the objects until `close`. */
  async run(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      const waitMs = await this.#attempt()
      if (waitMs > 0) await this.#pause(waitMs)
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timer = clock.after(ms, resolve)
    })
  }

  close(): void {
    this.#closed.abort()
    this.#timer?.cancel()
  }

  /** @returns how long to wait before the next one */
  async #attempt(): Promise<number> {
    try {
      return await (this.#position === undefined ? this.#list() : this.#follow(this.#position))
    } catch (error) {
      if (!(error instanceof ApiUnreadable)) throw error
      return this.#closed.signal.aborted ? 0 : this.#fail(error)
    }
  }

  async #list(): Promise<number> {
    const { info, namespace, fieldSelector, metadataOnly } = this.watched
    for (const version of info.versions) {
      const path = listPath(info, version, namespace)
      const selector = fieldSelector === undefined ? '' : `&fieldSelector=${encodeURIComponent(fieldSelector)}`
      const list = await readPages(
        this.#client,
        `${path}?limit=${PAGE}${selector}`,
        metadataOnly ? METADATA_LIST : undefined,
      )
      if (this.#closed.signal.aborted) return 0
      if (list === undefined) continue
      const { items, resourceVersion } = list
      this.#position = { path: `${path}?watch=true&allowWatchBookmarks=true${selector}`, version, resourceVersion }
      this.#version = version
      this.#replace(items, version)
      this.#failures = 0
      this.#wasAbsent = false
      if (!this.#isExpired) this.#backOff.reset()
      this.#enter({ kind: 'following' }, true)
      return 0
    }
    return this.#absent()
  }

  async #follow(position: Position): Promise<number> {
    const seconds = Math.round(LIFETIME_SECONDS * (1 + Math.random()))
    const path = `${position.path}&timeoutSeconds=${seconds}&resourceVersion=${encodeURIComponent(position.resourceVersion)}`
    const accept = this.watched.metadataOnly ? { accept: METADATA_OF_OBJECT } : {}
    const watch = this.#client.watch(path, { signal: this.#closed.signal, idleMs: this.#times.idle, ...accept })
    let hasEvents = false
    for await (const events of watch) {
      if (this.#closed.signal.aborted) return 0
      for (const event of events) this.#take(event, position)
      this.#enter({ kind: 'following' }, events.length > 0)
      if (events.length === 0) continue
      hasEvents = true
      this.#isExpired = false
      this.#failures = 0
      this.#backOff.reset()
    }
    return hasEvents ? 0 : this.#backOff.next()
  }

  #take({ type, object }: WatchEvent, position: Position): void {
    if (type === 'ERROR') {
      const status = Number(object.code)
      const message = `${this.#client.server}${position.path} ended with status ${status}: ${textOf(object.message)}`
      throw new ApiUnreadable(message, { status })
    }
    const { name, namespace, resourceVersion } = membersOf(object.metadata)
    if (type === 'DELETED') this.#remove(nameOf({ name, namespace }, this.watched.info))
    else if (type !== 'BOOKMARK') this.#set(object, position.version)
    position.resourceVersion = textOf(resourceVersion) ?? position.resourceVersion
  }

  #replace(items: readonly Members[], version: string): void {
    const before = this.#known
    this.#known = new Set()
    for (const item of items) this.#set(item, version)
    for (const name of before) if (!this.#known.has(name)) this.#remove(name)
  }

  /** The items of a list need not name their kind. */
  #set(object: Members, version: string): void {
    const { info } = this.watched
    const metadata = membersOf(object.metadata) as WatchedResource['metadata']
    this.#known.add(nameOf(metadata, info))
    this.#sink.set({ ...object, apiVersion: apiVersionOf(info, version), kind: info.kind, metadata })
  }

  #remove(known: string): void {
    this.#known.delete(known)
    const [namespace = '', name = ''] = known.split('/')
    this.#sink.removed(namespace, name)
  }

  /** A server that has just started may not know all kinds, so objects are given up only after a second look. */
  #absent(): number {
    const { info } = this.watched
    if (info.group === '')
      throw new ApiUnreadable(`${this.#client.server} serves no ${info.plural}; is it a Kubernetes API?`)
    if (this.#known.size > 0 && !this.#wasAbsent) {
      this.#wasAbsent = true
      return jitter(this.#times.absent)
    }
    this.#version = undefined
    this.#replace([], '')
    this.#enter({ kind: 'absent' }, true)
    return jitter(this.#times.absent)
  }

  #fail(error: ApiUnreadable): number {
    this.#failures++
    const { status } = error
    const isRefused = status !== undefined && status >= 400 && status < 500 && status !== 429
    if (isRefused || this.#failures >= MAX_RESUMED) this.#position = undefined
    if (status === 410) this.#isExpired = true
    // A watch that breaks and goes on is nothing to report; nor is one whose kind the list will tell about.
    else if (status !== 404 && (this.#position === undefined || this.#failures > 1))
      this.#enter({ kind: 'failing', error }, false)
    return this.#backOff.next(error.retryAfterMs)
  }

  #enter(state: WatchState, hasChanged: boolean): void {
    const before = this.#state
    this.#state = state
    const isOff = state.kind === 'failing' && state.error.status === 403 && this.watched.isOptional
    this.#isSynced ||= state.kind === 'following' || state.kind === 'absent' || isOff
    if (before.kind !== state.kind || messageOf(before) !== messageOf(state)) this.#sink.stateChanged()
    else if (hasChanged) this.#sink.changed()
  }
}

function messageOf(state: WatchState): string {
  return state.kind === 'failing' ? state.error.message : ''
}

/** @returns `namespace/name` @throws ApiUnreadable */
function nameOf({ name, namespace }: Members, { kind, namespaced }: KindInfo): string {
  const [text, space] = [textOf(name), namespaced ? textOf(namespace) : '']
  if (text === undefined || space === undefined) throw new ApiUnreadable(`the API returned a ${kind} without its name`)
  return `${space}/${text}`
}
