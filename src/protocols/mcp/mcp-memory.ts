import type { TargetSession } from './target-session.ts'

/** What works once: a session until its end, and an answer to a target. */
export type Once = 'session' | 'answer'

/**
 * What an instance remembers besides what sealed texts say themselves. Everything works without it, only less exactly: another
 * replica does not know of a deletion, and a cancellation goes to all targets.
 */
export interface McpMemory {
  /** Whether something that works once has been used up. */
  isSpent(what: Once, key: string): boolean
  /** @param key short, and as long for everybody: it is kept */
  spend(what: Once, key: string): void
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

/**
 * How many things of each sort are remembered, the last ones: some megabytes. Who ends so many sessions, or answers so many requests, brings
 * back older ones: a session, for its own caller alone, whose targets have been told of its end, and an answer whose target has had it.
 */
export const MAX_SPENT = 16_384

/** The memory of one thread. `tell` passes on what was spent here, `learn` takes what was spent elsewhere. */
export class LocalMcpMemory implements McpMemory {
  readonly inFlight = new Map<string, readonly string[]>()
  readonly sessionless = new Map<string, SessionlessTarget>()
  readonly #spent: Readonly<Record<Once, Set<string>>> = { session: new Set(), answer: new Set() }
  readonly #tell: (what: Once, key: string) => void

  constructor(tell: (what: Once, key: string) => void = () => {}) {
    this.#tell = tell
  }

  isSpent(what: Once, key: string): boolean {
    return this.#spent[what].has(key)
  }

  spend(what: Once, key: string): void {
    this.learn(what, key)
    this.#tell(what, key)
  }

  learn(what: Once, key: string): void {
    const spent = this.#spent[what]
    spent.add(key)
    if (spent.size > MAX_SPENT) spent.delete(spent.values().next().value!)
  }
}
