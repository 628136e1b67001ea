import { findKind, type KindInfo } from '#api/kinds.ts'
import type { Resource } from '#store/resources/resource.ts'
import type { StatusWrites } from '#store/store.ts'
import type { ObjectApi } from '../fenced-api.ts'
import type { Members } from '../kubeconfig.ts'
import { objectPath } from '../object-path.ts'
import { WriteQueue } from '../write-queue.ts'
import { mergeStatus, ownPart, withdrawStatus } from './merge-status.ts'

export interface ClusterStatusesOptions {
  readonly client: Pick<ObjectApi, 'get' | 'replace'>
  /** `controllerName` of our entries. */
  readonly controller: string
  /** Called with a message for the log. */
  readonly failed: (message: string) => void
  /** The version in which the API serves a kind; default: its newest one. */
  readonly versionOf?: (info: KindInfo) => string
  /** The object as the API last sent it, with its status. Without it, each write reads the object before. */
  readonly seen?: (key: string) => Resource | undefined
  /** Called after a status was written. @param object as it was before @param before, after our parts of the status */
  readonly written?: (object: Resource, before: Members, after: Members) => void
}

/** Writes our parts of statuses to a Kubernetes API, and leaves those of other controllers alone. */
export class ClusterStatuses implements Disposable {
  readonly #options: ClusterStatusesOptions
  readonly #queue: WriteQueue<Members | undefined>
  /** By object, our part as the API has it. */
  readonly #written = new Map<string, Members>()

  constructor(options: ClusterStatusesOptions) {
    this.#options = options
    this.#queue = new WriteQueue({ write: (...write) => this.#write(...write), failed: options.failed })
  }

  /** The newest status of an object wins. */
  write({ written, withdrawn }: StatusWrites): void {
    for (const [key, status] of written) this.#queue.put(key, ownPart(status, this.#options.controller))
    for (const key of withdrawn) this.#queue.put(key, undefined)
  }

  /** Statuses that are not written yet. */
  get queued(): number {
    return this.#queue.length
  }

  [Symbol.dispose](): void {
    this.#queue[Symbol.dispose]()
  }

  /** @param own undefined: withdrawn @throws ApiUnreadable, with 409 if the object has changed meanwhile */
  async #write(key: string, own: Members | undefined, conflicts: number): Promise<void> {
    const [kind = '', namespace = '', name = ''] = key.split('/')
    const info = findKind(kind)!
    const { versionOf, seen } = this.#options
    const path = objectPath(info, versionOf?.(info) ?? info.versions[0], { namespace, name })
    // The API refuses a write to any other version of the object.
    const known = conflicts === 0 ? seen?.(key) : undefined
    const object = known ?? (await this.#read(path))
    // An object that is gone has no status.
    if (object === undefined) this.#written.delete(key)
    else await this.#writeInto(object, { key, path, own })
  }

  async #read(path: string): Promise<Resource | undefined> {
    const { status, body } = await this.#options.client.get(path)
    return status === 200 ? (body as unknown as Resource) : undefined
  }

  async #writeInto(object: Resource, { key, path, own }: Write): Promise<void> {
    const { client, controller, written } = this.#options
    const next =
      own === undefined
        ? withdrawStatus(object.status, this.#written.get(key), controller)
        : mergeStatus(object.status, own, controller)
    const [before, after] = [object.status, next ?? object.status].map((status) => ownPart(status, controller))
    if (next !== undefined) await client.replace(`${path}/status`, withStatus(object, next))
    if (own === undefined) this.#written.delete(key)
    else this.#written.set(key, after!)
    if (next !== undefined) written?.(object, before!, after!)
  }
}

interface Write {
  readonly key: string
  readonly path: string
  readonly own: Members | undefined
}

/** The server takes nothing but the status and the version. */
function withStatus({ apiVersion, kind, metadata }: Resource, status: Members): object {
  const { name, namespace, uid, resourceVersion } = metadata
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion }, status }
}
