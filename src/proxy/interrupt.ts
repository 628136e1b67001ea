import { REJECTIONS } from '#base/rejections.ts'
import type { Interrupt } from './in-flight.ts'
import { fail, respondLocally } from './respond.ts'

/** If the response has begun, it is reset (`RunContext.interrupt`). */
export const interrupt: Interrupt = (flight, why) => {
  if (flight.ended) return
  const { exchange, upstream } = flight
  if (flight.responded) {
    if (why instanceof Error) return fail(flight, why)
    const isRefusal = why.kind === 'refusal'
    if (isRefusal) exchange.reason = REJECTIONS[why.code].reason
    exchange.refusalDetail = isRefusal ? why.detail : 'a policy responded after the response had begun'
    return flight.stream.abort()
  }
  flight.stopWaiting()
  flight.upstream = undefined
  upstream?.cancel()
  if (why instanceof Error) fail(flight, why)
  else respondLocally(flight, why)
}
