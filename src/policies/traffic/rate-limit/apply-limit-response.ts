import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed, type Refusal, reject } from '#exchange/outcome.ts'
import { serverFields } from '../../shared/fields/server-fields.ts'
import { LIMIT_UNITS, type LimitResponse, type LimitStatus, OVER_LIMIT, WITHIN_LIMITS } from './limit-messages.ts'
import { refuseUntil } from './refuse-until.ts'
import { queueLimitHeaders } from './run-local.ts'

/** Applies the decision of the service (decision A-83). @param where the policy and path of the limit, for operators */
export function applyLimitResponse(response: LimitResponse, where: string, exchange: Exchange): Outcome {
  const headers = serverFields(response.responseHeadersToAdd).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  for (const [name, value] of headers) if (name !== 'content-type') exchange.queueHeader(name, value)
  queueTightest(response.statuses ?? [], exchange)
  if (response.overallCode === WITHIN_LIMITS) {
    setHeaders(response, exchange)
    return proceed
  }
  const { rawBody } = response
  const sentValue = (name: string) => headers.find((header) => header[0] === name)?.[1]
  const bytes = rawBody === undefined || rawBody.length === 0 ? undefined : rawBody
  const refusal = refuseOver(response, { detail: where, bytes, contentType: sentValue('content-type') }, exchange)
  const wait = sentValue('retry-after')
  return wait === undefined ? refusal : { ...refusal, headers: [['retry-after', wait]] }
}

/** No request passes before the last of its exhausted limits is reset. */
function refuseOver({ statuses = [] }: LimitResponse, extras: Partial<Refusal>, exchange: Exchange): Refusal {
  const secondsOf = ({ durationUntilReset }: LimitStatus) => durationUntilReset?.seconds ?? 0
  const over = statuses.filter((status) => status.code === OVER_LIMIT && secondsOf(status) > 0)
  const [last] = over.toSorted((a, b) => secondsOf(b) - secondsOf(a))
  if (last === undefined) return reject('rate-limited', extras)
  const { requestsPerUnit = 0, unit = 0 } = last.currentLimit ?? {}
  const name = LIMIT_UNITS[unit]
  return refuseUntil(secondsOf(last), name && `${requestsPerUnit} per ${name}`, extras, exchange)
}

/** They replace those of the client. An invalid value removes the header, so that a client cannot choose it (decision A-89). */
function setHeaders({ requestHeadersToAdd }: LimitResponse, { request }: Exchange): void {
  for (const [name, value] of serverFields(requestHeadersToAdd)) {
    if (value === undefined) request.remove(name)
    else request.set(name, value)
  }
}

/** Describes the limit with the fewest hits left. */
function queueTightest(statuses: readonly LimitStatus[], exchange: Exchange): void {
  const limited = statuses.filter(({ currentLimit }) => currentLimit !== undefined)
  const [tight] = limited.toSorted((a, b) => (a.limitRemaining ?? 0) - (b.limitRemaining ?? 0))
  if (tight === undefined) return
  const { currentLimit, limitRemaining = 0, durationUntilReset } = tight
  queueLimitHeaders(currentLimit?.requestsPerUnit ?? 0, limitRemaining, durationUntilReset?.seconds ?? 0, exchange)
}
