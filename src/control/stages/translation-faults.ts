import type { KindName } from '#api/kinds.ts'
import { type ApiObject, objectKey } from '#api/object.ts'
import { type RefusedPolicy, readUntranslatedPolicy } from '#api/refused-policy.ts'
import { standInForUntranslated } from '#api/refused-route.ts'
import type { Stages } from '#base/incremental/stage.ts'
import type { Origin } from '#base/origin.ts'
import { FaultReports } from '#plan/fault-reports.ts'
import { REFUSED_POLICIES, refuseNamed } from './refused-policy-stage.ts'
import { putObject, removeObject, type Tables } from './tables.ts'

/** The writer of rows that follow from faults. */
const WRITER = 'fault'

/**
 * Runs the stages of a translation so that a bug in the translation of one object does not stop the others. The object reports it and keeps its
 * translation before; without one, what it protects refuses.
 */
export class TranslationFaults {
  readonly #tables: Tables
  readonly #stages: Stages
  readonly #reports: FaultReports
  #faulty: ReadonlySet<string> = new Set()
  /** Keys of the items of policies whose refusal has faults. */
  #refusing: ReadonlySet<string> = new Set()
  /** In place of routes, by their keys. */
  readonly #standIns = new Map<string, ApiObject>()

  constructor(tables: Tables, stages: Stages) {
    this.#tables = tables
    this.#stages = stages
    this.#reports = new FaultReports(stages, tables.problems, ({ key }) => ownerOf(tables, key))
  }

  /** Updates the tables. */
  update(): void {
    this.#stages.update()
    const before = this.#faulty
    this.#faulty = this.#reports.update()
    if (before.size + this.#faulty.size === 0) return
    for (const key of new Set([...before, ...this.#faulty])) {
      this.#refusePolicy(key)
      this.#refuseRoute(key)
    }
    // Faults of this update are reported with the next one: reports may cause or end faults, so that repeating could go on for ever.
    this.#stages.update()
    this.#refuseNamed()
  }

  /** A bug may stop the translation of a policy and of its refusal. */
  #refuseNamed(): void {
    const { items } = this.#tables
    const failed = this.#stages.faults.filter(({ stage }) => stage === REFUSED_POLICIES)
    const refusing = failed
      .flatMap(({ rows }) => rows as RefusedPolicy[])
      .flatMap((row) => refuseNamed(this.#tables, row))
    const keys = new Set(refusing.map(({ key }) => key))
    for (const key of this.#refusing) if (!keys.has(key)) items.put(key, WRITER, [])
    for (const item of refusing) items.put(item.key, WRITER, [item])
    this.#refusing = keys
  }

  /** Security fails closed (decision A-09): the targets of a policy that protects them, and that has no translation, refuse. */
  #refusePolicy(key: string): void {
    const { objects, policies, tlsPolicies, refusedPolicies } = this.#tables
    const [object] = [...objects.ProxyPolicy.rows(key), ...objects.BackendTLSPolicy.rows(key)]
    const isUntranslated = this.#faulty.has(key) && policies.isEmpty(key) && tlsPolicies.isEmpty(key)
    const policy = isUntranslated && object !== undefined ? readUntranslatedPolicy(object) : undefined
    refusedPolicies.put(key, WRITER, policy === undefined ? [] : [policy])
  }

  /** Requests of a route for requests that has no translation must not reach a less specific one, which may have other policies. */
  #refuseRoute(key: string): void {
    const { objects, routes } = this.#tables
    const [object] = [...objects.HTTPRoute.rows(key), ...objects.GRPCRoute.rows(key)]
    const before = this.#standIns.get(key)
    if (object !== undefined && object.refusal === undefined && this.#faulty.has(key) && routes.isEmpty(key)) {
      const standIn = standInForUntranslated(object)
      this.#standIns.set(key, standIn)
      putObject(this.#tables, standIn)
    } else if (before !== undefined) {
      this.#standIns.delete(key)
      removeObject(this.#tables, before)
    }
  }
}

/** Keys of targets and of backends begin with the key of their object. */
function ownerOf({ objects }: Tables, key: string): Origin | undefined {
  const [kind = '', namespace = '', name = ''] = key.split(/[/:# ]/)
  return objects[kind as KindName]?.rows(objectKey(kind, namespace, name))[0]?.origin
}
