import type { ObjectChange } from '#api/object-change.ts'
import { clock } from '#base/clock.ts'
import type { Finding } from '#base/finding.ts'
import type { PlanTarget, ProxyReports } from '#plan/plan-link.ts'
import type { DefinitionVersions } from './status/supported-version.ts'
import type { StatusChange } from './translation.ts'
import type { Translator } from './translator.ts'

export interface ControlLoopOptions {
  readonly translator: Translator
  /** Gets the changes of the plan, each before the statuses of the same change are published. */
  readonly plans: PlanTarget
  /** Publishes the statuses that changed since the last call, and all findings if any of them changed. */
  readonly publishStatuses: (changed: StatusChange, findings: readonly Finding[] | undefined) => void
}

/** Translates changes of objects, and publishes the resulting changes of the plan and of the statuses. */
export interface ControlLoop extends ProxyReports {
  /** Applies one change of objects. Related objects must be in the same change. */
  apply(change: ObjectChange): void
  /** Reports which objects keep their last valid version and why, by key of the object. */
  refused(reasons: ReadonlyMap<string, string>): void
  /** Reports the versions of the definitions of the cluster; undefined: they are not known. */
  defined(versions: DefinitionVersions | undefined): void
  /** Reports all problems of the deployment of a Gateway, by its key. */
  deployed(gateway: string, findings: readonly Finding[]): void
  /** Publishes what several calls change at once, after the last one. */
  together(calls: () => void): void
  /** While statuses are held back, findings are published alone. Afterwards, all statuses are. */
  holdStatuses(isHeld: boolean): void
  /** Stops publishing. */
  close(): void
}

const NO_STATUSES: StatusChange = { written: [], withdrawn: [] }

export function startControlLoop(options: ControlLoopOptions): ControlLoop {
  const { translator } = options
  let closed = false
  let isTogether = false
  let isHeld = false
  let alarm: { readonly at: number; cancel(): void } | undefined

  /** Statuses also change when a time passes, such as the end of the validity of a certificate. */
  const setAlarm = () => {
    const at = translator.nextDeadline
    if (at === alarm?.at) return
    alarm?.cancel()
    alarm = at === undefined ? undefined : { at, ...clock.after(Math.max(0, at + 1 - clock.now()), timePassed) }
  }
  const timePassed = () => {
    // If the wall clock was set back, publishStatuses sets the alarm again.
    alarm = undefined
    translator.passTime()
    publishStatuses()
  }

  const publishStatuses = () => {
    if (isTogether) return
    const statuses = isHeld ? NO_STATUSES : translator.takeStatuses()
    const findings = translator.takeFindings()
    const isChanged = statuses.written.length > 0 || statuses.withdrawn.length > 0
    if (isChanged || findings !== undefined) options.publishStatuses(statuses, findings)
    setAlarm()
  }

  return {
    apply(objects) {
      if (closed) return
      const change = translator.apply(objects)
      if (change.set.length > 0 || change.removed.length > 0) {
        // A new plan may change the facts. Traffic reports them again if they still hold.
        translator.forgetFacts()
        translator.noteProblems(options.plans.take({ version: translator.version, ...change }))
      }
      publishStatuses()
    },
    bound(version, bindings) {
      if (closed) return
      translator.noteBindings(version, bindings)
      publishStatuses()
    },
    reported(proxy, state) {
      if (closed) return
      translator.noteReport(proxy, state)
      publishStatuses()
    },
    refused(reasons) {
      if (closed) return
      translator.noteRefusedEdits(reasons)
      publishStatuses()
    },
    defined(versions) {
      if (closed) return
      translator.noteDefinitions(versions)
      publishStatuses()
    },
    deployed(gateway, findings) {
      if (closed) return
      translator.noteDeployment(gateway, findings)
      publishStatuses()
    },
    observed(seenOn, fact) {
      if (closed || seenOn !== translator.version) return
      translator.noteFact(fact)
      publishStatuses()
    },
    recompiled(problems) {
      if (closed || problems.size === 0) return
      translator.noteProblems(problems)
      publishStatuses()
    },
    together(calls) {
      isTogether = true
      try {
        calls()
      } finally {
        isTogether = false
      }
      if (!closed) publishStatuses()
    },
    holdStatuses(held) {
      if (closed || held === isHeld) return
      isHeld = held
      if (held) return
      translator.tellAll()
      publishStatuses()
    },
    close() {
      closed = true
      alarm?.cancel()
    },
  }
}
