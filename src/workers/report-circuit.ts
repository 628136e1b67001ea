import { backendName } from '#exchange/backend-name.ts'
import type { LogMessage } from '#observe/log/application-log.ts'
import type { CircuitId } from '#plan/circuit-key.ts'

/** Logs the circuits of guard services that a thread opens and closes. */
export function circuitReporter(log: LogMessage): (circuit: CircuitId, cause: string | undefined) => void {
  return ({ backend, guard, kind }, cause) => {
    const fields = { guard, kind, backend: backendName(backend) }
    if (cause === undefined) return log('proxy', 'info', 'the service of a prompt guard answers again', fields)
    const message = 'the service of a prompt guard failed 5 times in a row, and is asked once a second'
    log('proxy', 'warn', message, { ...fields, cause })
  }
}
