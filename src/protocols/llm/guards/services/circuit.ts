import { clock } from '#base/clock.ts'
import { failed } from './ask.ts'
import type { GuardService, ServiceVerdict } from './service.ts'

/** A service that fails this many times in a row is asked by one probe in each interval; all others fail at once. */
const FAILURES = 5
const PROBE_MS = 1000

/** The service, without the wait for one that is down. */
export function withCircuit(service: GuardService): GuardService {
  let failures = 0
  let probeAtMs = 0
  return {
    ...service,
    async judge(question, around): Promise<ServiceVerdict> {
      if (failures >= FAILURES) {
        const nowMs = clock.monotonic()
        if (nowMs < probeAtMs) return failed(`the service failed ${FAILURES} times in a row; it is asked again soon`)
        probeAtMs = nowMs + PROBE_MS
      }
      const verdict = await service.judge(question, around)
      // A client that leaves says nothing about the service.
      if (around.signal.aborted) return verdict
      if (verdict.kind !== 'failed') failures = 0
      else if (verdict.sparesService !== true) {
        failures++
        if (failures === FAILURES) probeAtMs = clock.monotonic() + PROBE_MS
      }
      return verdict
    },
  }
}
