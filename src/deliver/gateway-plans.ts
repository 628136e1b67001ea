import type { PlanDelta } from '#plan/delta.ts'
import type { PlanItem } from '#plan/item.ts'
import { GatewayScopes } from './gateway-scopes.ts'
import { type PlanResource, type PlanType, resourceOf } from './plan-resource.ts'

/** Names of resources that changed, were added or removed. */
export type ChangedNames = readonly Pick<PlanResource, 'name' | 'type'>[]

/** Hears of changes of what a Gateway uses. */
export type PlanWatcher = (changed: ChangedNames) => void

/** The resources that one Gateway uses, while somebody watches them. */
export class GatewayPlan {
  #resources = new Map<string, PlanResource>()
  readonly watchers = new Set<PlanWatcher>()

  find(name: string): PlanResource | undefined {
    return this.#resources.get(name)
  }

  *ofType(type: PlanType): Generator<PlanResource> {
    for (const resource of this.#resources.values()) if (resource.type === type) yield resource
  }

  /** @param used all that the Gateway uses now */
  replace(used: readonly PlanResource[]): void {
    const before = this.#resources
    this.#resources = new Map(used.map((resource) => [resource.name, resource]))
    const changed = used.filter(({ name, version }) => before.get(name)?.version !== version)
    for (const [name, resource] of before) if (!this.#resources.has(name)) changed.push(resource)
    this.#tell(changed)
  }

  /** Replaces what it uses of these resources by their new versions. */
  update(resources: readonly PlanResource[]): void {
    const changed = resources.filter(({ name, version }) => {
      const before = this.#resources.get(name)
      return before !== undefined && before.version !== version
    })
    for (const resource of changed) this.#resources.set(resource.name, resource)
    this.#tell(changed)
  }

  #tell(changed: readonly PlanResource[]): void {
    if (changed.length > 0) for (const watcher of [...this.watchers]) watcher(changed)
  }
}

/** The plan as resources, by Gateway. */
export class GatewayPlans {
  readonly #scopes = new GatewayScopes()
  readonly #resources = new Map<string, PlanResource>()
  /** Those that are watched, by key of the Gateway. */
  readonly #plans = new Map<string, GatewayPlan>()
  #version = 0

  /** The newest version; 0: none yet. */
  get version(): number {
    return this.#version
  }

  take(change: PlanDelta): void {
    this.#version = change.version
    for (const key of change.removed) this.#resources.delete(key)
    const set = change.set.map((item: PlanItem) => resourceOf(item))
    for (const resource of set) this.#resources.set(resource.name, resource)
    const isMoved = this.#scopes.take(change)
    for (const [gateway, plan] of this.#plans) {
      if (isMoved) plan.replace(this.#usedBy(gateway))
      else plan.update(set)
    }
  }

  /** @param gateway key of its item, which need not exist @returns the plan until `unwatch` */
  watch(gateway: string, watcher: PlanWatcher): GatewayPlan {
    let plan = this.#plans.get(gateway)
    if (plan === undefined) {
      plan = new GatewayPlan()
      plan.replace(this.#usedBy(gateway))
      this.#plans.set(gateway, plan)
    }
    plan.watchers.add(watcher)
    return plan
  }

  unwatch(gateway: string, watcher: PlanWatcher): void {
    const plan = this.#plans.get(gateway)
    plan?.watchers.delete(watcher)
    if (plan?.watchers.size === 0) this.#plans.delete(gateway)
  }

  #usedBy(gateway: string): readonly PlanResource[] {
    return this.#scopes.itemsOf(gateway).map((key) => this.#resources.get(key)!)
  }
}
