import type { ObjectChange } from '#api/object-change.ts'
import type { Finding } from '#base/finding.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import type { PlanDelta } from '#plan/delta.ts'
import type { Binding, ObjectStatus } from './translation.ts'
import type { Translator } from './translator.ts'

export interface ControlLoopOptions {
  readonly translator: Translator
  /**
   * Takes what changed in the plan. Called before the statuses of the same change are published.
   * @returns what compiling the changed items showed, by key of the object
   */
  readonly publishPlan: (delta: PlanDelta) => ReadonlyMap<string, readonly Finding[]>
  /** Takes the statuses that changed since the last call, and all findings when one of them did. */
  readonly publishStatuses: (changed: readonly ObjectStatus[], findings: readonly Finding[] | undefined) => void
}

/** Follows the objects: translates what changed, publishes what that changed. What belongs together comes as one change. */
export interface ControlLoop {
  /** Some objects changed. */
  apply(change: ObjectChange): void
  /** The data plane reports which listeners take connections, by key of the item. */
  bound(bindings: ReadonlyMap<string, Binding>): void
  /** Traffic shows something about a backend of the plan of that version. It is told until there is another plan. */
  observed(version: number, fact: BackendFact): void
  /** Compiling policies again, for what their key sets have become, showed this; as `publishPlan` returns it. */
  recompiled(problems: ReadonlyMap<string, readonly Finding[]>): void
  /** Stops; nothing is published any more. */
  close(): void
}

export function startControlLoop(options: ControlLoopOptions): ControlLoop {
  const { translator } = options
  let version = 0
  let closed = false

  const publishStatuses = () => {
    const statuses = translator.takeStatuses()
    const findings = translator.takeFindings()
    if (statuses.length > 0 || findings !== undefined) options.publishStatuses(statuses, findings)
  }

  return {
    apply(objects) {
      if (closed) return
      const change = translator.apply(objects)
      if (change.set.length > 0 || change.removed.length > 0) {
        version++
        // Things may be different now; if they are not, traffic will show it again.
        translator.forgetFacts()
        translator.noteProblems(options.publishPlan({ version, ...change }))
      }
      publishStatuses()
    },
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
    recompiled(problems) {
      if (closed || problems.size === 0) return
      translator.noteProblems(problems)
      publishStatuses()
    },
    close() {
      closed = true
    },
  }
}
