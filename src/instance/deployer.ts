import { isDeepStrictEqual } from 'node:util'
import type { GatewayObject } from '#api/gateway.ts'
import { type ApiObject, keyOf } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import { clock } from '#base/clock.ts'
import { count } from '#base/count.ts'
import type { Finding } from '#base/finding.ts'
import type { FindingCode } from '#base/findings.ts'
import { ApiUnreadable, isConflict, isOutage } from '#cluster/api-unreadable.ts'
import { Fleet, type FleetApi, type Owner } from '#cluster/deploy/fleet.ts'
import { ensureSessionKey } from '#cluster/deploy/stored-secrets.ts'
import { WriteQueue } from '#cluster/write-queue.ts'
import type { ControllerNames } from '#control/context/controller.ts'
import { inventoryOf } from '#control/context/inventory.ts'
import { isOwnClass } from '#control/gateways/resolve-gateways.ts'
import { type GatewayParameters, resolveParameters } from '#control/gateways/resolve-parameters.ts'
import { GatewayPorts } from '#deploy/gateway-ports.ts'
import { decidedImage, imageIn, isRolledOut, withImage } from '#deploy/image.ts'
import type { Manifest } from '#deploy/manifest.ts'
import { GATEWAY_LABEL, labelValue } from '#deploy/names.ts'
import { type Rendered, type RenderInput, render } from '#deploy/render.ts'
import type { DeploySettings } from '#deploy/settings.ts'
import type { PlanChange } from '#plan/delta.ts'
import { ImageRollout, type SeenProxy } from './image-rollout.ts'

/** What others did to deployed objects is undone after this time at the latest. */
const RESYNC_MS = 60_000
/** What blocks a deployment, such as an object of somebody else, may be gone without any change of what the controller reads. */
const BLOCKED_MS = 5000

/** Kinds that decide which proxies run, and how. */
const DEPLOYED_FROM: ReadonlySet<string> = new Set(['GatewayClass', 'Gateway', 'ProxyParameters'])

export interface DeployerOptions {
  readonly api: FleetApi
  readonly names: ControllerNames
  /** Read at each deployment. */
  readonly settings: () => DeploySettings
  readonly objects: () => readonly ApiObject[]
  /** Gets all problems of the deployment of a Gateway, by its key; none: it is as it should be. */
  readonly found: (gateway: string, findings: readonly Finding[]) => void
  /** A Gateway was deployed, or the API failed. @param ms how long that took */
  readonly looked?: (outcome: 'success' | 'failure', ms: number) => void
  /** The cluster cannot be asked. */
  readonly failed: (message: string) => void
  readonly reportBug: (error: unknown) => void
  /** Of a delay, from 0 to 1; for tests. */
  readonly random?: () => number
}

/** The cluster deletes what a Gateway owns, which it knows by its UID. */
type OwnedGateway = GatewayObject & { readonly metadata: { readonly uid: string } }

/** What is made for a Gateway that is being deleted would keep it from going. */
function canOwn(gateway: GatewayObject): gateway is OwnedGateway {
  return gateway.metadata.uid !== undefined && gateway.metadata.deletionTimestamp === undefined
}

/** What the objects of a Gateway are rendered from. */
interface Wanted {
  readonly gateway: OwnedGateway
  readonly parameters: GatewayParameters
  readonly ports: readonly number[]
}

/**
 * Keeps the objects that run the proxies of all Gateways as they should be. Each Gateway is deployed by itself: when it has changed, again after
 * a failure, and from time to time. Nothing that runs is touched while its parameters are not usable.
 */
export class Deployer {
  readonly #options: DeployerOptions
  readonly #fleet: Fleet
  readonly #queue: WriteQueue<Wanted>
  readonly #ports = new GatewayPorts()
  /** Ports of listeners have changed, which Services have to follow. */
  #hasOtherPorts = false
  /** By key of the Gateway. */
  #wanted: ReadonlyMap<string, Wanted> = new Map()
  readonly #rollout = new ImageRollout()
  /** The next looks at Gateways that are deployed, or blocked. */
  readonly #looks = new Map<string, { cancel(): void }>()

  constructor(options: DeployerOptions) {
    const { api, failed, random } = options
    this.#options = options
    this.#fleet = new Fleet(api)
    this.#queue = new WriteQueue({
      write: (key, wanted) => this.#deploy(key, wanted),
      failed,
      ...(random && { random }),
    })
  }

  /** Gateways that wait for their deployment, or are being deployed. */
  get queued(): number {
    return this.#queue.length
  }

  /** Gateways that keep an earlier default image until others are ready with the new one. */
  get waiting(): number {
    return this.#rollout.waiting
  }

  /** Ports of the listeners of a Gateway that are served, by its key. */
  portsOf(gateway: string): readonly number[] {
    return this.#ports.of(gateway)
  }

  /** Takes a change of the plan. `update` follows, with the objects that it is from. */
  take(change: PlanChange): void {
    if (this.#ports.take(change)) this.#hasOtherPorts = true
  }

  /** Deploys the Gateways that a change of objects concerns. Most changes, such as those of routes, concern none. */
  update({ set, removed }: ObjectChange): void {
    if (!this.#hasOtherPorts && ![...set, ...removed].some(({ kind }) => DEPLOYED_FROM.has(kind))) return
    this.#hasOtherPorts = false
    const before = this.#wanted
    this.#wanted = this.#allWanted()
    for (const [key, { gateway }] of before) if (!this.#isCurrent(key, gateway)) this.#forget(key, gateway)
    for (const [key, wanted] of this.#wanted) if (before.get(key) !== wanted) this.#look(key)
  }

  /** Deploys all Gateways, because the settings have changed. */
  redeploy(): void {
    for (const key of this.#wanted.keys()) this.#look(key)
  }

  /** A deployment that is under way ends. */
  close(): void {
    this.#wanted = new Map()
    this.#queue[Symbol.dispose]()
    for (const look of this.#looks.values()) look.cancel()
    this.#looks.clear()
  }

  /** Of Gateways that have not changed, the same as before. */
  #allWanted(): ReadonlyMap<string, Wanted> {
    const { objects, names } = this.#options
    const inventory = inventoryOf(objects().filter(({ kind }) => DEPLOYED_FROM.has(kind)))
    const own = inventory
      .all('Gateway')
      .filter(({ spec }) => isOwnClass(inventory, names, spec.gatewayClassName))
      .filter(canOwn)
    return new Map(
      own.map((gateway) => {
        const key = keyOf(gateway)
        // The translation has reported why parameters cannot be used.
        const parameters = resolveParameters(inventory, gateway, () => {})
        const wanted = { gateway, parameters, ports: this.portsOf(key) }
        const before = this.#wanted.get(key)
        return [key, before !== undefined && isSame(before, wanted) ? before : wanted]
      }),
    )
  }

  #isCurrent(key: string, { metadata: { uid } }: OwnedGateway): boolean {
    return this.#wanted.get(key)?.gateway.metadata.uid === uid
  }

  #look(key: string): void {
    this.#looks.get(key)?.cancel()
    this.#looks.delete(key)
    const wanted = this.#wanted.get(key)!
    if (wanted.parameters.fault === undefined) return this.#queue.put(key, wanted)
    this.#options.found(key, [])
    this.#saw(key, undefined)
  }

  #lookAgain(key: string, ms: number): void {
    // It may have been deployed again meanwhile.
    this.#looks.get(key)?.cancel()
    this.#looks.set(
      key,
      clock.after(ms, () => this.#look(key)),
    )
  }

  /** It is deleted, or another controller's: the cluster deletes what a Gateway owned. */
  #forget(key: string, gateway: OwnedGateway): void {
    this.#looks.get(key)?.cancel()
    this.#looks.delete(key)
    this.#fleet.forget(gateway.metadata)
    this.#options.found(key, [])
    this.#lookAt(this.#rollout.forget(key, this.#wanted.keys()))
  }

  #saw(key: string, proxy: SeenProxy | undefined): void {
    if (this.#wanted.has(key)) this.#lookAt(this.#rollout.saw(key, proxy, this.#wanted.keys()))
  }

  #lookAt(keys: readonly string[]): void {
    for (const key of keys) this.#look(key)
  }

  /** @throws ApiUnreadable: the queue tries again */
  async #deploy(key: string, wanted: Wanted): Promise<void> {
    if (this.#wanted.get(key) !== wanted) return
    const { looked, found, reportBug } = this.#options
    const started = clock.monotonic()
    let nextMs = RESYNC_MS
    try {
      const { findings, isBlocked } = await this.#deployed(key, wanted)
      looked?.('success', clock.monotonic() - started)
      if (isBlocked || this.#rollout.holds(key)) nextMs = BLOCKED_MS
      // Otherwise a newer one waits, or it is gone.
      if (this.#wanted.get(key) === wanted) found(key, findings)
    } catch (error) {
      looked?.('failure', clock.monotonic() - started)
      if (error instanceof ApiUnreadable) throw error
      reportBug(error)
    }
    if (!this.#isCurrent(key, wanted.gateway)) this.#fleet.forget(wanted.gateway.metadata)
    if (this.#wanted.get(key) === wanted) this.#lookAgain(key, nextMs)
  }

  async #deployed(key: string, { gateway, parameters: { objects: parameters }, ports }: Wanted) {
    const input = { gateway, ports, parameters, settings: this.#options.settings() }
    const { findings, ...draft } = render(input)
    const blocked = draft.objects === undefined ? undefined : await this.#apply(key, input, draft)
    if (blocked !== undefined || draft.objects === undefined) this.#saw(key, undefined)
    const problems = [...(blocked === undefined ? [] : [blocked]), ...this.#stopped(key, gateway)]
    return { findings: [...findings, ...problems], isBlocked: blocked !== undefined }
  }

  #stopped(key: string, gateway: OwnedGateway): readonly Finding[] {
    if (!this.#rollout.stops(key)) return []
    const others = count(this.#rollout.waiting, 'other Gateway keeps its', 'other Gateways keep their')
    const message = `its proxies are not ready with the new default image; ${others} image until they are`
    return [problemOf(gateway, 'image-not-ready', message)]
  }

  /** A Deployment with the image that the Gateway may have now, and what is there then. */
  #inTurn(key: string, { parameters, settings }: RenderInput, proxy: Manifest, found: Manifest | undefined) {
    const image = decidedImage(proxy, parameters, settings)
    if (image === undefined) return { proxy, seen: undefined }
    const before = found && imageIn(found)
    const isReady = found !== undefined && isRolledOut(found)
    if (before === undefined || before === image) return { proxy, seen: { isWanted: true, isReady } }
    if (this.#rollout.mayReplace(key)) return { proxy, seen: { isWanted: true, isReady: false } }
    return { proxy: withImage(proxy, before), seen: { isWanted: false, isReady } }
  }

  /** @returns why nothing was changed */
  async #apply(
    key: string,
    input: RenderInput & { readonly gateway: OwnedGateway },
    { objects, sessionKeySecret: secret }: Omit<Rendered, 'findings'>,
  ): Promise<Finding | undefined> {
    const { gateway } = input
    const owner = ownerOf(gateway)
    const blocked = (message: string) => problemOf(gateway, 'deployment-blocked', message)
    try {
      const { key: sessionKey, why } = secret === undefined ? {} : await ensureSessionKey(this.#options.api, secret)
      if (why !== undefined) return blocked(`Secret ${owner.namespace}/${secret!.metadata.name}: ${why}`)
      const manifests = sessionKey === undefined ? objects : render({ ...input, sessionKey }).objects
      let seen: SeenProxy | undefined
      const refusal = await this.#fleet.deploy(owner, manifests ?? [], (manifest, found) => {
        if (manifest.kind !== 'Deployment') return manifest
        const turn = this.#inTurn(key, input, manifest, found)
        seen = turn.seen
        return turn.proxy
      })
      if (refusal === undefined) return void this.#saw(key, seen)
      const message = `${refusal.object}: ${refusal.message}`
      return refusal.reason === 'foreign' ? blocked(message) : problemOf(gateway, 'parameters-invalid', message)
    } catch (error) {
      // Such as a right that is missing in one namespace.
      if (isOutage(error) || isConflict(error) || !(error instanceof ApiUnreadable)) throw error
      return blocked(error.said ?? error.message)
    }
  }
}

/** Whether the same objects would be rendered. Versions and statuses do not matter. */
function isSame(one: Wanted, other: Wanted): boolean {
  const read = ({ gateway: { metadata, spec }, parameters: { objects, fault }, ports }: Wanted) => {
    return [metadata.uid, spec, objects.map((each) => [keyOf(each), each.spec]), fault === undefined, ports]
  }
  return isDeepStrictEqual(read(one), read(other))
}

function problemOf({ origin }: GatewayObject, code: FindingCode, message: string): Finding {
  return { origin, path: 'spec', code, severity: 'error', message }
}

function ownerOf({ metadata: { namespace, name, uid } }: OwnedGateway): Owner {
  return { namespace, name, uid, selector: `${GATEWAY_LABEL}=${labelValue(name)}` }
}
