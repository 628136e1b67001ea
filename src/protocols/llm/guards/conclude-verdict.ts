import type { Exchange, GuardCheck } from '#exchange/exchange.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { AskedVerdict } from './ask-service.ts'
import type { ServiceGuard } from './guard.ts'
import { noteCheck } from './guard-log.ts'
import { failGuard, refuseByGuard, refuseByService } from './guard-refusals.ts'

/** The texts that a service has judged. */
export interface JudgedTexts {
  /** In UTF-16 units. */
  readonly length: number
  /** When the service was asked (`RunContext.monotonic`). */
  readonly startMs: number
  /** Whether the masks of the verdict were written into the texts. False: they touch a text that cannot change. */
  readonly isMasked: boolean
}

/** Records what a service said about texts. @returns the refusal if they must not pass */
export function concludeVerdict(
  guard: ServiceGuard,
  { verdict, isReused, durationMs }: AskedVerdict,
  texts: JudgedTexts,
  exchange: Exchange,
): Refusal | undefined {
  const { length, startMs } = texts
  const { requestId } = verdict
  const note = (outcome: GuardCheck['verdict'], detail?: string) =>
    noteCheck(exchange, guard, startMs, { verdict: outcome, length, durationMs, requestId, isReused, detail })
  switch (verdict.kind) {
    case 'pass':
      note('Allow')
      return undefined
    case 'mask':
      if (texts.isMasked) {
        note('Mask')
        return undefined
      }
      note('Reject', 'the mask is in a text that cannot change')
      return refuseByGuard(guard, ' masked a text that cannot change')
    case 'reject':
      note('Reject')
      return refuseByService(guard, verdict)
    case 'failed':
      note('Fail', verdict.detail)
      return failGuard(guard, verdict.detail)
  }
}
