import type { Finding } from '#base/finding.ts'
import type { Binding } from '#control/translation.ts'
import { PlanCheck } from '#engine/check-plan.ts'
import { PlanIndex } from '#engine/plan-index.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import { applyDelta, type PlanDelta } from '#plan/delta.ts'
import type { ListenerItem, PlanItem } from '#plan/item.ts'
import { SlotDirectory, type SlotMemory } from '#state/slots.ts'
import { importKey } from '#workers/import-key.ts'
import type { Published } from '#workers/worker-pool.ts'
import { probeSocket } from './probe-socket.ts'

/**
 * What stands between translation and the workers: checks the plan, gives its state shared slots, finds out which sockets can be
 * opened. One plan after the other.
 */
export class PlanPublisher {
  readonly #memory: SlotMemory
  readonly #directory: SlotDirectory
  readonly #check = new PlanCheck()
  readonly #open = new Set<string>()
  readonly #refused = new Map<string, string>()
  #items: ReadonlyMap<string, PlanItem> = new Map()
  #index = new PlanIndex(new Map())
  #findings: readonly Finding[] = []
  #version = 0

  constructor(memory: SlotMemory) {
    this.#memory = memory
    this.#directory = new SlotDirectory(memory)
  }

  get items(): ReadonlyMap<string, PlanItem> {
    return this.#items
  }

  get version(): number {
    return this.#version
  }

  /** What is wrong with the policies and backends of the plan. */
  get findings(): readonly Finding[] {
    return this.#findings
  }

  get listeners(): readonly ListenerItem[] {
    return this.#index.listeners
  }

  /** Takes a delta in; what was there before stays valid for whoever holds it. */
  take(delta: PlanDelta): void {
    this.#version = delta.version
    this.#items = applyDelta(this.#items, delta)
    this.#index = new PlanIndex(this.#items, this.#index)
    const state = {
      memory: this.#memory,
      slotOf: (key: string) => this.#directory.assign(key),
      tlsMaterial: TLS_MATERIAL,
      importKey,
    }
    const { findings, slots } = this.#check.check(this.#index, state)
    this.#directory.retain(slots)
    this.#findings = findings
  }

  /** Tries the sockets that are not open yet. @returns what to tell the workers */
  async publish(delta: PlanDelta): Promise<Published> {
    const wanted = new Map(this.#index.listeners.map((item) => [socketOf(item), item]))
    for (const socket of [...this.#open]) if (!wanted.has(socket)) this.#open.delete(socket)
    this.#refused.clear()
    for (const [socket, { address, port }] of wanted) {
      if (this.#open.has(socket)) continue
      const message = await probeSocket(address, port)
      if (message === undefined) this.#open.add(socket)
      else this.#refused.set(socket, message)
    }
    return {
      version: delta.version,
      items: this.#items,
      delta,
      slots: [...this.#directory.entries()],
      sockets: [...this.#open],
    }
  }

  /** Sockets that could not be opened, with the reason. */
  get refused(): ReadonlyMap<string, string> {
    return this.#refused
  }

  /** A worker could not open a socket that was free a moment ago. */
  lost(socket: string, message: string): void {
    this.#open.delete(socket)
    this.#refused.set(socket, message)
  }

  /** State of every listener once the workers have applied the plan. */
  bindings(): Map<string, Binding> {
    const bindings = new Map<string, Binding>()
    for (const item of this.#index.listeners) {
      const message = this.#refused.get(socketOf(item))
      bindings.set(
        item.key,
        message === undefined ? { state: 'bound' } : { state: 'failed', reason: 'PortUnavailable', message },
      )
    }
    return bindings
  }
}

export function socketOf({ address, port }: ListenerItem): string {
  return `${address}:${port}`
}
