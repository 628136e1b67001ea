import { clock } from '#base/clock.ts'
import type { TargetSession } from './target-session.ts'

/**
 * What an instance remembers besides what sealed texts say themselves. Everything works without it, only less exactly: another
 * replica does not know of a deletion, and a cancellation goes to all targets.
 */
export interface McpMemory {
  /** Whether something that works once (a session until its end, an answer to a target) has been used up. */
  isSpent(key: string): boolean
  /** @param untilMs milliseconds since the epoch; afterwards the thing is refused for its age */
  spend(key: string, untilMs: number): void
  /** Target names that are working on a request of a client; local to the worker. */
  readonly inFlight: Map<string, readonly string[]>
  /** Targets that answer without a session, by destination; local to the worker. */
  readonly sessionless: Map<string, SessionlessTarget>
}

/** What a target that gives out no session ids agreed to; it need not be asked again for a while (decision B66). */
export interface SessionlessTarget {
  readonly session: TargetSession
  readonly untilMs: number
}

/** The memory of one thread. `tell` passes on what was spent here, `learn` takes what was spent elsewhere. */
export class LocalMcpMemory implements McpMemory {
  readonly inFlight = new Map<string, readonly string[]>()
  readonly sessionless = new Map<string, SessionlessTarget>()
  readonly #spent = new Map<string, number>()
  readonly #tell: (key: string, untilMs: number) => void
  #sweepAtSize = 1024

  constructor(tell: (key: string, untilMs: number) => void = () => {}) {
    this.#tell = tell
  }

  isSpent(key: string): boolean {
    return this.#spent.has(key)
  }

  spend(key: string, untilMs: number): void {
    this.learn(key, untilMs)
    this.#tell(key, untilMs)
  }

  learn(key: string, untilMs: number): void {
    this.#spent.set(key, untilMs)
    if (this.#spent.size >= this.#sweepAtSize) this.#sweep()
  }

  /** Once for every doubling, so that it costs nothing in the long run. */
  #sweep(): void {
    const nowMs = clock.now()
    for (const [key, untilMs] of this.#spent) if (untilMs < nowMs) this.#spent.delete(key)
    this.#sweepAtSize = Math.max(1024, 2 * this.#spent.size)
  }
}
