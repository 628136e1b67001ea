import { isDeepStrictEqual } from 'node:util'
import type { Json } from '#base/json.ts'
import { type Manifest, valueAt } from '#deploy/manifest.ts'
import { type ApiAnswer, type ApplyOptions, MANAGER } from '../api-client.ts'
import { ApiUnreadable } from '../api-unreadable.ts'
import { itemsOf, type Members, membersOf, textOf } from '../kubeconfig.ts'
import { DEPLOYED_KINDS, listPath, manifestPath, nameOf } from './deployed-kinds.ts'
import { foreignMessage, ownerNameOf, ownerOf } from './owners.ts'

/** What a fleet needs of the client of an API. All throw `ApiUnreadable` with the status of a refusal. */
export interface FleetApi {
  get(path: string): Promise<ApiAnswer>
  create(path: string, object: object): Promise<ApiAnswer>
  apply(path: string, object: object, options?: ApplyOptions): Promise<ApiAnswer>
  merge(path: string, patch: object): Promise<ApiAnswer>
  delete(path: string): Promise<ApiAnswer>
}

/** The Gateway that owns objects. */
export interface Owner {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Selects the objects of the Gateway. */
  readonly selector: string
}

/** Why the objects of a Gateway are not as they should be. What runs has not been touched. */
export interface DeployRefusal {
  /** `invalid`: the API server refuses the object. `foreign`: an object of this name belongs to somebody else. */
  readonly reason: 'invalid' | 'foreign'
  /** `Deployment default/main`. */
  readonly object: string
  readonly message: string
}

/** @param found the object as the cluster has it @returns the manifest, or a part of it that waits as it is there */
type Due = (manifest: Manifest, found: Manifest | undefined) => Manifest

/** A second owner of fields that the gateway gives up, so that they keep their values until their new owner sets them. */
const INTERIM_MANAGER = 'gatewright-handover'

interface Applied {
  readonly manifest: Manifest
  readonly version: string
}

/** Brings the objects that run proxies into a cluster, and keeps them as they should be. */
export class Fleet {
  readonly #api: FleetApi
  /** What was applied, and the version that the object had then, by path. */
  readonly #applied = new Map<string, Applied>()

  constructor(api: FleetApi) {
    this.#api = api
  }

  /**
   * Applies the objects of a Gateway in their order, and deletes those that are no longer wanted. Objects that have not changed since they
   * were applied are left alone; changes that others made to our fields are undone.
   * @param due what of an object to apply now, beside what the cluster has
   * @returns why nothing was changed; undefined: all is applied
   * @throws ApiUnreadable if the API does not answer, permission is missing, or another writer, such as an autoscaler, was faster (409)
   */
  async deploy(
    owner: Owner,
    wanted: readonly Manifest[],
    due: Due = (manifest) => manifest,
  ): Promise<DeployRefusal | undefined> {
    const current: (Members | undefined)[] = []
    const manifests: Manifest[] = []
    for (const manifest of wanted) {
      const found = await this.#find(manifest)
      if (found !== undefined && ownerOf(found) !== owner.uid) return foreign(manifest, found)
      current.push(found)
      manifests.push(due(manifest, found as Manifest | undefined))
    }
    const changed = manifests.flatMap((manifest, index) => {
      const found = current[index]
      return this.#isAsApplied(manifest, found) ? [] : [[manifest, found] as const]
    })
    for (const [manifest, found] of changed) if (found !== undefined) await this.#takeOver(manifest, found)
    for (const [manifest, found] of changed) {
      const refusal = await this.#try(manifest, found)
      if (refusal !== undefined) return refusal
    }
    for (const [manifest, found] of changed) await this.#apply(manifest, found)
    await this.#prune(owner, manifests)
    return undefined
  }

  /** Forgets the objects of a Gateway that was deleted: the cluster deletes what it owned. */
  forget({ namespace, name }: Pick<Owner, 'namespace' | 'name'>): void {
    for (const [path, { manifest }] of this.#applied) {
      if (manifest.metadata.namespace === namespace && ownerNameOf(manifest) === name) this.#applied.delete(path)
    }
  }

  async #find(manifest: Manifest): Promise<Members | undefined> {
    const { status, body } = await this.#api.get(manifestPath(manifest).object)
    return status === 200 ? body : undefined
  }

  #isAsApplied(manifest: Manifest, found: Members | undefined): boolean {
    const applied = this.#applied.get(manifestPath(manifest).object)
    return (
      applied !== undefined && applied.version === versionOf(found) && isDeepStrictEqual(applied.manifest, manifest)
    )
  }

  /**
   * Fields that `create` has set are those of an update, and an apply removes only fields of earlier applies. So they become those of an apply,
   * as client libraries of Kubernetes do it ("Server-Side Apply", migration).
   */
  async #takeOver(manifest: Manifest, found: Members): Promise<void> {
    const { managedFields, resourceVersion, uid } = membersOf(found.metadata)
    const entries = itemsOf(managedFields).map(membersOf)
    if (!entries.some(isOwnUpdate)) return
    const taken = entries.map((entry) => (isOwnUpdate(entry) ? { ...entry, operation: 'Apply' } : entry))
    await this.#api.merge(manifestPath(manifest).object, { metadata: { uid, resourceVersion, managedFields: taken } })
  }

  /** Asks the API whether it would accept the object. */
  async #try(manifest: Manifest, found: Members | undefined): Promise<DeployRefusal | undefined> {
    const { list, object } = manifestPath(manifest)
    try {
      if (found === undefined) await this.#api.create(`${list}?dryRun=All&${CREATE}`, manifest)
      else await this.#api.apply(object, withUid(manifest, found), { dryRun: true })
      return undefined
    } catch (error) {
      if (!isRefusal(error)) throw error
      return { reason: 'invalid', object: labelOf(manifest), message: error.said ?? error.message }
    }
  }

  async #apply(manifest: Manifest, found: Members | undefined): Promise<void> {
    const { list, object } = manifestPath(manifest)
    if (found !== undefined) await this.#handOver(object, manifest, found)
    const { body } =
      found === undefined
        ? await this.#api.create(`${list}?${CREATE}`, manifest)
        : await this.#api.apply(object, withUid(manifest, found))
    this.#applied.set(object, { manifest, version: versionOf(body) ?? '' })
  }

  /** A Deployment that gets an autoscaler must keep the replicas that we set: without an owner, the field would fall back to 1. */
  async #handOver(path: string, manifest: Manifest, found: Members): Promise<void> {
    const replicas = valueAt(found as unknown as Json, ['spec', 'replicas'])
    if (manifest.kind !== 'Deployment' || replicas === undefined) return
    if (valueAt(manifest, ['spec', 'replicas']) !== undefined || !ownsReplicas(found)) return
    const { apiVersion, kind, metadata } = manifest
    const interim = {
      apiVersion,
      kind,
      metadata: { name: metadata.name!, namespace: metadata.namespace! },
      spec: { replicas },
    }
    await this.#api.apply(path, interim, { manager: INTERIM_MANAGER })
  }

  async #prune(owner: Owner, wanted: readonly Manifest[]): Promise<void> {
    for (const [kind, deployed] of Object.entries(DEPLOYED_KINDS)) {
      if (!deployed.isPruned) continue
      const names = new Set(wanted.filter((manifest) => manifest.kind === kind).map(nameOf))
      const list = listPath(deployed, owner.namespace)
      const { status, body } = await this.#api.get(`${list}?labelSelector=${encodeURIComponent(owner.selector)}`)
      if (status !== 200) continue
      for (const item of itemsOf(body.items).map(membersOf)) {
        const name = textOf(membersOf(item.metadata).name) ?? ''
        if (names.has(name) || ownerOf(item) !== owner.uid) continue
        await this.#api.delete(`${list}/${encodeURIComponent(name)}`)
        this.#applied.delete(`${list}/${encodeURIComponent(name)}`)
      }
    }
  }
}

/** Fields that the API does not know are refused, not dropped. */
const CREATE = `fieldManager=${MANAGER}&fieldValidation=Strict`

/** The object itself is what the API refuses: its fields, an admission webhook, a quota. */
const REFUSED: ReadonlySet<number> = new Set([400, 403, 422])
/** With status 500, Kubernetes refuses to apply fields that a kind does not have, or that have another type. */
const UNTYPED = /^failed to create typed patch object/

function isRefusal(error: unknown): error is ApiUnreadable {
  if (!(error instanceof ApiUnreadable)) return false
  const { status = 0, said = '' } = error
  return REFUSED.has(status) || (status === 500 && UNTYPED.test(said))
}

function isOwnUpdate({ manager, operation, subresource }: Members): boolean {
  return manager === MANAGER && operation === 'Update' && subresource === undefined
}

/** Others that have scaled the Deployment own the field. */
function ownsReplicas({ metadata }: Members): boolean {
  const own = itemsOf(membersOf(metadata).managedFields)
    .map(membersOf)
    .filter(({ manager }) => manager === MANAGER)
  return own.some(({ fieldsV1 }) => membersOf(membersOf(fieldsV1)['f:spec'])['f:replicas'] !== undefined)
}

function foreign(manifest: Manifest, found: Members): DeployRefusal {
  return { reason: 'foreign', object: labelOf(manifest), message: foreignMessage(found) }
}

function labelOf(manifest: Manifest): string {
  return `${manifest.kind} ${manifest.metadata.namespace}/${nameOf(manifest)}`
}

function versionOf(object: Members | undefined): string | undefined {
  return textOf(membersOf(object?.metadata).resourceVersion)
}

/** With the uid, an object that was deleted and created again meanwhile is a conflict, and is not adopted. */
function withUid(manifest: Manifest, found: Members): object {
  return { ...manifest, metadata: { ...manifest.metadata, uid: textOf(membersOf(found.metadata).uid) } }
}
