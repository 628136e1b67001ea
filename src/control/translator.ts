import type { KindName } from '#api/kinds.ts'
import { type ApiObject, keyOf, objectKey } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import type { RefusedPolicy } from '#api/refused-policy.ts'
import { clock } from '#base/clock.ts'
import type { Finding } from '#base/finding.ts'
import { type NodeFault, Stages } from '#base/incremental/stage.ts'
import type { Table } from '#base/incremental/table.ts'
import { type TlsMaterialCheck, UNCHECKED_MATERIAL } from '#base/tls-material.ts'
import { type BackendFact, factKey } from '#plan/backend-fact.ts'
import type { Binding } from '#plan/binding.ts'
import type { PlanChange } from '#plan/delta.ts'
import type { PlanItem } from '#plan/item.ts'
import type { RemoteProxy, ReportedState } from '#plan/plan-link.ts'
import { type ControllerNames, DEFAULT_NAMES } from './context/controller.ts'
import { commonAddress, type GatewayAddresses } from './gateways/check-addresses.ts'
import { annotationStage } from './stages/annotation-stage.ts'
import { backendStage } from './stages/backend-stage.ts'
import { DataPlaneReports } from './stages/data-plane-reports.ts'
import { classStage, gatewayStage, listenerSetStage, listenerStage, socketStage } from './stages/gateway-stages.ts'
import { grantStage } from './stages/grant-stage.ts'
import { materialEndStage, materialStage } from './stages/material-stage.ts'
import { observedStage } from './stages/observed-stage.ts'
import { contextOpener } from './stages/open-context.ts'
import {
  overlapStage,
  partialStage,
  policyFactsStage,
  policyStage,
  reachStage,
  sharedSocketStage,
  tieStage,
} from './stages/policy-stages.ts'
import { refusedPolicyStage } from './stages/refused-policy-stage.ts'
import {
  coveredPatternStage,
  displacedStage,
  matchStage,
  routeStage,
  shadowedStage,
  shadowStage,
} from './stages/route-stages.ts'
import { serviceStage, sliceStage } from './stages/service-stages.ts'
import { addStatusStages, findingStage } from './stages/status-stages.ts'
import { createTables, putObject, removeObject, replaceRefused, type Tables } from './stages/tables.ts'
import { missedTlsTargetsStage, tlsPolicyStage } from './stages/tls-policy-stages.ts'
import { TranslationFaults } from './stages/translation-faults.ts'
import { noGatewayStage, parametersStage } from './stages/unused-stages.ts'
import { meshPodStage, podStage, workloadReaderStage, workloadStage } from './stages/workload-stages.ts'
import { completeStatus } from './status/own-status.ts'
import type { DefinitionVersions } from './status/supported-version.ts'
import type { ObjectStatus, StatusChange, Translation } from './translation.ts'

export interface TranslateOptions {
  /** Of the controller whose Gateways are translated. */
  readonly names?: ControllerNames
  /** The addresses of the listeners of each Gateway; default: the loopback address. */
  readonly addresses?: GatewayAddresses
  /** Whether names of servers in Services and EndpointSlices are used, even in objects that are not from files; default: no. */
  readonly allowsExternalNames?: boolean
  /** The thumbprint of the account for ACME, which the first Gateway that uses it needs; default: no certificates are asked for here. */
  readonly acmeThumbprint?: () => string | undefined
  /** Checks certificates and keys; without it, only their PEM format is checked. */
  readonly tlsMaterial?: TlsMaterialCheck
  /** Called when the translation of an object throws, which other objects do not notice; by default, the error is thrown again. */
  readonly onFault?: (fault: NodeFault) => void
}

const LOOPBACK = commonAddress('127.0.0.1')

type StageOptions = Required<Omit<TranslateOptions, Optional>> & Pick<TranslateOptions, Optional>
type Optional = 'onFault' | 'acmeThumbprint'

/** The stages of a translation, in order: each stage reads tables of earlier stages. */
function buildStages(tables: Tables, options: StageOptions): Stages {
  const { names, addresses, allowsExternalNames, onFault, acmeThumbprint } = options
  const isDeployed = addresses.serviceOf !== undefined
  const openContext = contextOpener(tables, options)
  const stages = new Stages(onFault)
  stages.add(grantStage(tables))
  // Gateways and their listeners
  stages.add(classStage(tables, openContext))
  stages.add(gatewayStage(tables, openContext, addresses))
  stages.add(listenerSetStage(tables, openContext))
  stages.add(socketStage(tables))
  stages.add(listenerStage(tables, acmeThumbprint))
  // Objects that attach to them
  stages.add(backendStage(tables, openContext))
  stages.add(matchStage(tables, openContext, !isDeployed))
  stages.add(displacedStage(tables))
  stages.add(routeStage(tables, openContext))
  stages.add(policyStage(tables, openContext))
  stages.add(tlsPolicyStage(tables, openContext))
  stages.add(refusedPolicyStage(tables, openContext))
  // Objects that those refer to
  stages.add(sliceStage(tables))
  stages.add(podStage(tables))
  stages.add(meshPodStage(tables))
  stages.add(serviceStage(tables, allowsExternalNames))
  stages.add(materialStage(tables))
  stages.add(materialEndStage(tables, openContext))
  stages.add(workloadReaderStage(tables))
  stages.add(workloadStage(tables))
  // Relations between them
  stages.add(shadowStage(tables))
  stages.add(coveredPatternStage(tables))
  stages.add(shadowedStage(tables))
  stages.add(tieStage(tables))
  stages.add(partialStage(tables))
  stages.add(sharedSocketStage(tables))
  stages.add(overlapStage(tables))
  stages.add(reachStage(tables))
  stages.add(policyFactsStage(tables))
  stages.add(missedTlsTargetsStage(tables))
  stages.add(parametersStage(tables, isDeployed))
  stages.add(noGatewayStage(tables, names))
  stages.add(annotationStage(tables))
  // Findings and statuses
  stages.add(observedStage(tables))
  stages.add(findingStage(tables))
  addStatusStages(stages, tables, { controller: names.controller, isDeployed })
  return stages
}

/**
 * Translates objects to the plan, the statuses and the findings, and applies changes incrementally: the cost of a change depends on what it
 * affects. The result depends only on the objects, not on the order of the changes.
 */
export class Translator {
  readonly #tables = createTables()
  readonly #stages: Stages
  readonly #faults: TranslationFaults
  readonly #changedItems = new Set<string>()
  readonly #changedStatuses = new Set<string>()
  readonly #items = new Map<string, PlanItem>()
  readonly #addresses: GatewayAddresses
  readonly #names: ControllerNames
  readonly #reports = new DataPlaneReports(this.#tables)
  #version = 0
  #addressesFreed = 0
  #findingsChanged = true
  #refused: ReadonlySet<string> = new Set()
  /** By object, why its newest version is refused. */
  #refusedEdits: ReadonlyMap<string, string> = new Map()

  constructor({
    names = DEFAULT_NAMES,
    addresses = LOOPBACK,
    tlsMaterial = UNCHECKED_MATERIAL,
    allowsExternalNames = false,
    onFault,
    acmeThumbprint,
  }: TranslateOptions = {}) {
    this.#names = names
    this.#addresses = addresses
    const chosen = { names, addresses, tlsMaterial, allowsExternalNames }
    this.#stages = buildStages(this.#tables, {
      ...chosen,
      ...(onFault && { onFault }),
      ...(acmeThumbprint && { acmeThumbprint }),
    })
    this.#faults = new TranslationFaults(this.#tables, this.#stages)
    this.#tables.items.watch((key) => this.#changedItems.add(key))
    this.#tables.statuses.watch((key) => this.#changedStatuses.add(key))
    this.#tables.allFindings.watch(() => {
      this.#findingsChanged = true
    })
    this.#tables.always.put('all', '', [true])
  }

  /** The plan, by key of the item. Unchanged items keep their identity. */
  get items(): ReadonlyMap<string, PlanItem> {
    return this.#items
  }

  /** The number of changes of the plan. */
  get version(): number {
    return this.#version
  }

  /** Keys of the objects of a kind that a translation looked up by name, and that do not exist. */
  missing(kind: KindName): readonly string[] {
    return this.#tables.objects[kind].missedKeys()
  }

  /** The work done so far: the number of nodes run and of rows read. */
  get work(): number {
    return this.#stages.work
  }

  /** @param change valid objects @returns what changed in the plan */
  apply({ set, removed, refused = this.#refused, refusedPolicies, statusWritten = [] }: ObjectChange): PlanChange {
    for (const object of removed) removeObject(this.#tables, object)
    this.#freeAddresses(removed, set)
    for (const object of set) putObject(this.#tables, object)
    replaceRefused(this.#tables, this.#refused, refused)
    this.#refused = refused
    if (refusedPolicies !== undefined) this.#replaceRows(this.#tables.refusedPolicies, byObject(refusedPolicies))
    this.#faults.update()
    this.#tellAgain(statusWritten)
    const taken = this.#takeItems()
    if (taken.set.length + taken.removed.length > 0) {
      this.#reports.take({ version: ++this.#version, ...taken })
      this.#faults.update()
    }
    return taken
  }

  /** A Gateway that is deleted, or that asks for another address, frees its address for Gateways without one. */
  #freeAddresses(removed: readonly ApiObject[], set: readonly ApiObject[]): void {
    const deleted = removed.filter(isGateway)
    for (const gateway of deleted) this.#addresses.release(keyOf(gateway))
    if (deleted.length === 0 && !set.some(isGateway)) return
    this.#tables.addressesFreed.put('any', '', [++this.#addressesFreed])
  }

  /** Writes statuses again: others have changed them, or a client may have removed our part. */
  #tellAgain(keys: readonly string[]): void {
    for (const key of keys) if (!this.#tables.statuses.isEmpty(key)) this.#changedStatuses.add(key)
  }

  /** Writes all statuses again. */
  tellAll(): void {
    for (const key of this.#tables.statuses.keys()) this.#changedStatuses.add(key)
  }

  /** Replaces the problems found while the plan was compiled, for these objects. @param problems by key of the object */
  noteProblems(problems: ReadonlyMap<string, readonly Finding[]>): void {
    for (const [key, findings] of problems) this.#tables.problems.put(key, '', findings)
    this.#faults.update()
  }

  /** Replaces the problems of the deployment of a Gateway. @param gateway its key */
  noteDeployment(gateway: string, findings: readonly Finding[]): void {
    this.#tables.problems.put(gateway, 'deployment', findings)
    this.#faults.update()
  }

  /** Replaces the versions of the definitions of the cluster; undefined: they are not known. */
  noteDefinitions(versions: DefinitionVersions | undefined): void {
    this.#tables.definitions.put('all', '', versions === undefined ? [] : [versions])
    this.#faults.update()
  }

  /** Replaces the states of the sockets in the data plane. @param bindings by `socketKey`; a socket that is missing is pending */
  noteBindings(version: number, bindings: ReadonlyMap<string, Binding>): void {
    this.#reports.bound(version, bindings)
    this.#faults.update()
  }

  /** Replaces what a proxy of another process reports. @param state undefined: it is gone */
  noteReport(proxy: RemoteProxy, state: ReportedState | undefined): void {
    this.#reports.reported(proxy, state)
    this.#faults.update()
  }

  /** Replaces the reasons why newer versions of objects are refused, by key of the object. */
  noteRefusedEdits(reasons: ReadonlyMap<string, string>): void {
    for (const key of new Set([...this.#refusedEdits.keys(), ...reasons.keys()])) {
      if (this.#refusedEdits.get(key) !== reasons.get(key)) this.#tellAgain([key])
    }
    this.#refusedEdits = reasons
  }

  /** Adds a fact about a backend that was observed in traffic. Only the first one with each key is kept. */
  noteFact(fact: BackendFact): void {
    const key = factKey(fact)
    if (this.#tables.facts.rows(key).length > 0) return
    this.#tables.facts.put(key, '', [fact])
    this.#faults.update()
  }

  forgetFacts(): void {
    for (const key of this.#tables.facts.keys()) this.#tables.facts.put(key, '', [])
    this.#faults.update()
  }

  /** The next time at which results change without a change of objects, in ms since the epoch; undefined: never. */
  get nextDeadline(): number | undefined {
    const times = this.#tables.deadlines.keys().map(Number)
    return times.length === 0 ? undefined : times.reduce((first, time) => Math.min(first, time))
  }

  /** Updates the results that depend on times that have passed. */
  passTime(): void {
    const now = clock.now()
    const due = this.#tables.deadlines.keys().filter((time) => now > Number(time))
    for (const time of due) this.#tables.passed.put(time, '', [true])
    this.#faults.update()
    // No node reads a time that has passed.
    for (const time of due) this.#tables.passed.put(time, '', [])
  }

  /** The changes of statuses since the last call. */
  takeStatuses(): StatusChange {
    const keys = [...this.#changedStatuses].sort()
    this.#changedStatuses.clear()
    const { statuses } = this.#tables
    return {
      written: keys.flatMap((key) => this.#statusOf(key)),
      withdrawn: keys.filter((key) => statuses.isEmpty(key)),
    }
  }

  /** All findings, if any of them changed since the last call. */
  takeFindings(): readonly Finding[] | undefined {
    if (!this.#findingsChanged) return undefined
    this.#findingsChanged = false
    return this.findings
  }

  /** All findings, in the order of the keys of the objects. */
  get findings(): readonly Finding[] {
    return allRows(this.#tables.allFindings)
  }

  get translation(): Translation {
    const statuses = this.#tables.statuses
      .keys()
      .sort()
      .flatMap((key) => this.#statusOf(key))
    return { items: this.#items, findings: this.findings, statuses }
  }

  /** Empty: this controller writes none. */
  #statusOf(key: string): readonly ObjectStatus[] {
    const refusedEdit = this.#refusedEdits.get(key)
    return this.#tables.statuses.rows(key).map((own) => completeStatus(own, refusedEdit, this.#names.controller))
  }

  #replaceRows<Row>(table: Table<Row>, rows: ReadonlyMap<string, readonly Row[]>): void {
    for (const key of table.keys()) if (!rows.has(key)) table.put(key, '', [])
    for (const [key, each] of rows) table.put(key, '', each)
  }

  #takeItems(): PlanChange {
    const set: PlanItem[] = []
    const removed: string[] = []
    for (const key of this.#changedItems) {
      const [item] = this.#tables.items.rows(key)
      const before = this.#items.get(key)
      if (item === before) continue
      if (item === undefined) {
        removed.push(key)
        this.#items.delete(key)
      } else {
        set.push(item)
        this.#items.set(key, item)
      }
    }
    this.#changedItems.clear()
    return { set, removed }
  }
}

function isGateway({ kind }: ApiObject): boolean {
  return kind === 'Gateway'
}

function byObject(policies: readonly RefusedPolicy[]): ReadonlyMap<string, readonly RefusedPolicy[]> {
  return Map.groupBy(policies, ({ origin: { kind, namespace, name } }) => objectKey(kind, namespace, name))
}

function allRows<Row>(table: Table<Row>): readonly Row[] {
  return table
    .keys()
    .sort()
    .flatMap((key) => table.rows(key))
}
