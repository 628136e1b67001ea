import { closeSync } from 'node:fs'
import { byKey } from '#base/compare-text.ts'
import type { Finding } from '#base/finding.ts'
import type { NodeFault } from '#base/incremental/stage.ts'
import { secretsOfItem } from '#control/secret-values.ts'
import type { LiveBackend } from '#engine/backend/live-backend.ts'
import type { SharedState } from '#engine/merge/compile-context.ts'
import { type CheckedState, PlanCheck, type SourceChanges } from '#engine/plan/check-plan.ts'
import { ForwardRules } from '#net/connect/forward-rules.ts'
import type { OperatorSocket } from '#net/connect/own-machine.ts'
import { ownMachine } from '#net/connect/own-sockets.ts'
import type { Binding } from '#plan/binding.ts'
import { type CircuitId, parseCircuitKey } from '#plan/circuit-key.ts'
import type { PlanDelta } from '#plan/delta.ts'
import { type EndpointId, parseEndpointKey } from '#plan/endpoint-key.ts'
import type { ListenerItem, PlanItem } from '#plan/item.ts'
import { type ListeningSocket, socketKey } from '#plan/socket.ts'
import { KeptCopies, type KeptKind, type KeptUpdate } from '#policies/shared/kept/kept-copies.ts'
import type { BucketLevels } from '#state/bucket-levels.ts'
import { isCircuitOpen } from '#state/circuit.ts'
import { type EndpointState, readEndpointState } from '#state/endpoint-health.ts'
import { type SlotAssignment, SlotDirectory, type SlotMemory } from '#state/slots.ts'
import { importKey } from '#workers/import-key.ts'
import type { SecretChange } from '#workers/messages.ts'
import type { PlanUpdate, Published } from '#workers/worker-pool.ts'
import { planState } from './plan-state.ts'
import { probeSocket } from './probe-socket.ts'

const UNCHANGED = { wanted: [], dropped: [] }

/** The circuit of the service of a prompt guard, for operators. */
export interface CircuitState extends CircuitId {
  readonly isOpen: boolean
}

interface PublisherOptions extends Pick<SharedState, 'evicted'> {
  /** Sockets of the servers for operators. */
  readonly servers?: () => readonly OperatorSocket[]
  /** Sockets for traffic that the process inherited. */
  readonly inherited?: readonly ListeningSocket[]
  /** Called when an item makes the check of the plan throw; by default, the error is thrown again. */
  readonly onFault?: (fault: NodeFault) => void
}

/**
 * Processes changes between translation and the workers: checks the plan, assigns shared slots to its state, and checks which sockets can
 * be opened. It processes one change after the other.
 */
export class PlanPublisher {
  readonly #memory: SlotMemory
  readonly #directory: SlotDirectory
  readonly #check: PlanCheck
  readonly #open = new Set<string>()
  readonly #refused = new Map<string, string>()
  readonly #items = new Map<string, PlanItem>()
  readonly #listeners = new Map<string, ListenerItem>()
  /** Items changed since the last update of the workers. */
  readonly #changed = new Set<string>()
  /** Keys of the items with secrets that the workers have. */
  readonly #withSecrets = new Set<string>()
  /** Keys of slots that were assigned or freed since then. */
  readonly #changedSlots = new Set<string>()
  readonly #levels: BucketLevels
  readonly #kept = new KeptCopies(importKey)
  /** Those that no worker has got yet. */
  #inherited: readonly ListeningSocket[]
  #sources: SourceChanges = { keySets: UNCHANGED, credentials: UNCHANGED }
  #version = 0

  constructor(memory: SlotMemory, levels: BucketLevels, options: PublisherOptions = {}) {
    const { evicted, servers = () => [], inherited = [], onFault } = options
    this.#inherited = inherited
    this.#memory = memory
    this.#directory = new SlotDirectory(memory)
    this.#levels = levels
    const state: CheckedState = {
      ...planState(memory, this.#directory, this.#kept),
      levels,
      ...(evicted && { evicted }),
      forwardRules: new ForwardRules([], ownMachine({ servers })),
    }
    this.#check = new PlanCheck(state, onFault)
  }

  get items(): ReadonlyMap<string, PlanItem> {
    return this.#items
  }

  get version(): number {
    return this.#version
  }

  /** In the order of their keys. */
  get listeners(): readonly ListenerItem[] {
    return [...this.#listeners.values()].sort(byKey)
  }

  /** Processes a change. @returns all problems of the objects whose policies or backends compile differently than before, by key */
  take(delta: PlanDelta): ReadonlyMap<string, readonly Finding[]> {
    this.#version = delta.version
    for (const key of delta.removed) this.#replace(key, undefined)
    for (const item of delta.set) this.#replace(item.key, item)
    const { problems, slots, sources } = this.#check.take(delta)
    this.#sources = sources
    for (const key of slots.freed) {
      this.#directory.free(key)
      this.#levels.closed(key)
      this.#changedSlots.add(key)
    }
    for (const [key] of slots.assigned) this.#changedSlots.add(key)
    return problems
  }

  /** The effect of the last change on the values to fetch. */
  get sources(): SourceChanges {
    return this.#sources
  }

  /** Processes the current state of a kept value. @returns problems, as `take` does */
  keptChanged(update: KeptUpdate): ReadonlyMap<string, readonly Finding[]> {
    this.#kept.update(update)
    return this.#check.keptChanged(update.of, update.state.id)
  }

  forgetKept(of: KeptKind, id: string): void {
    this.#kept.remove(of, id)
  }

  /** A backend for calls of the gateway itself. */
  calledBackend(key: string): LiveBackend | undefined {
    return this.#check.calledBackend(key)
  }

  /** The endpoints of all backends, in the order of their keys. */
  get endpoints(): (EndpointId & EndpointState)[] {
    return this.#stateOf(parseEndpointKey, (slot) => readEndpointState(this.#memory, slot))
  }

  /** The circuits of all services of prompt guards, in the order of their keys. */
  get circuits(): CircuitState[] {
    return this.#stateOf(parseCircuitKey, (slot) => ({ isOpen: isCircuitOpen(this.#memory, slot) }))
  }

  /** The state of all slots whose keys are of one kind. */
  #stateOf<Id extends object, State extends object>(
    parse: (key: string) => Id | undefined,
    read: (slot: number) => State,
  ): (Id & State)[] {
    return this.#directory
      .assignments()
      .flatMap(([key, slot]) => {
        const id = parse(key)
        return id === undefined ? [] : [{ key, slot, id }]
      })
      .sort(byKey)
      .map(({ id, slot }) => ({ ...id, ...read(slot) }))
  }

  #replace(key: string, item: PlanItem | undefined): void {
    this.#changed.add(key)
    if (item === undefined) this.#items.delete(key)
    else this.#items.set(key, item)
    if (item?.kind === 'listener') this.#listeners.set(key, item)
    else this.#listeners.delete(key)
  }

  /** Tries the sockets that are not open yet. @returns the update for the workers: everything since the last one */
  async publish(): Promise<Published> {
    const wanted = new Map([...this.#listeners.values()].map((item) => [socketKey(item), item]))
    for (const socket of [...this.#open]) if (!wanted.has(socket)) this.#open.delete(socket)
    this.#refused.clear()
    for (const [socket, { address, port }] of wanted) {
      if (this.#open.has(socket)) continue
      const isInherited = this.#inherited.some((one) => one.socket === socket)
      const message = isInherited ? undefined : await probeSocket(address, port)
      if (message === undefined) this.#open.add(socket)
      else this.#refused.set(socket, message)
    }
    const inherited = this.#inherited.filter(({ socket }) => this.#open.has(socket))
    this.#inherited = this.#inherited.filter(({ socket }) => !this.#open.has(socket))
    return { ...this.#takeChange(), sockets: [...this.#open], inherited, everything: () => this.#everything() }
  }

  /** Closes the inherited sockets that no plan has wanted so far. */
  closeInherited(): void {
    for (const { descriptor } of this.#inherited) closeSync(descriptor)
    this.#inherited = []
  }

  #takeChange(): PlanUpdate {
    const set: PlanItem[] = []
    const removed: string[] = []
    for (const key of this.#changed) {
      const item = this.#items.get(key)
      if (item === undefined) removed.push(key)
      else set.push(item)
    }
    const assigned: SlotAssignment[] = []
    const freed: string[] = []
    for (const key of this.#changedSlots) {
      if (this.#directory.slotOf(key) === undefined) freed.push(key)
      else assigned.push(this.#directory.assignment(key))
    }
    const secrets = this.#changedSecrets()
    this.#changed.clear()
    this.#changedSlots.clear()
    return { delta: { version: this.#version, set, removed }, slots: { assigned, freed }, secrets }
  }

  #changedSecrets(): SecretChange {
    const changed: [key: string, secrets: readonly string[]][] = []
    for (const key of this.#changed) {
      const secrets = this.#secretsOf(key)
      if (secrets.length === 0 && !this.#withSecrets.delete(key)) continue
      if (secrets.length > 0) this.#withSecrets.add(key)
      changed.push([key, secrets])
    }
    return changed
  }

  #secretsOf(key: string): readonly string[] {
    const item = this.#items.get(key)
    return item === undefined ? [] : secretsOfItem(item)
  }

  #everything(): PlanUpdate {
    return {
      delta: { version: this.#version, set: [...this.#items.values()], removed: [] },
      slots: { assigned: this.#directory.assignments(), freed: [] },
      secrets: [...this.#withSecrets].map((key) => [key, this.#secretsOf(key)]),
    }
  }

  /** Sockets that could not be opened, with the reason. */
  get refused(): ReadonlyMap<string, string> {
    return this.#refused
  }

  /** A worker could not open a socket that was free before. */
  lost(socket: string, message: string): void {
    this.#open.delete(socket)
    this.#refused.set(socket, message)
  }

  /** State of every socket once the workers have applied the plan, by `socketKey`. */
  bindings(): Map<string, Binding> {
    const bindings = new Map<string, Binding>()
    for (const item of this.#listeners.values()) {
      const socket = socketKey(item)
      const message = this.#refused.get(socket)
      bindings.set(
        socket,
        message === undefined ? { state: 'bound' } : { state: 'failed', reason: 'PortUnavailable', message },
      )
    }
    return bindings
  }
}
