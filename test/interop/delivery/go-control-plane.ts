import { join } from 'node:path'
import type { ApiObject } from '#api/object.ts'
import { Translator } from '#control/translator.ts'
import { HeldVersions, PLAN_TYPES, type PlanResource, resourceOf, snapshotResource } from '#deliver/plan-resource.ts'
import type { PlanChange } from '#plan/delta.ts'
import { builtGoProgram } from '../counterparts.ts'
import { LineProgram } from './line-program.ts'

interface Command {
  readonly type: string
  /** Bytes in Base64, by name. */
  readonly set: Readonly<Record<string, string>>
  readonly removed: readonly string[]
}

export interface ControlPlaneEvent {
  readonly state: 'listening' | 'open' | 'refused' | 'request' | 'response' | 'closed'
  readonly port?: number
  /** Number of the stream, from 1. */
  readonly stream?: number
  readonly type?: string
  readonly nonce?: string
  readonly versions?: Readonly<Record<string, string>>
  readonly error?: string
  readonly node?: string
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly names?: readonly string[]
  readonly removed?: readonly string[]
  readonly bytes?: number
}

const encode = (resources: readonly PlanResource[]) =>
  Object.fromEntries(resources.map(({ name, value }) => [name, Buffer.from(value).toString('base64')]))

/** A delta server of go-control-plane in a process of its own, which gets the plan of changing objects. */
export class GoControlPlane extends LineProgram<Command, ControlPlaneEvent> {
  readonly #translator = new Translator()
  readonly #items = new Map(PLAN_TYPES.map((type) => [type, new HeldVersions()]))

  constructor(flags: Readonly<Record<string, string | number>> = {}) {
    const given = Object.entries({ types: PLAN_TYPES.join(','), ...flags }).map(([name, value]) => `-${name}=${value}`)
    super(builtGoProgram(join(import.meta.dirname, 'go'), 'control-plane'), given)
  }

  async port(): Promise<number> {
    return (await this.until('the control plane listens', ({ state }) => state === 'listening')).port!
  }

  put(...objects: readonly ApiObject[]): void {
    this.change(this.translate(...objects))
  }

  /** The change that objects make, which is for the caller to send. */
  translate(...set: readonly ApiObject[]): PlanChange {
    return this.#translator.apply({ set, removed: [] })
  }

  remove(...removed: readonly ApiObject[]): void {
    this.change(this.#translator.apply({ set: [], removed }))
  }

  /** Sends the change of each type with the new snapshot, as one step. */
  change({ set, removed }: PlanChange): void {
    const resources = set.map(resourceOf)
    for (const [type, held] of this.#items) {
      const ofType = resources.filter((resource) => resource.type === type)
      const gone = removed.filter((name) => held.versions.has(name))
      for (const { name, version } of ofType) held.set(name, version)
      for (const name of gone) held.delete(name)
      this.tell({ type, set: encode([...ofType, snapshotResource(type, held.snapshot)]), removed: gone })
    }
  }

  requests(filter: (request: ControlPlaneEvent) => boolean = () => true): readonly ControlPlaneEvent[] {
    return this.events.filter((event) => event.state === 'request' && filter(event))
  }
}
