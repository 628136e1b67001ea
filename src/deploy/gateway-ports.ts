import { objectKey } from '#api/object.ts'
import type { PlanChange } from '#plan/delta.ts'
import type { ListenerItem } from '#plan/item.ts'

/** The ports of the served listeners of each Gateway. */
export class GatewayPorts {
  /** By listener, its Gateway; by Gateway, the ports of its listeners. */
  readonly #gatewayOf = new Map<string, string>()
  readonly #ports = new Map<string, Map<string, number>>()

  /** @returns whether listeners have changed */
  take({ set, removed }: PlanChange): boolean {
    const listeners = set.filter((item) => item.kind === 'listener')
    const before = this.#gatewayOf.size
    for (const listener of removed) this.#remove(listener)
    const isAnyGone = this.#gatewayOf.size < before
    for (const item of listeners) this.#put(item)
    return isAnyGone || listeners.length > 0
  }

  /** @param gateway its key @returns with a port for each listener */
  of(gateway: string): readonly number[] {
    return [...(this.#ports.get(gateway)?.values() ?? [])]
  }

  #put({ key, gateway: { namespace, name }, port }: ListenerItem): void {
    this.#remove(key)
    const gateway = objectKey('Gateway', namespace, name)
    const ports = this.#ports.get(gateway) ?? new Map<string, number>()
    this.#gatewayOf.set(key, gateway)
    this.#ports.set(gateway, ports.set(key, port))
  }

  #remove(listener: string): void {
    const gateway = this.#gatewayOf.get(listener)
    if (gateway === undefined) return
    this.#gatewayOf.delete(listener)
    const ports = this.#ports.get(gateway)!
    ports.delete(listener)
    if (ports.size === 0) this.#ports.delete(gateway)
  }
}
