import v8 from 'node:v8'
import { Worker } from 'node:worker_threads'
import { clock } from '#base/clock.ts'
import type { MetricsNews } from '#observe/metrics/metrics-writer.ts'
import type { PlanDelta } from '#plan/delta.ts'
import type { PlanItem } from '#plan/item.ts'
import type { FromWorker, ToWorker, WorkerStart } from './messages.ts'
import { TicketKeys } from './ticket-keys.ts'

/** What the data plane is to run on. */
export interface Published {
  readonly version: number
  readonly items: ReadonlyMap<string, PlanItem>
  /** What changed since the version before. */
  readonly delta: PlanDelta
  readonly slots: readonly (readonly [key: string, slot: number])[]
  readonly sockets: readonly string[]
}

export interface WorkerPoolEvents {
  /** All workers run on this version; `failed`: sockets that some worker could not open. */
  applied(version: number, failed: readonly { readonly socket: string; readonly message: string }[]): void
  /** A worker died and another one is being started. */
  replaced(name: string, cause: string): void
  metrics(worker: string, news: MetricsNews): void
  /** A request met a bug; its client was told the id. */
  bug(decisionId: string, stack: string): void
}

// A request passes through many small functions; the compiler may join more of them than it does by itself. Set before the first
// thread begins (docs/decisions/0120-wire.md).
v8.setFlagsFromString('--max-inlined-bytecode-size-cumulative=2500')

/** A worker that died before it served gets its successor after this time. */
const RESPAWN_MS = 1000

/** A thread that goes on so long after the maximum, in code that does not return, is ended. */
const CLOSING_MS = 500

interface Member {
  readonly name: string
  readonly thread: Worker
  version: number
  failed: readonly { readonly socket: string; readonly message: string }[]
}

/**
 * The proxy workers of one instance. Each listens on the same sockets; one that dies is replaced by a new one on the current plan,
 * and the others go on.
 */
export class WorkerPool {
  readonly #start: Omit<WorkerStart, 'name' | 'ticketKeys'>
  readonly #events: WorkerPoolEvents
  readonly #members = new Map<string, Member>()
  readonly #waiting = new Map<number, (message: FromWorker & { kind: 'records' }) => void>()
  readonly #ticketKeys = new TicketKeys((keys) => this.#tellAll({ kind: 'ticket-keys', keys }))
  #published: Published | undefined
  #nextName = 1
  #nextRequest = 1
  #closing = false

  constructor(count: number, start: Omit<WorkerStart, 'name' | 'ticketKeys'>, events: WorkerPoolEvents) {
    this.#start = start
    this.#events = events
    for (let i = 0; i < count; i++) this.#spawn()
  }

  /** The threads and the plan that each runs on. */
  get members(): { readonly name: string; readonly planVersion: number }[] {
    return [...this.#members.values()].map(({ name, version }) => ({ name, planVersion: version }))
  }

  publish(published: Published): void {
    this.#published = published
    this.#tellAll(planMessage(published.delta, published))
  }

  /** The newest decision records of all workers, newest first. */
  async records(): Promise<(FromWorker & { kind: 'records' })['records'][number][]> {
    const answers = await Promise.all([...this.#members.values()].map((member) => this.#recordsOf(member)))
    return answers.flat().toSorted((a, b) => b.time - a.time)
  }

  /** Stops accepting after `minMs`, lets requests finish until `maxMs`, ends the threads. Resolves when all have ended. */
  async drain(minMs: number, maxMs: number): Promise<void> {
    this.#closing = true
    this.#ticketKeys.close()
    const threads = [...this.#members.values()].map(({ thread }) => thread)
    const force = clock.after(maxMs + CLOSING_MS, () => {
      for (const thread of threads) void thread.terminate()
    })
    await Promise.all(
      threads.map((thread) => {
        const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
        thread.postMessage({ kind: 'drain', minMs, maxMs } satisfies ToWorker)
        return ended
      }),
    )
    force.cancel()
  }

  /** Ends one thread at once; the pool replaces it. For tests and operators. */
  async kill(name: string): Promise<void> {
    await this.#members.get(name)?.thread.terminate()
  }

  #spawn(): void {
    const name = `w${this.#nextName++}`
    const thread = new Worker(new URL('./proxy-worker.ts', import.meta.url), {
      workerData: { ...this.#start, name, ticketKeys: this.#ticketKeys.current } satisfies WorkerStart,
      name,
    })
    const member: Member = { name, thread, version: 0, failed: [] }
    this.#members.set(name, member)
    let cause = 'it ended'
    thread.on('message', (message: FromWorker) => this.#hear(member, message))
    thread.on('error', (error) => {
      cause = error instanceof Error ? (error.stack ?? error.message) : String(error)
    })
    thread.on('exit', () => {
      this.#members.delete(name)
      if (this.#closing) return
      this.#events.replaced(name, cause)
      // One that cannot even start would die again at once.
      if (member.version > 0) this.#spawn()
      else clock.after(RESPAWN_MS, () => this.#closing || this.#spawn())
    })
    const published = this.#published
    if (published === undefined) return
    const everything: PlanDelta = { version: published.version, set: [...published.items.values()], removed: [] }
    thread.postMessage(planMessage(everything, published))
  }

  #tellAll(message: ToWorker): void {
    for (const { thread } of this.#members.values()) thread.postMessage(message)
  }

  #hear(member: Member, message: FromWorker): void {
    if (message.kind === 'applied') {
      member.version = message.version
      member.failed = message.failed
      this.#tellWhenAllApplied()
    } else if (message.kind === 'records') {
      this.#waiting.get(message.request)?.(message)
      this.#waiting.delete(message.request)
    } else if (message.kind === 'metrics') {
      this.#events.metrics(member.name, message.news)
    } else if (message.kind === 'spent') {
      for (const other of this.#members.values()) if (other !== member) other.thread.postMessage(message)
    } else if (message.kind === 'bug') {
      this.#events.bug(message.decisionId, message.stack)
    }
  }

  #tellWhenAllApplied(): void {
    const version = this.#published?.version
    const members = [...this.#members.values()]
    if (version === undefined || members.some((member) => member.version < version)) return
    this.#events.applied(
      version,
      members.flatMap(({ failed }) => failed),
    )
  }

  #recordsOf(member: Member): Promise<(FromWorker & { kind: 'records' })['records']> {
    const request = this.#nextRequest++
    return new Promise((resolve) => {
      this.#waiting.set(request, ({ records }) => resolve(records))
      member.thread.once('exit', () => resolve([]))
      member.thread.postMessage({ kind: 'records', request } satisfies ToWorker)
    })
  }
}

function planMessage(delta: PlanDelta, published: Published): ToWorker {
  return { kind: 'plan', delta: JSON.stringify(delta), slots: published.slots, sockets: published.sockets }
}
