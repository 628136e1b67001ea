import { type Circuit, OPENING_FAILURES } from '#state/circuit.ts'
import { failed } from './ask.ts'
import type { GuardService, ServiceVerdict } from './service.ts'

/** Makes questions to a service fail at once while it is down. */
export function withCircuit(service: GuardService, circuit: Circuit): GuardService {
  // Of this worker; others may have had other failures.
  let lastFailure: string | undefined
  return {
    ...service,
    async judge(question, around): Promise<ServiceVerdict> {
      const admission = circuit.admit()
      if (admission === undefined) {
        const last = lastFailure === undefined ? '' : ` (the last time: ${lastFailure})`
        return failed(`the service failed ${OPENING_FAILURES} times in a row${last}; it is asked again soon`)
      }
      const verdict = await service.judge(question, around)
      const spares = verdict.kind === 'failed' ? verdict.sparesService : undefined
      // A disconnected client says nothing about the service, and must not use up a probe.
      if (around.signal.aborted || spares === 'unasked') circuit.abandon(admission)
      else if (verdict.kind !== 'failed') circuit.succeed()
      else if (spares === 'answered') circuit.respond()
      else if (spares === undefined) {
        lastFailure = verdict.detail
        circuit.fail(lastFailure)
      }
      return verdict
    },
  }
}
