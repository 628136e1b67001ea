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
      let nextProbeAtMs = 0
      if (failures >= FAILURES) {
        const nowMs = clock.monotonic()
        if (nowMs < probeAtMs) return failed(`the service failed ${FAILURES} times in a row; it is asked again soon`)
        nextProbeAtMs = nowMs + PROBE_MS
        probeAtMs = nextProbeAtMs
      }
      const verdict = await service.judge(question, around)
      if (around.signal.aborted) {
        // A client that leaves says nothing about the service, and uses up no probe.
        if (probeAtMs === nextProbeAtMs) probeAtMs = 0
        return verdict
      }
      if (verdict.kind !== 'failed') failures = 0
      else if (verdict.sparesService === undefined) {
        failures++
        if (failures === FAILURES) probeAtMs = clock.monotonic() + PROBE_MS
      } else if (verdict.sparesService === 'answered' && failures >= FAILURES) failures = 0
      return verdict
    },
  }
}
