import { clock } from '#base/clock.ts'
import { parseDuration } from '#base/duration.ts'
import { REJECTIONS } from '#base/rejections.ts'
import { suggest } from '#base/suggest.ts'
import type { DecisionRecord } from '#observe/decision-ring.ts'

const DEFAULT_LIMIT = 100

type Test = (record: DecisionRecord) => boolean

/** The test that a value of a parameter stands for, or what is wrong with the value. */
const FILTERS: Readonly<Record<string, (value: string) => Test | string>> = {
  status: (value) => {
    if (!/^(?:0|[1-5]\d\d|[1-5]xx)$/.test(value))
      return 'status must be a status, a class such as 4xx, or 0 (no response)'
    if (value.endsWith('xx')) return ({ status }) => Math.floor(status / 100) === Number(value[0])
    return ({ status }) => status === Number(value)
  },
  code: (value) => {
    if (Object.hasOwn(REJECTIONS, value)) return ({ code }) => code === value
    const nearest = suggest(value, Object.keys(REJECTIONS))
    return `unknown code${nearest === undefined ? '' : `; did you mean ${nearest}?`}`
  },
  route: (value) => nameProblem('route', value) ?? ((record) => record.route === value),
  backend: (value) => nameProblem('backend', value) ?? ((record) => record.backend === value),
  consumer: (value) => (record) => record.consumer === value,
  model: (value) => (record) => record.requestModel === value || record.responseModel === value,
}

function nameProblem(parameter: string, value: string): string | undefined {
  if (value.includes('/')) return undefined
  return `${parameter} must be the namespace and the name, such as default/${value}`
}

/** Parameters of a list, besides those that select records. */
const OF_LIST = ['id', 'limit', 'since', 'until'] as const

/** Parameters that select records of a list and of a live stream. */
export const FILTER_PARAMETERS = Object.keys(FILTERS)

/** The query is invalid. */
interface Refused {
  readonly kind: 'refused'
  readonly message: string
}

export type Selection = { readonly kind: 'records'; readonly records: readonly DecisionRecord[] } | Refused

/**
 * Selects the records that match a query, newest first.
 * @param records newest first
 * @param query `id` as in the response header `gatewright-decision` and the log; `limit` (default 100); `since` and `until`, times of the end of
 * a request (RFC 3339, or a duration before now); and the parameters of `readFilter`
 */
export function selectDecisions(
  records: readonly DecisionRecord[],
  query: URLSearchParams,
  nowMs = clock.now(),
): Selection {
  const filter = readFilter(query, OF_LIST)
  if (filter.kind === 'refused') return filter
  const limit = query.get('limit') ?? String(DEFAULT_LIMIT)
  if (!/^[1-9]\d{0,5}$/.test(limit)) return refuse('limit must be a number from 1 to 999999')
  const since = query.has('since') ? readTime(query.get('since')!, nowMs) : Number.NEGATIVE_INFINITY
  const until = query.has('until') ? readTime(query.get('until')!, nowMs) : Number.POSITIVE_INFINITY
  if (since === undefined || until === undefined) {
    return refuse('since and until must be times such as 2026-01-31T12:00:00Z, or durations before now such as 5m')
  }
  const id = query.get('id')
  const wanted = records.filter(
    (record) =>
      (id === null || record.id === id) && record.time >= since && record.time <= until && filter.accepts(record),
  )
  return { kind: 'records', records: wanted.slice(0, Number(limit)) }
}

/**
 * The records that a query selects: `status` (`403`, `4xx`, 0 without a response), `code` of the refusal, `route` and
 * `backend` (`<namespace>/<name>`), `consumer`, and `model` that was asked for or that answered.
 * @param others parameters that the caller reads
 */
export function readFilter(
  query: URLSearchParams,
  others: readonly string[] = [],
): { readonly kind: 'filter'; readonly accepts: Test } | Refused {
  const known = [...others, ...FILTER_PARAMETERS]
  const tests: Test[] = []
  for (const [name, value] of query) {
    if (!known.includes(name)) return refuse(`unknown parameter; use ${known.join(', ')}`)
    const test = FILTERS[name]?.(value)
    if (typeof test === 'string') return refuse(test)
    if (query.getAll(name).length > 1) return refuse(`${name} is given more than once`)
    if (test !== undefined) tests.push(test)
  }
  return { kind: 'filter', accepts: (record) => tests.every((test) => test(record)) }
}

/** @returns undefined if the text is neither a time nor a duration */
function readTime(text: string, nowMs: number): number | undefined {
  const agoMs = parseDuration(text)
  if (agoMs !== undefined) return nowMs - agoMs
  const time = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

function refuse(message: string): Refused {
  return { kind: 'refused', message }
}
