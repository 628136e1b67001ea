import type { PolicySource } from '#exchange/decided-by.ts'
import type { DecisionRecord } from '#observe/decision-ring.ts'
import type { PolicyRecord } from '#observe/passage.ts'

/** A record as the admin server shows it: times in the format of the access log, policies by the names of their objects. */
export interface DescribedRecord extends Omit<DecisionRecord, 'time' | 'decidedBy' | 'policies'> {
  /** End of the request (RFC 3339). */
  readonly time: string
  readonly decidedBy: DescribedDecider | undefined
  readonly policies: readonly (DescribedDecider & Pick<PolicyRecord, 'startMs' | 'durationMs'>)[]
}

export interface DescribedDecider {
  readonly stage: string
  readonly field: string
  readonly sources: readonly DescribedSource[]
}

export interface DescribedSource {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly file: string | undefined
  readonly line: number | undefined
  /** Path of the field in the object. */
  readonly path: string
}

export function describeRecord({ time, durationMs, ...record }: DecisionRecord): DescribedRecord {
  const { id, worker, sentMs, answeredMs, decidedBy, policies, attempts, callouts, guardChecks, ...rest } = record
  return {
    id,
    worker,
    time: new Date(time).toISOString(),
    durationMs: microseconds(durationMs),
    sentMs: sentMs === undefined ? undefined : microseconds(sentMs),
    answeredMs: answeredMs === undefined ? undefined : microseconds(answeredMs),
    ...rest,
    callouts: callouts.map((callout) => ({ ...callout, ...roundTimes(callout) })),
    guardChecks: guardChecks.map((check) => ({ ...check, ...roundTimes(check) })),
    attempts: attempts.map((attempt) => ({ ...attempt, ...roundTimes(attempt) })),
    decidedBy: decidedBy && { ...decidedBy, sources: decidedBy.sources.map(describeSource) },
    policies: policies.map((policy) => ({
      ...policy,
      ...roundTimes(policy),
      sources: policy.sources.map(describeSource),
    })),
  }
}

/** The members that are times, in full microseconds. */
function roundTimes<Timed extends object>(timed: Timed): Partial<Timed> {
  const times = Object.entries(timed).filter(([name, value]) => name.endsWith('Ms') && typeof value === 'number')
  return Object.fromEntries(times.map(([name, value]) => [name, microseconds(value)])) as Partial<Timed>
}

function describeSource({ origin, path }: PolicySource): DescribedSource {
  const { kind, namespace, name, file, line } = origin
  return { kind, namespace, name, file, line, path }
}

function microseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
