import { Allowance } from '#base/allowance.ts'
import type { LogMessage } from '#observe/log/application-log.ts'

/** Logs connections that fail because the system has no resources for them: one, and then at most one per minute. */
export function exhaustionReporter(log: LogMessage): (cause: string | undefined) => void {
  const allowance = new Allowance(1, 1 / 60)
  return (cause) => {
    if (!allowance.take()) return
    log('proxy', 'warn', 'a connection to a backend failed, because the system is out of files, ports or memory', {
      cause,
    })
  }
}
