import type { ApiObject } from '#api/object.ts'
import { clock } from '#base/clock.ts'
import type { Finding } from '#base/finding.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import { applyDelta, diffPlans, type PlanDelta } from '#plan/delta.ts'
import type { PlanItem } from '#plan/item.ts'
import { assembleTranslation } from './assemble-translation.ts'
import { withBindings, withCompileProblems, withObserved } from './complete-translation.ts'
import { createRouteMemo } from './routes/translate-routes.ts'
import { type TranslateOptions, translate } from './translate.ts'
import type { Binding, ObjectStatus, Translation } from './translation.ts'

/** How long the objects must be quiet before they are translated. */
const QUIET_MS = 10
/** How long a change waits at most while others keep coming. */
const MAX_WAIT_MS = 1000

export interface ControlLoopOptions {
  /** All objects as they are now. */
  readonly objects: () => readonly ApiObject[]
  readonly translate?: TranslateOptions
  /** Compiles the policies of a plan and returns what is wrong with them; nothing is compiled when unset. */
  readonly compile?: (items: ReadonlyMap<string, PlanItem>) => readonly Finding[]
  /** Takes what changed in the plan. Called before the statuses of the same translation are published. */
  readonly publishPlan: (delta: PlanDelta) => void
  /** Takes the statuses that changed since the last call; the translation has all of them, and the findings. */
  readonly publishStatuses: (changed: readonly ObjectStatus[], translation: Translation) => void
  /** Calls back once after a time; returns the way to cancel that. */
  readonly setTimer: (callback: () => void, afterMs: number) => () => void
}

/** Follows the objects: waits for quiet, translates all of them, publishes what changed. */
export interface ControlLoop {
  /** Some object changed. */
  changed(): void
  /** Translates now, whatever is being waited for. */
  run(): void
  /** The data plane tells which listeners take connections, by key of the item. */
  bound(bindings: ReadonlyMap<string, Binding>): void
  /** Traffic shows something about a backend of the plan of that version. It is told until there is another plan. */
  observed(version: number, fact: BackendFact): void
  /** Stops; nothing is published any more. */
  close(): void
}

export function startControlLoop(options: ControlLoopOptions): ControlLoop {
  let translation: Translation | undefined
  let bindings: ReadonlyMap<string, Binding> = new Map()
  let seen: readonly BackendFact[] = []
  let version = 0
  let published = new Map<string, string>()
  let cancel: (() => void) | undefined
  /** When the first change that is not translated yet was seen. */
  let waitingSince: number | undefined
  let closed = false
  const memo = createRouteMemo()

  const publishStatuses = (settled: Translation) => {
    translation = settled
    const complete = withObserved(settled, seen)
    const texts = new Map(complete.statuses.map((status) => [statusKey(status), JSON.stringify(status.status)]))
    const changed = complete.statuses.filter(
      (status) => published.get(statusKey(status)) !== texts.get(statusKey(status)),
    )
    published = texts
    options.publishStatuses(changed, complete)
  }

  const run = () => {
    if (closed) return
    cancel?.()
    cancel = undefined
    waitingSince = undefined
    const before = translation?.items ?? new Map<string, PlanItem>()
    const { items: fresh, facts, findings } = translate(options.objects(), { ...options.translate, memo })
    const delta = diffPlans(before, fresh, version + 1)
    // Items that did not change stay the very same objects, so that what was made of them can stay too.
    const items = delta === undefined ? before : applyDelta(before, delta)
    if (delta !== undefined) {
      version = delta.version
      // Things may be different now; if they are not, traffic will show it again.
      seen = []
      options.publishPlan(delta)
    }
    const problems = options.compile?.(items) ?? []
    publishStatuses(withCompileProblems(assembleTranslation({ items, facts, findings, bindings }), problems))
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
    bound(reported) {
      bindings = reported
      if (translation !== undefined && !closed) publishStatuses(withBindings(translation, bindings))
    },
    observed(seenOn, fact) {
      const known = seen.some(({ backend, code }) => backend === fact.backend && code === fact.code)
      if (closed || translation === undefined || seenOn !== version || known) return
      seen = [...seen, fact]
      publishStatuses(translation)
    },
    close() {
      closed = true
      cancel?.()
      cancel = undefined
    },
  }
}

function statusKey({ kind, namespace, name }: ObjectStatus): string {
  return `${kind}/${namespace}/${name}`
}
