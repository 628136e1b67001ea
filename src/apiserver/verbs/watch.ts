import { Buffer } from 'node:buffer'
import { randomInt } from 'node:crypto'
import { clock } from '#base/clock.ts'
import type { Resource, ResourceEvent } from '#store/resources/resource.ts'
import type { ResourceTable } from '#store/resources/resource-table.ts'
import { ApiError } from '../http/api-error.ts'
import { collectionOf, groupVersion } from '../kinds/collection.ts'
import { TableWriter } from '../tables/table.ts'
import { expired, readRevision, tooNew } from './list.ts'
import { type Output, PacedOutput } from './paced-output.ts'
import { queryFlag } from './query-flag.ts'
import { renderWatched } from './render.ts'
import type { ResourceRequest } from './resource-request.ts'
import { selected } from './selected.ts'

/** Where the events of a watch go. */
export interface WatchSink {
  write(piece: Buffer): void
  end(): void
  /** Bytes that the client has not taken yet. */
  readonly waitingBytes: number
}

type Verb = ResourceEvent['type'] | 'BOOKMARK' | 'ERROR'

/** A client that takes events more slowly than they arrive is disconnected; it can continue where it was. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024
const BOOKMARK_EVERY_MS = 60_000
/** Without `timeoutSeconds`, a watch ends after a time between these, so that clients do not return all at once. */
const LIFETIME_SECONDS = [1800, 3600] as const

/** All open watches. An event is encoded once, however many clients get it. */
export class Watches {
  readonly #table: ResourceTable
  /** By collection. */
  readonly #open = new Map<string, Set<Watch>>()
  /** Events of the last commits as bytes, by event. */
  #encoded = new WeakMap<ResourceEvent, Map<string, Buffer>>()
  readonly #output = new PacedOutput()
  readonly #unsubscribe: () => void

  constructor(table: ResourceTable) {
    this.#table = table
    this.#unsubscribe = table.subscribe((events) => this.#dispatch(events))
  }

  get count(): number {
    let count = 0
    for (const watches of this.#open.values()) count += watches.size
    return count
  }

  /**
   * Begins a watch (Kubernetes, "Efficient detection of changes").
   * @returns a function that ends it, for a client that has left
   * @throws ApiError BadRequest, Timeout
   */
  open(request: ResourceRequest, sink: WatchSink): () => void {
    const start = readStart(request.query, this.#table.revision)
    const collection = collectionOf(request.kind)
    const watch = new Watch(request, sink, {
      encode: (event, verb, encode) => this.#encode(event, verb, request, encode),
      hasOutput: () => this.#output.add(watch),
    })
    const missed = start.from === undefined ? [] : this.#table.since(start.from)
    if (missed === undefined) {
      watch.fail(expired(`too old resource version: ${start.from} (${this.#table.revision})`))
      return () => {}
    }
    if (start.initial) watch.sendInitial(this.#table.list(collection))
    for (const event of missed) if (event.key.collection === collection) watch.take(event)
    if (start.marksEnd) watch.bookmark(this.#table.revision, { 'k8s.io/initial-events-end': 'true' })
    const watches = this.#open.get(collection) ?? new Set()
    this.#open.set(collection, watches.add(watch))
    const end = () => {
      watches.delete(watch)
      this.#output.remove(watch)
      watch.stop()
    }
    watch.start(start, () => this.#table.revision, end)
    watch.flush()
    return end
  }

  close(): void {
    this.#unsubscribe()
    this.#output.close()
    for (const watches of this.#open.values()) for (const watch of watches) watch.end()
    this.#open.clear()
  }

  #dispatch(events: readonly ResourceEvent[]): void {
    // The table remembers older events, so their bytes would stay in memory with them.
    this.#encoded = new WeakMap()
    for (const event of events) {
      for (const watch of this.#open.get(event.key.collection) ?? []) watch.take(event)
    }
    this.#output.flush()
  }

  #encode(event: ResourceEvent, verb: Verb, { kind, form }: ResourceRequest, encode: () => Buffer): Buffer {
    if (form.as !== 'object') return encode()
    const forms = this.#encoded.get(event) ?? new Map<string, Buffer>()
    this.#encoded.set(event, forms)
    const key = `${verb} ${kind.version}`
    const known = forms.get(key) ?? encode()
    forms.set(key, known)
    return known
  }
}

/** What a watch begins with. */
interface WatchStart {
  /** All objects, as if they had just been added. */
  readonly initial: boolean
  /** A bookmark says where these end. */
  readonly marksEnd: boolean
  /** Changes after this revision; undefined: only future ones. */
  readonly from: number | undefined
  readonly bookmarks: boolean
  readonly seconds: number
}

function readStart(query: URLSearchParams, current: number): WatchStart {
  const version = query.get('resourceVersion') || undefined
  const match = query.get('resourceVersionMatch') || undefined
  const bookmarks = queryFlag(query, 'allowWatchBookmarks')
  const seconds = secondsOf(query.get('timeoutSeconds'))
  if (!query.has('sendInitialEvents')) {
    if (match !== undefined)
      throw new ApiError(
        'BadRequest',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      )
    if (version === undefined || version === '0')
      return { initial: true, marksEnd: false, from: undefined, bookmarks, seconds }
  } else if (match !== 'NotOlderThan') {
    throw new ApiError('BadRequest', 'sendInitialEvents requires resourceVersionMatch=NotOlderThan')
  }
  const revision = version === undefined ? 0 : readRevision(version)
  if (revision > current) throw tooNew(revision, current)
  if (queryFlag(query, 'sendInitialEvents'))
    return { initial: true, marksEnd: bookmarks, from: undefined, bookmarks, seconds }
  return { initial: false, marksEnd: false, from: revision === 0 ? undefined : revision, bookmarks, seconds }
}

function secondsOf(text: string | null): number {
  if (text === null || text === '' || text === '0') return randomInt(...LIFETIME_SECONDS)
  const seconds = Number(text)
  if (/^\d{1,9}$/.test(text)) return seconds
  throw new ApiError('BadRequest', `timeoutSeconds: must be a number of seconds, not "${text}"`)
}

/** What a watch uses of all of them. */
interface Shared {
  readonly encode: (event: ResourceEvent, verb: Verb, encode: () => Buffer) => Buffer
  /** Called when the watch has output to flush. */
  readonly hasOutput: () => void
}

/** One client that watches the objects of a kind. */
class Watch implements Output {
  readonly #request: ResourceRequest
  readonly #sink: WatchSink
  readonly #render: (object: Resource) => object
  readonly #matches: (object: Resource) => boolean
  readonly #shared: Shared
  /** Output that is not with the sink yet. */
  #pieces: Buffer[] = []
  #pendingBytes = 0
  #allowedBytes = MAX_WAITING_BYTES
  readonly #timers: { cancel(): void }[] = []
  #ended = false

  constructor(request: ResourceRequest, sink: WatchSink, shared: Shared) {
    const { kind, target, form } = request
    const selects = selected(request)
    const { namespace } = target
    this.#request = request
    this.#sink = sink
    this.#shared = shared
    this.#render = renderWatched(request, form.as === 'Table' ? new TableWriter(kind) : undefined)
    this.#matches = (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) && (selects === undefined || selects(object))
  }

  /** Sets the time limit and the bookmarks. */
  start({ seconds, bookmarks }: WatchStart, revision: () => number, end: () => void): void {
    const over = () => {
      end()
      this.end()
    }
    this.#timers.push(clock.after(seconds * 1000, over))
    if (!bookmarks) return
    const mark = () => {
      this.bookmark(revision())
      this.flush()
      this.#timers[1] = clock.after(BOOKMARK_EVERY_MS, mark)
    }
    this.#timers[1] = clock.after(BOOKMARK_EVERY_MS, mark)
  }

  /** Ends the timers. */
  stop(): void {
    for (const timer of this.#timers) timer.cancel()
  }

  end(): void {
    if (this.#ended) return
    this.flush()
    this.#ended = true
    this.stop()
    this.#sink.end()
  }

  sendInitial(objects: readonly Resource[]): void {
    for (const object of objects) {
      if (!this.#matches(object)) continue
      const piece = line('ADDED', this.#render(object))
      // The client asked for all of them, however long it takes.
      this.#allowedBytes += piece.length
      this.#send(piece)
    }
  }

  /** Sends a change, as it looks to this client: an object that it no longer selects is deleted. */
  take(event: ResourceEvent): void {
    const { type, object, before } = event
    const was = before !== undefined && this.#matches(before)
    const is = type !== 'DELETED' && this.#matches(object)
    if (!was && !is) return
    const verb = was && is ? 'MODIFIED' : is ? 'ADDED' : 'DELETED'
    const shown = verb === 'DELETED' && type !== 'DELETED' ? lastSeen(before!, object) : object
    this.#send(this.#shared.encode(event, verb, () => line(verb, this.#render(shown))))
  }

  bookmark(revision: number, annotations?: Readonly<Record<string, string>>): void {
    const metadata = {
      resourceVersion: String(revision),
      creationTimestamp: null,
      ...(annotations === undefined ? {} : { annotations }),
    }
    const { kind, form } = this.#request
    const identity =
      form.as === 'Table'
        ? { kind: 'Table', apiVersion: 'meta.k8s.io/v1', columnDefinitions: null, rows: [] }
        : form.as === 'PartialObjectMetadata'
          ? { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' }
          : { kind: kind.kind, apiVersion: groupVersion(kind) }
    this.#send(line('BOOKMARK', { ...identity, metadata }))
  }

  fail(error: ApiError): void {
    this.#send(line('ERROR', error.toStatus()))
    this.end()
  }

  #send(piece: Buffer): void {
    if (this.#ended) return
    this.#pieces.push(piece)
    this.#pendingBytes += piece.length
    if (this.#pendingBytes + this.#sink.waitingBytes > this.#allowedBytes) this.end()
    else this.#shared.hasOutput()
  }

  flush(): void {
    if (this.#ended || this.#pieces.length === 0) return
    const pieces = this.#pieces
    this.#pieces = []
    this.#pendingBytes = 0
    this.#sink.write(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
  }
}

/** An object as the client knew it, at the revision from which it no longer selects it. */
function lastSeen(before: Resource, { metadata: { resourceVersion } }: Resource): Resource {
  return { ...before, metadata: { ...before.metadata, resourceVersion } }
}

function line(type: Verb, object: object): Buffer {
  return Buffer.from(`${JSON.stringify({ type, object })}\n`)
}
