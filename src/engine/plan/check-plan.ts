import { policyDefinition } from '#api/policy-fields.ts'
import { byKey } from '#base/compare-text.ts'
import type { Finding } from '#base/finding.ts'
import { type NodeFault, Stages, type Work } from '#base/incremental/stage.ts'
import { Table } from '#base/incremental/table.ts'
import type { Origin } from '#base/origin.ts'
import { NO_PLAN_NAMES } from '#exchange/exchange.ts'
import { NO_COUNTER } from '#exchange/token-counter.ts'
import type { PlanChange } from '#plan/delta.ts'
import { FaultReports } from '#plan/fault-reports.ts'
import type {
  BackendItem,
  MeshDomains,
  PlanItem,
  PolicyItem,
  RelayRouteItem,
  RouteItem,
  SecretItem,
} from '#plan/item.ts'
import { type KeySetAddress, keySetId } from '#policies/shared/authentication/remote-key-set.ts'
import type { CredentialSource } from '#policies/shared/clouds/cloud-credential.ts'
import type { KeptKind } from '#policies/shared/kept/kept-copies.ts'
import { itemPath } from '#schema/index.ts'
import type { SlotChange } from '#state/slots.ts'
import type { BackendContext } from '../backend/backend-context.ts'
import { bindProtocol } from '../backend/bind-protocol.ts'
import { buildLiveBackend } from '../backend/build-backend.ts'
import { buildCalledBackend } from '../backend/called-backends.ts'
import type { LiveBackend } from '../backend/live-backend.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { byPrecedence } from '../lookups/plan-index.ts'
import { compileSetting, mergeSection } from '../merge/build-chain.ts'
import { PlanCompileContext, quietContext, type SharedState } from '../merge/compile-context.ts'
import { allSourcesOf, isSourceOf } from '../merge/merge.ts'
import { unmetNeeds } from './backend-needs.ts'
import { misreadPaths, type Use, usesOfRule } from './check-uses.ts'
import { failoverProblems } from './failover.ts'
import { guardedMirrors } from './guarded-mirrors.ts'
import { openForwardProxies } from './open-forward-proxy.ts'
import { sharedLocationProblem, weakenedProblem } from './shared-location.ts'
import { optionalIdentities, unusedIdentityProblem } from './unused-identity.ts'
import { type SourceChange, WantedSources } from './wanted-sources.ts'

/** The results of a check that changed since the previous one. */
export interface Checked {
  /** All findings of the objects whose findings changed, by key of the object. */
  readonly problems: ReadonlyMap<string, readonly Finding[]>
  /** Shared slots that are newly needed, and those that are no longer needed. */
  readonly slots: SlotChange
  readonly sources: SourceChanges
}

/** Changes of the sources of values that policies refer to. */
export interface SourceChanges {
  readonly keySets: SourceChange<KeySetAddress>
  readonly credentials: SourceChange<CredentialSource>
}

type Runtime = Pick<SharedState, 'passwords' | 'tokenCounter' | 'sealer'>

/** What a check needs: it compiles, and serves no requests. */
export type CheckedState = Omit<SharedState, keyof Runtime>

const NO_REQUESTS: Runtime = {
  passwords: { check: () => 'wrong' },
  tokenCounter: NO_COUNTER,
  sealer: { seal: () => '', open: () => undefined },
}

/**
 * Compiles every policy of a plan once, and every backend once for each different set of policies that rules use it with, as the workers
 * will, to find problems and the shared slots they need. Items are compiled again only if they or an object they refer to changed.
 */
export class PlanCheck {
  readonly #items = new Table<PlanItem>('items')
  readonly #policiesAt = new Table<PolicyItem>('policiesAt', byPrecedence)
  /** Rules by key of the backends that they refer to. */
  readonly #rulesTo = new Table<RouteItem>('rulesTo', byKey)
  /** By use: one row for each rule with this use. By backend: one row for each of its uses. */
  readonly #uses = new Table<Use>('uses')
  readonly #usesOf = new Table<true>('usesOf')
  /** By authentication policy that requires no credential: one row for each rule where it is in force, and whether the rule uses the identity. */
  readonly #identities = new Table<boolean>('identities')
  readonly #secretsIn = new Table<SecretItem>('secretsIn', byKey)
  /** At `any`: those of the Gateways in a mesh. */
  readonly #meshes = new Table<MeshDomains>('meshes')
  readonly #problems = new Table<Finding>('problems')
  readonly #slots = new Table<number>('slots')
  readonly #keySets = new WantedSources('keySets', keySetId)
  readonly #credentials = new WantedSources<CredentialSource>('credentials', ({ id }) => id)
  readonly #stages: Stages
  readonly #faults: FaultReports
  readonly #changedProblems = new Set<string>()
  readonly #changedSlots = new Set<string>()
  readonly #assigned = new Map<string, number>()
  readonly #state: SharedState

  /**
   * @param state assigns slots
   * @param onFault called when an item makes the compiler throw, which other items do not notice; by default, the error is thrown again
   */
  constructor(state: CheckedState, onFault?: (fault: NodeFault) => void) {
    this.#state = { ...state, ...NO_REQUESTS }
    this.#stages = new Stages(onFault)
    this.#faults = new FaultReports(this.#stages, this.#problems, ({ rows: [row] }) => this.#originOf(row as Use))
    this.#problems.watch((key) => this.#changedProblems.add(key))
    this.#slots.watch((key) => this.#changedSlots.add(key))
    this.#stages.add({
      name: 'uses',
      each: [this.#items],
      writes: [this.#uses, this.#identities, this.#problems],
      run: ([item], work) => {
        if (item!.kind === 'route') this.#findUses(item!, work)
        else if (item!.kind === 'relay-route') this.#checkForwarding(item!, work)
      },
    })
    this.#stages.add({
      name: 'compiledUses',
      each: [this.#uses],
      writes: [this.#usesOf, this.#problems, this.#slots, this.#keySets.table, this.#credentials.table],
      run: ([use], work) => {
        work.write(this.#usesOf, use!.backend, true)
        this.#compileUse(use!, work)
      },
    })
    this.#stages.add({
      name: 'compile',
      each: [this.#items],
      writes: [this.#problems, this.#slots, this.#keySets.table, this.#credentials.table],
      run: ([item], work) => {
        if (item!.kind === 'policy' || item!.kind === 'backend') this.#compile(item!, work)
      },
    })
  }

  take({ set, removed }: PlanChange): Checked {
    for (const key of removed) this.#put(key, undefined)
    for (const item of set) this.#put(item.key, item)
    this.#update()
    return { problems: this.#takeProblems(), slots: this.#takeSlots(), sources: this.#takeSources() }
  }

  /**
   * Compiles the policies that refer to a kept value again after its state changed.
   * @returns the changed findings, as in `Checked`
   */
  keptChanged(of: KeptKind, id: string): Checked['problems'] {
    const sources = of === 'key-set' ? this.#keySets : this.#credentials
    sources.stateChanged(id)
    this.#update()
    return this.#takeProblems()
  }

  #update(): void {
    this.#stages.update()
    this.#faults.update()
  }

  #originOf({ backend }: Use): Origin | undefined {
    return this.#items.rows(backend)[0]?.origin
  }

  /** A backend for calls of the gateway; undefined if there is none with that key. */
  calledBackend(key: string): LiveBackend | undefined {
    const lookups: Lookups = {
      item: (key) => this.#items.rows(key)[0],
      policiesAt: (target) => this.#policiesAt.rows(target),
      secretsIn: (namespace) => this.#secretsIn.rows(namespace),
      mesh: () => this.#meshes.rows('any')[0],
    }
    return buildCalledBackend(key, lookups, this.#state)
  }

  #put(key: string, item: PlanItem | undefined): void {
    const [before] = this.#items.rows(key)
    this.#items.put(key, '', item === undefined ? [] : [item])
    this.#index(key, before, item)
  }

  #index(key: string, before: PlanItem | undefined, item: PlanItem | undefined): void {
    if (before?.kind === 'policy') this.#policiesAt.put(before.target, key, [])
    if (item?.kind === 'policy') this.#policiesAt.put(item.target, key, [item])
    if (before?.kind === 'route') for (const backend of backendsOf(before)) this.#rulesTo.put(backend, key, [])
    if (item?.kind === 'route') for (const backend of backendsOf(item)) this.#rulesTo.put(backend, key, [item])
    if (before?.kind === 'secret') this.#secretsIn.put(before.namespace, key, [])
    if (item?.kind === 'secret') this.#secretsIn.put(item.namespace, key, [item])
    if (before?.kind === 'gateway') this.#meshes.put('any', key, [])
    if (item?.kind === 'gateway') this.#meshes.put('any', key, item.mesh === undefined ? [] : [item.mesh])
  }

  #compile(item: PolicyItem | BackendItem, work: Work): void {
    const lookups = this.#lookups(work)
    const state = this.#recording(work)
    if (item.kind === 'backend') {
      // A backend that routes use is checked with the policies of its uses.
      if (work.count(this.#usesOf, item.key) === 0) {
        this.#compileUse({ backend: item.key, targets: [] }, work)
      }
      if (groupsOf(item, lookups) < 2) return
      for (const { group, ...problem } of failoverProblems(item, work.read(this.#rulesTo, item.key), lookups)) {
        const path = group === undefined ? '.groups' : itemPath('.groups', group)
        this.#context(work).report(bindProtocol(item).backend, path, problem)
      }
      return
    }
    // Problems of what never applies would contradict its status, which says that it is overridden.
    if (isOverridden(item, lookups)) return
    const context = new PlanCompileContext(lookups, state, (finding) => {
      const key = originKey(finding.origin)
      // Other policies report their own problems. Advice on section backend depends on policies of other targets: uses report it.
      if (key !== originKey(item.origin) || (item.section === 'backend' && finding.severity === 'advice')) return
      work.write(this.#problems, key, finding)
    })
    checkPolicy(item, lookups, context)
    adviseOnCombination(item, { lookups, context, silent: quietContext(lookups, this.#state) })
    const shared = sharedLocationProblem(item, lookups)
    if (shared !== undefined) context.report(item, '', shared)
    const weakened = weakenedProblem(item, lookups)
    if (weakened !== undefined) context.report(item, weakened.path, weakened)
    const unused = unusedIdentityProblem(item, (key) => work.read(this.#identities, key))
    if (unused !== undefined) context.report(item, unused.path, unused)
    for (const problem of unmetNeeds(item, lookups)) context.report(item, problem.path, problem)
    const isGuarded = (key: string) => buildCalledBackend(key, lookups, this.#state)?.protocol.isGuarded === true
    for (const problem of guardedMirrors(item, isGuarded)) {
      work.write(this.#problems, originKey(item.origin), { ...problem, origin: item.origin })
    }
  }

  #findUses(rule: RouteItem, work: Work): void {
    const lookups = this.#lookups(work)
    const uses = usesOfRule(rule, lookups)
    for (const [key, use] of uses) work.write(this.#uses, key, use)
    for (const problem of misreadPaths(rule, uses.values(), lookups)) {
      work.write(this.#problems, originKey(rule.origin), { ...problem, origin: rule.origin })
    }
    for (const [policy, isUsed] of optionalIdentities(rule, lookups)) work.write(this.#identities, policy, isUsed)
    this.#checkForwarding(rule, work)
  }

  #checkForwarding(rule: RouteItem | RelayRouteItem, work: Work): void {
    for (const problem of openForwardProxies(rule, this.#lookups(work))) {
      work.write(this.#problems, originKey(rule.origin), { ...problem, origin: rule.origin })
    }
  }

  #compileUse(use: Use, work: Work): void {
    const lookups = this.#lookups(work)
    const item = lookups.item(use.backend)
    if (item?.kind !== 'backend') return
    checkUse(item, use.targets, { lookups, context: this.#context(work), state: this.#recording(work) })
  }

  #lookups(work: Work): Lookups {
    return {
      item: (key) => work.read(this.#items, key)[0],
      policiesAt: (target) => work.read(this.#policiesAt, target),
      secretsIn: (namespace) => work.read(this.#secretsIn, namespace),
      mesh: () => work.read(this.#meshes, 'any')[0],
    }
  }

  /** A context that records problems as findings of the object that they belong to. */
  #context(work: Work): PlanCompileContext {
    return new PlanCompileContext(this.#lookups(work), this.#recording(work), (finding) =>
      work.write(this.#problems, originKey(finding.origin), finding),
    )
  }

  /** Records the slots and kept values that are used. */
  #recording(work: Work): SharedState {
    const state = this.#state
    return {
      ...state,
      slotOf: (key) => {
        const slot = state.slotOf(key)
        if (slot !== undefined) work.write(this.#slots, key, slot)
        return slot
      },
      keySets: {
        at: (address) => {
          const [backend] = work.read(this.#items, address.backend)
          this.#keySets.record(work, address, backend, address.cacheMs)
          return state.keySets.at(address)
        },
      },
      clouds: {
        ...state.clouds,
        credentials: {
          at: (source) => {
            this.#credentials.record(work, source, undefined, 0)
            return state.clouds.credentials.at(source)
          },
        },
      },
    }
  }

  #takeProblems(): Checked['problems'] {
    const problems = new Map([...this.#changedProblems].map((key) => [key, this.#problems.rows(key)]))
    this.#changedProblems.clear()
    return problems
  }

  #takeSources(): SourceChanges {
    return { keySets: this.#keySets.takeChange(), credentials: this.#credentials.takeChange() }
  }

  #takeSlots(): SlotChange {
    const assigned: [key: string, slot: number][] = []
    const freed: string[] = []
    for (const key of this.#changedSlots) {
      const [slot] = this.#slots.rows(key)
      if (slot === this.#assigned.get(key)) continue
      if (slot === undefined) {
        freed.push(key)
        this.#assigned.delete(key)
      } else {
        assigned.push([key, slot])
        this.#assigned.set(key, slot)
      }
    }
    this.#changedSlots.clear()
    return { assigned, freed }
  }
}

function backendsOf({ backends }: RouteItem): string[] {
  return backends.flatMap(({ backend }) => backend ?? [])
}

function originKey({ kind, namespace, name }: Origin): string {
  return `${kind}/${namespace}/${name}`
}

/** Whether another policy for the same target takes the whole field. */
function isOverridden(item: PolicyItem, lookups: Lookups): boolean {
  const { section, phase, target, field } = item
  if (policyDefinition(section, field)?.accumulates !== undefined) return false
  const sources = mergeSection({ section, phase, targets: [target] }, lookups).get(field)?.sources
  return sources !== undefined && !sources.some(({ key }) => key === item.key)
}

/** Rules that apply from every level are checked with those of other policies for the same target. */
function checkPolicy(item: PolicyItem, lookups: Lookups, context: PlanCompileContext): void {
  const { section, phase, target } = item
  const definition = policyDefinition(section, item.field)
  if (definition === undefined || !isSourceOf(definition, item)) return
  const sources =
    definition.accumulates === undefined
      ? [item]
      : allSourcesOf(definition, mergeSection({ section, phase, targets: [target] }, lookups))
  definition.compile(sources, context)
}

interface CheckContext {
  readonly lookups: Lookups
  readonly context: PlanCompileContext
  /** Reports nothing, for compiling the other field. */
  readonly silent: PlanCompileContext
}

function adviseOnCombination(item: PolicyItem, { lookups, context, silent }: CheckContext): void {
  const { section, phase, target } = item
  const definition = policyDefinition(section, item.field)
  if (definition?.together === undefined || !isSourceOf(definition, item)) return
  const other = policyDefinition(section, definition.together.with)
  if (other?.kind !== 'setting') return
  const fields = mergeSection({ section, phase, targets: [target] }, lookups)
  definition.together.advise(item, compileSetting(other, fields, silent) as never, context)
}

/** The number of the priority groups of a backend. */
function groupsOf(item: BackendItem, lookups: Lookups): number {
  return bindProtocol(item).addresses(lookups).length
}

/** Checks a backend as rules use it. @param targets outside of the backend whose policies apply to it */
function checkUse(item: BackendItem, targets: readonly string[], inputs: BackendContext): void {
  const reference = { backend: item.key, weight: 1, path: '' }
  buildLiveBackend({ reference, names: NO_PLAN_NAMES, targets, carries: 'requests' }, inputs)
}
