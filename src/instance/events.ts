import type { LogLevelSetting } from '#admin/admin-server.ts'
import type { Finding } from '#base/finding.ts'
import type { NodeFault } from '#base/incremental/stage.ts'
import type { SecretHider } from '#base/known-secrets.ts'
import type { LogMessage } from '#observe/log/application-log.ts'
import type { FileProblem } from '#store/file-problem.ts'
import type { RemovedObject, StaleFile } from '#store/loaded-file.ts'
import type { ObjectStore } from '#store/store.ts'
import type { LogState } from '#workers/messages.ts'
import type { ReplacedFor } from '#workers/worker-pool.ts'

export interface ListenerState {
  readonly name: string
  readonly url: string
  /** Why it cannot accept connections. */
  readonly problem: string | undefined
}

/** Events of an instance, for the log. */
export interface InstanceEvents {
  /** Hides the secrets that no text may show; reported before anything else. */
  secrets(secrets: SecretHider): void
  objectsChanged(problems: readonly FileProblem[], stale: readonly StaleFile[], removed: readonly RemovedObject[]): void
  /** All problems of reading a cluster, and of the objects that were read. */
  clusterChanged(problems: readonly FileProblem[]): void
  translated(findings: readonly Finding[], store: Pick<ObjectStore, 'locate'>): void
  applied(version: number, listeners: readonly ListenerState[]): void
  /** Why the running gateway is not ready; called when a plan has been applied. */
  readiness(whyNotReady: readonly string[]): void
  /** Those of the log, for operators who change them. */
  readonly logLevels: LogLevelSetting
  /** Any other log message. */
  readonly message: LogMessage
  workerReplaced(name: string, why: ReplacedFor, cause: string): void
  accessLog(worker: string, state: LogState): void
  /** A label has too many values at a place (gateway, listener, route, rule); further values count as `other`. */
  labelFolded(label: string, place: readonly string[]): void
  bug(decisionId: string, stack: string): void
}

/** Logs bugs of the main thread. */
export interface BugReports {
  readonly reportBug: (error: unknown) => void
  readonly onFault: (fault: NodeFault) => void
}

export function bugReports(events: Pick<InstanceEvents, 'bug'>): BugReports {
  return {
    reportBug: (error) => events.bug('main', stackOf(error)),
    onFault: ({ stage, key, error }) => events.bug('main', `stage ${stage}, key ${key}: ${stackOf(error)}`),
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? '') : ''
}
