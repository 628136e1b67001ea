import type { EventEmitter } from 'node:events'
import v8 from 'node:v8'
import { Worker } from 'node:worker_threads'
import { clock } from '#base/clock.ts'
import type { PriceList } from '#models/price-book.ts'
import type { OperatorSocket } from '#net/connect/own-machine.ts'
import type { MeshMaterial } from '#net/hbone/mesh-material.ts'
import type { GatheredRecords, NewRecords } from '#observe/decision-ring.ts'
import type { LogMessage } from '#observe/log/application-log.ts'
import { type GatheredSessions, mergeSessions } from '#observe/mcp-session-report.ts'
import type { MetricsUpdate } from '#observe/metrics/metrics-writer.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import type { PlanDelta } from '#plan/delta.ts'
import type { ListeningSocket } from '#plan/socket.ts'
import type { ThreadShare } from '#policies/shared/ext-auth/verdict-cache.ts'
import type { KeptKind, KeptUpdate } from '#policies/shared/kept/kept-copies.ts'
import { createInstantMemory } from '#state/instant-memory.ts'
import { createLoadMemory } from '#state/load.ts'
import { LocalTable } from '#state/shared-table.ts'
import type { SlotChange } from '#state/slots.ts'
import { ChannelRelay } from './channel-relay.ts'
import type { ExportState, FromWorker, LogState, SecretChange, ToWorker, WorkerStart } from './messages.ts'
import { type ProfileRequest, type ProfileResult, Profiles } from './profiles.ts'
import { type Answers, Questions } from './questions.ts'
import { TicketKeys } from './ticket-keys.ts'
import { CountingThreads } from './token-counts/counting-threads.ts'
import { Watchdog } from './watchdog.ts'

/** The plan for the data plane. */
export interface Published extends PlanUpdate {
  readonly sockets: readonly string[]
  /** Sockets that the process inherited and that no worker has got yet; default: none. */
  readonly inherited?: readonly ListeningSocket[]
  /** Sockets of the servers of the main thread; default: none. */
  readonly operatorSockets?: readonly OperatorSocket[]
  /** The whole plan, for a new worker. */
  readonly everything: () => PlanUpdate
}

/** The changes since the previous version. */
export interface PlanUpdate {
  readonly delta: PlanDelta
  readonly slots: SlotChange
  readonly secrets: SecretChange
}

/** `died`: its thread ended. `stuck`: its event loop was blocked. */
export const REPLACED_FOR = ['died', 'stuck'] as const
export type ReplacedFor = (typeof REPLACED_FOR)[number]

/** Settings for tests. */
export interface WorkerPoolTuning {
  readonly stuckAfterMs?: number
  readonly answerMs?: number
  /** Default: a thread of its own. */
  readonly startThread?: StartThread | undefined
}

/** What the pool uses of the thread of a worker. */
export type WorkerThread = Pick<Worker, 'postMessage' | 'terminate' | 'performance'> & Pick<EventEmitter, 'on' | 'once'>

/** Starts a worker. Its messages, its error and its end are the events of a `Worker`. */
export type StartThread = (start: WorkerStart) => WorkerThread

export interface WorkerPoolEvents {
  /** All workers run with this version; `failed`: sockets that some worker could not open. */
  applied(version: number, failed: readonly { readonly socket: string; readonly message: string }[]): void
  /** A worker died or was stuck, and another one is being started. */
  replaced(name: string, why: ReplacedFor, cause: string): void
  metrics(worker: string, update: MetricsUpdate): void
  /** The last decisions of a worker that ends. */
  lastRecords(records: NewRecords): void
  /** Its thread has ended: it sends no more messages and counts nothing more. @param decisions how many it has made */
  ended(worker: string, decisions: number): void
  /** A fact from traffic about a backend of the plan of that version. */
  fact(version: number, fact: BackendFact): void
  /** `fullWorkers` has changed. */
  fullWorkersChanged(): void
  /** The access log of a worker cannot be written, or can be again. */
  log(worker: string, state: LogState): void
  /** An OTLP server has begun to refuse what a worker exports, or takes it again. */
  exports(worker: string, state: ExportState): void
  /** Requests of a worker wait for a value that it does not have. */
  askedForKept(of: KeptKind, id: string, fetchedMs: number): void
  /** A worker has something to log. */
  readonly message: LogMessage
  /** A request hit a bug; its client got the id. */
  bug(decisionId: string, stack: string): void
}

// `bin/gatewright` limits the young generation of the main thread: its data lives long, and 48 MB for short-lived data save no time there.
// Workers have the default, because requests are short-lived data.
v8.setFlagsFromString('--max-semi-space-size=0')

/** Delay before a worker that died before it served is replaced. */
const RESPAWN_MS = 1000

/** How much later than the others a worker may stop to accept before requests are drained without it. */
const LATE_MS = 500

/** A thread that is still running this long after the maximum, because its code does not return, is terminated. It logs nothing then. */
const ENDING_MS = 5000

/** About half a megabyte. */
const ITEMS_OF_PART = 500

/** Time limit of a worker for a question of an operator. */
const ANSWER_MS = 2000

/** Beside this module: in the source, and in the bundle (`build/bundle.mjs`). */
const ENTRY = import.meta.url.endsWith('.ts') ? './proxy-worker.ts' : './proxy-worker.js'

/** Common settings of all workers. */
type CommonStart = Omit<
  WorkerStart,
  'name' | 'share' | 'load' | 'ticketKeys' | 'table' | 'instant' | 'turns' | 'turnMs' | 'decisions'
>

interface Member {
  readonly name: string
  readonly share: ThreadShare
  readonly thread: WorkerThread
  /** It accepts no more connections. */
  readonly stopped: PromiseWithResolvers<void>
  version: number
  failed: readonly { readonly socket: string; readonly message: string }[]
  /** It refuses new requests. */
  heapIsFull: boolean
}

/**
 * The proxy workers of one instance. All of them listen on the same sockets. A worker that dies is replaced by a new one with the current
 * plan, and the others continue.
 */
export class WorkerPool {
  readonly #start: CommonStart
  readonly #events: WorkerPoolEvents
  readonly #startThread: StartThread
  readonly #members = new Map<string, Member>()
  readonly #questions: Questions
  readonly #profiles = new Profiles()
  readonly #watchdog: Watchdog
  readonly #load: SharedArrayBuffer
  readonly #instant = createInstantMemory()
  readonly #countingThreads = new CountingThreads((error) =>
    this.#events.message('workers', 'warn', 'the thread that counts tokens failed; counts are estimated without it', {
      cause: `${error}`,
    }),
  )
  readonly #ticketKeys = new TicketKeys((keys) => this.#broadcast({ kind: 'ticket-keys', keys }))
  /** For later workers. */
  readonly #table = new LocalTable()
  readonly #channels = new ChannelRelay((worker, message) => this.#members.get(worker)?.thread.postMessage(message))
  #published: Published | undefined
  /** For later workers; by kind and id. */
  readonly #kept = new Map<string, KeptUpdate>()
  /** For later workers; undefined: nothing needs prices. */
  #prices: PriceList | undefined
  /** For later workers; undefined: the gateway is in no mesh, or has no certificate yet. */
  #meshMaterial: MeshMaterial | undefined
  #nextName = 1
  /** Requests and relayed connections that the maximum of the shutdown ended, in all workers. */
  #cutOff = 0
  #closing = false
  #isTuned = false

  constructor(count: number, start: CommonStart, events: WorkerPoolEvents, tuning: WorkerPoolTuning = {}) {
    this.#start = start
    this.#load = createLoadMemory(count)
    this.#events = events
    this.#questions = new Questions(tuning.answerMs ?? ANSWER_MS)
    this.#startThread = tuning.startThread ?? startThreadOf(new URL(ENTRY, import.meta.url))
    this.#watchdog = new Watchdog((name) => this.#end(name), tuning.stuckAfterMs)
    for (let place = 0; place < count; place++) this.#spawn({ place, threads: count })
  }

  /** The threads, and the plan version of each. */
  get members(): { readonly name: string; readonly planVersion: number }[] {
    return [...this.#members.values()].map(({ name, version }) => ({ name, planVersion: version }))
  }

  /** Those that refuse new requests, because their heaps are nearly full. */
  get fullWorkers(): string[] {
    return [...this.#members.values()].filter(({ heapIsFull }) => heapIsFull).map(({ name }) => name)
  }

  /** Time that the event loop of each worker was busy, in seconds. */
  get busySeconds(): (readonly [name: string, seconds: number])[] {
    return [...this.#members.values()].map(({ name, thread }) => [
      name,
      thread.performance.eventLoopUtilization().active / 1000,
    ])
  }

  publish(published: Published): void {
    // The descriptors are those of the workers from now on: a later one opens sockets of its own.
    this.#published = { ...published, inherited: [] }
    for (const message of planMessages(published, published)) this.#broadcast(message)
  }

  publishKept(update: KeptUpdate): void {
    this.#kept.set(`${update.of} ${update.state.id}`, update)
    this.#broadcast({ kind: 'kept', update })
  }

  /** @param material undefined: there is none any more, and no tunnel can be opened or accepted */
  publishMeshMaterial(material: MeshMaterial | undefined): void {
    this.#meshMaterial = material
    this.#broadcast({ kind: 'mesh-material', material })
  }

  publishPrices(list: PriceList): void {
    this.#prices = list
    this.#broadcast({ kind: 'prices', list })
  }

  dropKept(of: KeptKind, id: string): void {
    this.#kept.delete(`${of} ${id}`)
    this.#broadcast({ kind: 'kept-dropped', of, id })
  }

  /** The newest decision records of all workers, without those of workers that do not respond in time. */
  async records(): Promise<GatheredRecords> {
    const { items, unanswered } = await this.#ask('records')
    return { records: items.toSorted((a, b) => b.time - a.time), unanswered }
  }

  /**
   * The decisions since the last ones that the reader got; a worker that it does not know yet begins with the oldest that it has kept.
   * @param known undefined: only how many there are
   */
  async newRecords(known: ReadonlyMap<string, number> | undefined): Promise<readonly NewRecords[]> {
    const { items } = await this.#ask('newRecords', (name) =>
      known === undefined ? Number.POSITIVE_INFINITY : (known.get(name) ?? 0),
    )
    return items
  }

  /** The sessions of MCP clients of all workers, without those of workers that do not respond in time. */
  async sessions(): Promise<GatheredSessions> {
    const { items, unanswered } = await this.#ask('sessions')
    return { sessions: mergeSessions(items), unanswered }
  }

  /** The sockets that the workers listen on; undefined: a worker did not respond in time. */
  async sockets(): Promise<readonly ListeningSocket[] | undefined> {
    const { items, unanswered } = await this.#ask('sockets')
    return unanswered.length === 0 ? items : undefined
  }

  /** Records a profile of one worker. */
  async profile(name: string, request: ProfileRequest): Promise<ProfileResult> {
    const member = this.#members.get(name)
    if (member === undefined) return { kind: 'failed', cause: 'there is no such worker' }
    return this.#profiles.record(name, request, (wanted) =>
      member.thread.postMessage({ kind: 'record-profile', ...wanted } satisfies ToWorker),
    )
  }

  /** Reopens the file of the access log. */
  reopenLog(): void {
    this.#broadcast({ kind: 'reopen-log' })
  }

  /** Stops accepting after `minMs`, lets requests finish until `maxMs`, then ends the threads. Resolves when all have ended. */
  async drain(minMs: number, maxMs: number): Promise<void> {
    this.#closing = true
    this.#ticketKeys.close()
    this.#watchdog.close()
    const members = [...this.#members.values()]
    const force = clock.after(maxMs + ENDING_MS, () => {
      for (const { thread } of members) void thread.terminate()
    })
    const ends = members.map(({ thread }) => new Promise<void>((resolve) => thread.once('exit', () => resolve())))
    const stops = members.map(({ stopped }, i) => Promise.race([stopped.promise, ends[i]]))
    // A client that one worker sends away connects again at once: it must not reach another one that is about to close its sockets.
    this.#broadcast({ kind: 'stop-accepting', minMs })
    const late = Promise.withResolvers<void>()
    const stopLate = clock.after(minMs + LATE_MS, () => late.resolve())
    await Promise.race([Promise.all(stops), late.promise])
    stopLate.cancel()
    this.#broadcast({ kind: 'drain', drainMs: Math.max(0, maxMs - minMs) })
    await Promise.all(ends)
    force.cancel()
    await this.#countingThreads.close()
    if (this.#cutOff === 0) return
    this.#events.message('instance', 'warn', 'requests were cut off, because the maximum of the shutdown was reached', {
      requests: this.#cutOff,
    })
  }

  /** Ends one thread at once; the pool replaces it. For tests and operators. */
  async kill(name: string): Promise<void> {
    await this.#members.get(name)?.thread.terminate()
  }

  #ask<About extends keyof Answers>(about: About, after: (worker: string) => number = () => 0) {
    const workers = [...this.#members.values()].map(({ name, thread }) => ({
      name,
      after: after(name),
      send: (question: ToWorker) => thread.postMessage(question),
    }))
    return this.#questions.ask(about, workers)
  }

  #spawn(share: ThreadShare): void {
    const name = `w${this.#nextName++}`
    const decisions = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT))
    const thread = this.#startThread({
      ...this.#start,
      name,
      share,
      load: this.#load,
      ticketKeys: this.#ticketKeys.current,
      table: this.#table.entries,
      instant: this.#instant,
      turns: this.#watchdog.watch(name),
      turnMs: this.#watchdog.turnMs,
      decisions: decisions.buffer,
    })
    const member: Member = {
      name,
      share,
      thread,
      stopped: Promise.withResolvers(),
      version: 0,
      failed: [],
      heapIsFull: false,
    }
    this.#members.set(name, member)
    let cause = 'the thread ended'
    thread.on('message', (message: FromWorker) => this.#receive(member, message))
    thread.on('error', (error) => {
      cause = error instanceof Error ? (error.stack ?? error.message) : String(error)
    })
    thread.on('exit', () => {
      this.#lose(member, 'died', cause)
      this.#events.ended(name, decisions[0]!)
    })
    for (const update of this.#kept.values()) thread.postMessage({ kind: 'kept', update } satisfies ToWorker)
    const material = this.#meshMaterial
    if (material !== undefined) thread.postMessage({ kind: 'mesh-material', material } satisfies ToWorker)
    if (this.#prices !== undefined) thread.postMessage({ kind: 'prices', list: this.#prices } satisfies ToWorker)
    const published = this.#published
    if (published === undefined) return
    for (const message of planMessages(published.everything(), published)) thread.postMessage(message)
  }

  /** The worker is replaced at once: a thread that is stuck in native code may take long to end. */
  #end(name: string): void {
    const member = this.#members.get(name)
    if (member === undefined) return
    this.#lose(member, 'stuck', `its event loop has been blocked for ${this.#watchdog.stuckAfterMs / 1000} s`)
    void member.thread.terminate()
  }

  #lose(member: Member, why: ReplacedFor, cause: string): void {
    if (!this.#members.delete(member.name)) return
    this.#watchdog.forget(member.name)
    this.#questions.forget(member.name)
    this.#profiles.forget(member.name)
    this.#channels.forget(member.name)
    if (this.#closing) return
    this.#events.replaced(member.name, why, cause)
    if (member.heapIsFull) this.#events.fullWorkersChanged()
    // A worker that cannot start would die again at once.
    if (member.version > 0) this.#spawn(member.share)
    else clock.after(RESPAWN_MS, () => this.#closing || this.#spawn(member.share))
  }

  #broadcast(message: ToWorker): void {
    for (const { thread } of this.#members.values()) thread.postMessage(message)
  }

  #receive(member: Member, message: FromWorker): void {
    if (message.kind === 'applied') {
      member.version = message.version
      member.failed = message.failed
      this.#reportWhenAllApplied()
    } else if (message.kind === 'answer') {
      this.#questions.answered(message)
    } else if (message.kind === 'metrics') {
      this.#events.metrics(member.name, message.update)
    } else if (message.kind === 'last-records') {
      this.#events.lastRecords(message.records)
    } else if (message.kind === 'profile-recorded') {
      this.#profiles.recorded(member.name, message.result)
    } else if (message.kind === 'heap') {
      member.heapIsFull = message.isFull
      this.#events.fullWorkersChanged()
    } else if (message.kind === 'log') {
      this.#events.log(member.name, message.state)
    } else if (message.kind === 'export') {
      this.#events.exports(member.name, message.state)
    } else if (message.kind === 'message') {
      this.#events.message(message.module, message.level, message.message, { worker: member.name, ...message.fields })
    } else if (message.kind === 'set-value') {
      this.#table.add(message.entry)
      for (const other of this.#members.values()) if (other !== member) other.thread.postMessage(message)
    } else if (message.kind === 'send-text') {
      this.#channels.relay(member.name, message.sent, [...this.#members.keys()])
    } else if (message.kind === 'text-answer') {
      this.#channels.answered(member.name, message.id, message.taken)
    } else if (message.kind === 'fact') {
      this.#events.fact(message.version, message.fact)
    } else if (message.kind === 'ask-kept') {
      this.#events.askedForKept(message.of, message.id, message.fetchedMs)
    } else if (message.kind === 'count-tokens') {
      this.#countingThreads.connect(message.port)
    } else if (message.kind === 'stopped-accepting') {
      member.stopped.resolve()
    } else if (message.kind === 'drained') {
      this.#cutOff += message.cutOff
    } else if (message.kind === 'bug') {
      this.#events.bug(message.decisionId, message.stack)
    }
  }

  #reportWhenAllApplied(): void {
    const version = this.#published?.delta.version
    const members = [...this.#members.values()]
    if (version === undefined || members.some((member) => member.version < version)) return
    if (!this.#isTuned) tuneForTraffic()
    this.#isTuned = true
    this.#events.applied(
      version,
      members.flatMap(({ failed }) => failed),
    )
  }
}

/**
 * Sets the flags of V8 for traffic, in all threads. Before the workers have loaded their code, V8 would refuse what is cached of it, and of the modules of
 * Node: it accepts only code that was compiled with the same flags.
 */
function tuneForTraffic(): void {
  // A request passes through many small functions; V8 inlines more of them with this budget (docs/decisions/0120-wire.md).
  v8.setFlagsFromString('--max-inlined-bytecode-size-cumulative=2500')
  // Otherwise V8 allocates what a request consists of among old objects as soon as a burst of requests has outlived a collection. Each of them
  // then keeps all young objects of its request until the next full collection (docs/decisions/0124-cost-of-llm-traffic.md).
  v8.setFlagsFromString('--no-allocation-site-pretenuring')
}

/** Starts workers with that code, each in a thread of its own. */
export function startThreadOf(entry: URL): StartThread {
  return (start) => new Worker(entry, { workerData: start, name: start.name })
}

function* planMessages(update: PlanUpdate, published: Published): Generator<ToWorker> {
  const { delta, slots, secrets } = update
  const { sockets, inherited = [], operatorSockets = [] } = published
  let sent = 0
  for (; delta.set.length - sent > ITEMS_OF_PART; sent += ITEMS_OF_PART) {
    yield { kind: 'plan-part', items: JSON.stringify(delta.set.slice(sent, sent + ITEMS_OF_PART)) }
  }
  const rest = JSON.stringify({ ...delta, set: delta.set.slice(sent) })
  yield { kind: 'plan', delta: rest, slots, secrets, sockets, inherited, operatorSockets }
}
