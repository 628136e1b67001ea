import type { Exchange, GuardCheck } from '#exchange/exchange.ts'
import type { Guard } from './guard.ts'
import { traceCheck } from './trace-guards.ts'

/** What one check found. */
export type CheckResult = Pick<GuardCheck, 'verdict' | 'length'> &
  Partial<Pick<GuardCheck, 'durationMs' | 'rule' | 'placeholder' | 'requestId' | 'isReused' | 'detail'>>

/**
 * Adds a check to the record of the exchange; checks of one guard with the same outcome, as a stream has many, are added up.
 * @param startMs of `RunContext.monotonic`
 */
export function noteCheck(
  exchange: Exchange,
  { phase, kind, index }: Guard,
  startMs: number,
  result: CheckResult,
): void {
  const { startMonotonicMs, context } = exchange
  const check: GuardCheck = {
    phase,
    kind,
    index,
    count: 1,
    startMs: startMs - startMonotonicMs,
    durationMs: context.monotonic() - startMs,
    rule: undefined,
    placeholder: undefined,
    requestId: undefined,
    isReused: false,
    detail: undefined,
    ...result,
  }
  if (exchange.trace !== undefined) traceCheck(exchange.trace, check)
  exchange.guardChecks ??= []
  const { guardChecks } = exchange
  const same = guardChecks.findIndex((other) => isSameOutcome(other, check))
  if (same < 0) guardChecks.push(check)
  else guardChecks[same] = addUp(guardChecks[same]!, check)
}

function isSameOutcome(one: GuardCheck, other: GuardCheck): boolean {
  return (
    one.phase === other.phase &&
    one.index === other.index &&
    one.verdict === other.verdict &&
    one.rule === other.rule &&
    one.isReused === other.isReused
  )
}

function addUp(one: GuardCheck, other: GuardCheck): GuardCheck {
  return {
    ...one,
    count: one.count + 1,
    durationMs: one.durationMs + other.durationMs,
    length: one.length + other.length,
    requestId: other.requestId,
  }
}
