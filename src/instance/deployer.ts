import type { GatewayObject } from '#api/gateway.ts'
import { type ApiObject, keyOf } from '#api/object.ts'
import { BackOff } from '#base/back-off.ts'
import { clock } from '#base/clock.ts'
import type { Finding } from '#base/finding.ts'
import type { FindingCode } from '#base/findings.ts'
import { ApiUnreadable, isOutage } from '#cluster/api-unreadable.ts'
import { Fleet, type FleetApi, type Owner } from '#cluster/deploy/fleet.ts'
import { ensureSessionKey } from '#cluster/deploy/stored-secrets.ts'
import type { ControllerNames } from '#control/context/controller.ts'
import { inventoryOf } from '#control/context/inventory.ts'
import { isOwnClass } from '#control/gateways/resolve-gateways.ts'
import { resolveParameters } from '#control/gateways/resolve-parameters.ts'
import { labelValue } from '#deploy/names.ts'
import { type Rendered, type RenderInput, render } from '#deploy/render.ts'
import type { DeploySettings } from '#deploy/settings.ts'

/** What others did to deployed objects is undone after this time at the latest. */
const RESYNC_MS = 60_000
/** What blocks a deployment, such as an object of somebody else, may be gone without any change of what the controller reads. */
const BLOCKED_MS = 5000
const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 60_000

export interface DeployerOptions {
  readonly api: FleetApi
  readonly names: ControllerNames
  readonly settings: DeploySettings
  readonly objects: () => readonly ApiObject[]
  /** Ports of the listeners of a Gateway that are served, by its key. */
  readonly portsOf: (gateway: string) => readonly number[]
  /** Gets all problems of the deployment of a Gateway, by its key; none: it is as it should be. */
  readonly found: (gateway: string, findings: readonly Finding[]) => void
  /** All was looked at, or the cluster could not be asked. @param ms how long that took */
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
function isOwned({ metadata }: GatewayObject): boolean {
  return metadata.uid !== undefined && metadata.deletionTimestamp === undefined
}

/** Keeps the objects that run the proxies of all Gateways as they should be. Nothing that runs is touched while its parameters are not usable. */
export class Deployer {
  readonly #options: DeployerOptions
  readonly #fleet: Fleet
  readonly #backOff: BackOff
  #known: ReadonlyMap<string, Owner> = new Map()
  #timer: { cancel(): void } | undefined
  #isRunning = false
  #isWanted = false
  #isClosed = false

  constructor(options: DeployerOptions) {
    this.#options = options
    this.#fleet = new Fleet(options.api)
    this.#backOff = new BackOff(FIRST_RETRY_MS, LONGEST_RETRY_MS, options.random)
  }

  /** Deploys what has changed; while that is under way, once more afterwards. */
  update(): void {
    this.#isWanted = true
    if (!this.#isRunning && !this.#isClosed) void this.#run()
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    this.#timer?.cancel()
    let nextMs = RESYNC_MS
    while (this.#isWanted && !this.#isClosed) {
      this.#isWanted = false
      nextMs = await this.#deployAll()
    }
    this.#isRunning = false
    if (!this.#isClosed) this.#timer = clock.after(nextMs, () => this.update())
  }

  /** @returns when to look again, in milliseconds */
  async #deployAll(): Promise<number> {
    const started = clock.monotonic()
    const looked = (outcome: 'success' | 'failure') => this.#options.looked?.(outcome, clock.monotonic() - started)
    try {
      const inventory = inventoryOf(this.#options.objects())
      const own = inventory
        .all('Gateway')
        .filter(({ spec }) => isOwnClass(inventory, this.#options.names, spec.gatewayClassName))
        .filter((gateway): gateway is OwnedGateway => isOwned(gateway))
      this.#forgetOthers(own)
      let isBlocked = false
      for (const gateway of own) {
        // The translation has reported why parameters cannot be used.
        const { objects: parameters, fault } = resolveParameters(inventory, gateway, () => {})
        if (fault !== undefined) this.#options.found(keyOf(gateway), [])
        else if (!(await this.#deploy(gateway, parameters))) isBlocked = true
      }
      this.#backOff.reset()
      looked('success')
      return isBlocked ? BLOCKED_MS : RESYNC_MS
    } catch (error) {
      if (this.#isClosed) return RESYNC_MS
      looked('failure')
      if (!(error instanceof ApiUnreadable)) {
        this.#options.reportBug(error)
        return this.#backOff.next()
      }
      this.#options.failed(error.message)
      return this.#backOff.next(error.retryAfterMs)
    }
  }

  /** @returns whether it is as it should be, as far as the parameters go. @throws ApiUnreadable if that is so for all Gateways */
  async #deploy(gateway: OwnedGateway, parameters: RenderInput['parameters']): Promise<boolean> {
    const { settings, portsOf } = this.#options
    const input = { gateway, ports: portsOf(keyOf(gateway)), parameters, settings }
    const { findings, ...draft } = render(input)
    const blocked = draft.objects === undefined ? undefined : await this.#apply(input, draft)
    this.#options.found(keyOf(gateway), blocked === undefined ? findings : [...findings, blocked])
    return blocked === undefined
  }

  /** @returns why nothing was changed */
  async #apply(
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
      const refusal = await this.#fleet.deploy(owner, manifests ?? [])
      if (refusal === undefined) return undefined
      const message = `${refusal.object}: ${refusal.message}`
      return refusal.reason === 'foreign' ? blocked(message) : problemOf(gateway, 'parameters-invalid', message)
    } catch (error) {
      // Such as a right that is missing in one namespace.
      if (isOutage(error) || !(error instanceof ApiUnreadable)) throw error
      return blocked(error.said ?? error.message)
    }
  }

  #forgetOthers(own: readonly OwnedGateway[]): void {
    const known = new Map(own.map((gateway) => [keyOf(gateway), ownerOf(gateway)]))
    for (const [key, owner] of this.#known) {
      if (known.get(key)?.uid === owner.uid) continue
      this.#fleet.forget(owner)
      this.#options.found(key, [])
    }
    this.#known = known
  }
}

function problemOf({ origin }: GatewayObject, code: FindingCode, message: string): Finding {
  return { origin, path: 'spec', code, severity: 'error', message }
}

function ownerOf({ metadata: { namespace, name, uid } }: OwnedGateway): Owner {
  return { namespace, name, uid, selector: `gateway.networking.k8s.io/gateway-name=${labelValue(name)}` }
}
