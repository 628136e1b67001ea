import type { PolicySource } from '#exchange/decided-by.ts'
import type { DecisionRecord } from '#observe/decision-ring.ts'

/** A record as the admin server shows it: times in the format of the access log, policies by the names of their objects. */
export interface DescribedRecord extends Omit<DecisionRecord, 'time' | 'decidedBy'> {
  /** End of the request (RFC 3339). */
  readonly time: string
  readonly decidedBy: DescribedDecider | undefined
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
  const { id, worker, sentMs, answeredMs, decidedBy, ...rest } = record
  return {
    id,
    worker,
    time: new Date(time).toISOString(),
    durationMs: microseconds(durationMs),
    sentMs: sentMs === undefined ? undefined : microseconds(sentMs),
    answeredMs: answeredMs === undefined ? undefined : microseconds(answeredMs),
    ...rest,
    decidedBy: decidedBy && { ...decidedBy, sources: decidedBy.sources.map(describeSource) },
  }
}

function describeSource({ origin, path }: PolicySource): DescribedSource {
  const { kind, namespace, name, file, line } = origin
  return { kind, namespace, name, file, line, path }
}

function microseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
