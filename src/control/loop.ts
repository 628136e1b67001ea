import type { ObjectChange } from '#api/object-change.ts'
import { clock } from '#base/clock.ts'
import type { Finding } from '#base/finding.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import type { PlanDelta } from '#plan/delta.ts'
import type { Binding, ObjectStatus } from './translation.ts'
import type { Translator } from './translator.ts'

/** How long the objects must be quiet before they are translated. */
const QUIET_MS = 10
/** How long a change waits at most while others keep coming. */
const MAX_WAIT_MS = 1000

export interface ControlLoopOptions {
  readonly translator: Translator
  /** What changed in the objects since the last call. */
  readonly takeChange: () => ObjectChange
  /**
   * Takes what changed in the plan. Called before the statuses of the same change are published.
   * @returns what compiling the changed items showed, by key of the object
   */
  readonly publishPlan: (delta: PlanDelta) => ReadonlyMap<string, readonly Finding[]>
  /** Takes the statuses that changed since the last call, and all findings when one of them did. */
  readonly publishStatuses: (changed: readonly ObjectStatus[], findings: readonly Finding[] | undefined) => void
  /** Calls back once after a time; returns the way to cancel that. */
  readonly setTimer: (callback: () => void, afterMs: number) => () => void
}

/** Follows the objects: waits for quiet, translates what changed, publishes what that changed. */
export interface ControlLoop {
  /** Some object changed. */
  changed(): void
  /** Translates now, whatever is being waited for. */
  run(): void
  /** The data plane reports which listeners take connections, by key of the item. */
  bound(bindings: ReadonlyMap<string, Binding>): void
  /** Traffic shows something about a backend of the plan of that version. It is told until there is another plan. */
  observed(version: number, fact: BackendFact): void
  /** Stops; nothing is published any more. */
  close(): void
}

export function startControlLoop(options: ControlLoopOptions): ControlLoop {
  const { translator } = options
  let version = 0
  let cancel: (() => void) | undefined
  /** When the first change that is not translated yet was seen. */
  let waitingSince: number | undefined
  let closed = false

  const publishStatuses = () => {
    const statuses = translator.takeStatuses()
    const findings = translator.takeFindings()
    if (statuses.length > 0 || findings !== undefined) options.publishStatuses(statuses, findings)
  }

  const run = () => {
    if (closed) return
    cancel?.()
    cancel = undefined
    waitingSince = undefined
    const change = translator.apply(options.takeChange())
    if (change.set.length > 0 || change.removed.length > 0) {
      version++
      // Things may be different now; if they are not, traffic will show it again.
      translator.forgetFacts()
      translator.noteProblems(options.publishPlan({ version, ...change }))
    }
    publishStatuses()
  }

  return {
    changed() {
      if (closed) return
      const now = clock.monotonic()
      waitingSince ??= now
      cancel?.()
      cancel = options.setTimer(run, Math.max(0, Math.min(QUIET_MS, waitingSince + MAX_WAIT_MS - now)))
    },
    run,
    bound(bindings) {
      if (closed) return
      translator.noteBindings(bindings)
      publishStatuses()
    },
    observed(seenOn, fact) {
      if (closed || seenOn !== version) return
      translator.noteFact(fact)
      publishStatuses()
    },
    close() {
      closed = true
      cancel?.()
      cancel = undefined
    },
  }
}
