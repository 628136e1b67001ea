import type { LogFields, LogOutput } from '#observe/log/application-log.ts'
import { catchWarnings } from '#workers/catch-warnings.ts'
import { releaseMemoryOfStart } from '#workers/release-memory.ts'
import type { StartThread } from '#workers/worker-pool.ts'
import { openStandardError } from './output.ts'
import { Signals } from './signals.ts'

/** What a gateway takes from the process that it runs in. Tests also run gateways in their own thread. */
export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv
  /** The log of the gateway. */
  openLog(): LogOutput
  handleSignals(): Pick<Signals, 'stopped' | 'stop' | 'onReload'>
  catchWarnings(take: (fields: LogFields) => void): void
  releaseMemoryOfStart(): { cancel(): void }
  /** Starts a proxy worker; undefined: in a thread of its own. */
  readonly startThread: StartThread | undefined
}

/** The gateway has the process to itself. */
export const WHOLE_PROCESS: Surroundings = {
  environment: process.env,
  openLog: openStandardError,
  handleSignals: () => new Signals(),
  catchWarnings,
  releaseMemoryOfStart,
  startThread: undefined,
}
