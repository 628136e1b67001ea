import { REJECTIONS } from '#base/rejections.ts'
import type { DecisionRecord } from '#observe/decision-ring.ts'

const DEFAULT_LIMIT = 100
const PARAMETERS = ['id', 'limit', 'code', 'route']

export type Selection =
  | { readonly kind: 'records'; readonly records: readonly DecisionRecord[] }
  /** The query is invalid. */
  | { readonly kind: 'refused'; readonly message: string }

/**
 * Selects the records that match a query, newest first.
 * @param records newest first
 * @param query `id` as in the response header `gatewright-decision` and the log, `limit` (default 100), `code` of the refusal, `route` as
 * in the record
 */
export function selectDecisions(records: readonly DecisionRecord[], query: URLSearchParams): Selection {
  const unknown = [...query.keys()].find((name) => !PARAMETERS.includes(name))
  if (unknown !== undefined) return refuse(`unknown parameter; use ${PARAMETERS.join(', ')}`)
  const limit = query.get('limit') ?? String(DEFAULT_LIMIT)
  if (!/^[1-9]\d{0,5}$/.test(limit)) return refuse('limit must be a number from 1 to 999999')
  const code = query.get('code')
  if (code !== null && !Object.hasOwn(REJECTIONS, code)) return refuse('unknown code')
  const route = query.get('route')
  const id = query.get('id')
  const wanted = records.filter(
    (record) =>
      (id === null || record.id === id) &&
      (code === null || record.code === code) &&
      (route === null || record.route === route),
  )
  return { kind: 'records', records: wanted.slice(0, Number(limit)) }
}

function refuse(message: string): Selection {
  return { kind: 'refused', message }
}
