import type { DescribedRecord } from '#admin/describe-record.ts'
import { guardName } from '#exchange/guard-name.ts'

/** Something that happened to a request. */
export interface Moment {
  /** Since the request was received. */
  readonly atMs: number
  readonly text: string
  /** How long it took; undefined: it took no time of its own. */
  readonly tookMs?: number | undefined
  /** The objects that asked for it: `ProxyPolicy default/keys`. */
  readonly by?: string
}

/** What happened to a request, in order, as far as its record has times. */
export function timeLine(record: DescribedRecord): readonly Moment[] {
  const { durationMs, policies, callouts, guardChecks, status } = record
  const moments: Moment[] = [
    { atMs: 0, text: 'received' },
    ...policies.map((policy, i) => ({
      atMs: policy.startMs,
      text: `${policy.field} (${policy.stage}): ${verdictOf(record, i)}`,
      tookMs: policy.durationMs,
      by: objectsOf(policy),
    })),
    ...callouts.map(({ policy, backend, verdict, cached, startMs, durationMs: tookMs, status: answer, detail }) => ({
      atMs: startMs,
      text: `${policy} ${cached ? 'knew the answer of' : 'asked'} ${backend}: ${joined(verdict, answer, detail)}`,
      tookMs: cached ? undefined : tookMs,
    })),
    ...guardChecks.map((check) => ({ atMs: check.startMs, text: checkText(check), tookMs: check.durationMs })),
    ...attemptMoments(record),
    { atMs: durationMs, text: status === 0 ? 'ended without a response' : `ended with ${status}` },
  ]
  return moments.toSorted((a, b) => a.atMs - b.atMs)
}

/** Several fields of an object are one. */
function objectsOf({ sources }: DescribedRecord['policies'][number]): string {
  return [...new Set(sources.map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`))].join(', ')
}

/** What a policy did. Steps of the response that decide are not among those of the request. */
function verdictOf({ policies, decidedBy, code }: DescribedRecord, index: number): string {
  const { stage, field } = policies[index]!
  if (decidedBy === undefined || decidedBy.stage !== stage || decidedBy.field !== field) return 'passed'
  return code === '' ? 'answered' : 'refused'
}

/** With their own times where the record has them, else those of the first and the last attempt. */
function attemptMoments({ attempts, endpoint, sentMs, answeredMs }: DescribedRecord): Moment[] {
  const timed = attempts.flatMap(({ sentMs: from, answeredMs: head, endedMs: until = head, ...attempt }): Moment[] =>
    from === undefined
      ? []
      : [
          {
            atMs: from,
            text: `sent to ${attemptText(attempt)}`,
            tookMs: until === undefined ? undefined : until - from,
          },
        ],
  )
  if (timed.length > 0 || sentMs === undefined) return timed
  const [first] = attempts
  const tookMs = answeredMs === undefined ? undefined : answeredMs - sentMs
  if (attempts.length <= 1) {
    return [{ atMs: sentMs, text: `sent to ${first === undefined ? endpoint : attemptText(first)}`, tookMs }]
  }
  return [
    { atMs: sentMs, text: `sent to ${attempts.length} endpoints, one after the other`, tookMs },
    ...attempts.map((attempt) => ({ atMs: sentMs, text: `  ${attemptText(attempt)}` })),
  ]
}

function checkText(check: DescribedRecord['guardChecks'][number]): string {
  const { kind, verdict, rule, isReused, detail } = check
  return `${guardName(check)} (${kind}): ${joined(verdict, rule, isReused ? 'as before' : undefined, detail)}`
}

function attemptText({
  endpoint,
  section,
  status,
  failure,
  unfit,
  detail,
}: Pick<
  DescribedRecord['attempts'][number],
  'endpoint' | 'section' | 'status' | 'failure' | 'unfit' | 'detail'
>): string {
  const where = section === undefined || section === endpoint ? endpoint : `${section} at ${endpoint}`
  return `${where}: ${joined(status === 0 ? undefined : String(status), failure, unfit, detail)}`
}

function joined(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(', ') || 'no response'
}
