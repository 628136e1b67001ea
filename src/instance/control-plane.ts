import { objectKey } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import { clock } from '#base/clock.ts'
import type { Finding } from '#base/finding.ts'
import type { NodeFault } from '#base/incremental/stage.ts'
import { type ControllerNames, DEFAULT_NAMES } from '#control/context/controller.ts'
import type { GatewayAddresses } from '#control/gateways/check-addresses.ts'
import { type ControlLoop, startControlLoop } from '#control/loop.ts'
import { stampTogether } from '#control/status/stamp-status.ts'
import type { DefinitionVersions } from '#control/status/supported-version.ts'
import type { StatusChange } from '#control/translation.ts'
import { Translator } from '#control/translator.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import type { PlanItem } from '#plan/item.ts'
import type { PlanTarget, ProxyReports } from '#plan/plan-link.ts'
import type { ObjectSource, Statuses } from '#store/store.ts'
import type { InstanceOptions } from './options.ts'

export interface ControlPlaneOptions extends Pick<InstanceOptions, 'allowsExternalNames'> {
  /** Default: those of a gateway outside of a cluster. */
  readonly names?: ControllerNames
  /** The addresses of listeners. */
  readonly addresses: GatewayAddresses
  readonly store: ObjectSource & Statuses
  /** For ACME, see `TranslateOptions`. */
  readonly acmeThumbprint?: (() => string | undefined) | undefined
  /** Gets the plan. */
  readonly plans: PlanTarget
  /** Called with each change of the objects before it is translated: from then on no output shows their secrets. */
  readonly takes: (change: ObjectChange) => void
  /** Called after each change has been translated. */
  readonly taken: (change: ObjectChange) => void
  /** Called when findings have changed. */
  readonly translated: (findings: readonly Finding[]) => void
  /** An object makes the translation throw, which other objects do not notice. */
  readonly onFault: (fault: NodeFault) => void
}

/** A control plane: takes objects from their sources, sends the plan down, and writes statuses. */
export class ControlPlane {
  readonly #options: ControlPlaneOptions
  readonly #translator: Translator
  readonly #loop: ControlLoop

  constructor(options: ControlPlaneOptions) {
    const { plans, onFault, addresses, names = DEFAULT_NAMES, allowsExternalNames = false, acmeThumbprint } = options
    this.#options = options
    this.#translator = new Translator({
      names,
      tlsMaterial: TLS_MATERIAL,
      addresses,
      allowsExternalNames,
      onFault,
      ...(acmeThumbprint && { acmeThumbprint }),
    })
    this.#loop = startControlLoop({
      translator: this.#translator,
      plans,
      publishStatuses: (changed, findings) => this.#statuses(changed, findings),
    })
  }

  /** Translates all objects, and from now on every change of them. @param began reports what the first statuses take into account */
  start(began: () => void = () => {}): void {
    this.#options.store.subscribe(() => this.#takeObjects())
    this.#loop.together(() => {
      this.#takeObjects()
      began()
    })
  }

  /** The way up from the data plane. */
  get reports(): ProxyReports {
    return this.#loop
  }

  /** While statuses are held back, another replica writes them. Afterwards, those that differ are written. */
  holdStatuses(isHeld: boolean): void {
    this.#loop.holdStatuses(isHeld)
  }

  /** Replaces the versions of the definitions of the cluster; undefined: they are not known. */
  defined(versions: DefinitionVersions | undefined): void {
    this.#loop.defined(versions)
  }

  /** Replaces the problems of the deployment of a Gateway, by its key. */
  deployed(gateway: string, findings: readonly Finding[]): void {
    this.#loop.deployed(gateway, findings)
  }

  /** The plan. */
  get items(): ReadonlyMap<string, PlanItem> {
    return this.#translator.items
  }

  /** All problems of the objects. */
  get findings(): readonly Finding[] {
    return this.#translator.findings
  }

  /** Stops translating, and closes the sources of objects. */
  close(): void {
    this.#loop.close()
    this.#options.store.close()
  }

  #takeObjects(): void {
    const { store, takes, taken } = this.#options
    const change = store.takeChange()
    takes(change)
    this.#loop.apply(change)
    this.#loop.refused(store.refusedEdits())
    taken(change)
  }

  #statuses({ written, withdrawn }: StatusChange, findings: readonly Finding[] | undefined): void {
    const { store, translated } = this.#options
    const stamp = stampTogether(new Date(clock.now()).toISOString())
    const stamped = written.map(({ kind, namespace, name, status }) => {
      const key = objectKey(kind, namespace, name)
      return [key, stamp(status, store.statusOf(key))] as const
    })
    store.writeStatuses({ written: stamped, withdrawn })
    if (findings !== undefined) translated(findings)
  }
}
