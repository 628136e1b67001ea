import type { Finding } from '#base/finding.ts'
import type { KnownSecrets } from '#base/known-secrets.ts'
import type { Level, LogFields } from '#observe/log/application-log.ts'
import type { FileProblem } from '#store/file-problem.ts'
import type { FileStore, StaleFile } from '#store/files.ts'
import type { LogState } from '#workers/messages.ts'
import type { ReplacedFor } from '#workers/worker-pool.ts'

/** What an instance tells whoever logs. */
export interface InstanceEvents {
  /** What no text may show from now on; told before anything else. */
  secrets(secrets: KnownSecrets): void
  objectsChanged(problems: readonly FileProblem[], stale: readonly StaleFile[]): void
  translated(findings: readonly Finding[], store: FileStore): void
  applied(
    version: number,
    listeners: readonly { readonly name: string; readonly url: string; readonly problem: string | undefined }[],
  ): void
  /** Something that nothing else here stands for. */
  message(level: Level, message: string, fields: LogFields): void
  workerReplaced(name: string, why: ReplacedFor, cause: string): void
  accessLog(worker: string, state: LogState): void
  /** A label of the metrics has too many values at a place (gateway, listener, route, rule); further ones count as `other`. */
  labelFolded(label: string, place: readonly string[]): void
  bug(decisionId: string, stack: string): void
}
