import type { Exchange } from '#exchange/exchange.ts'
import { EvaluationFailure, type Expression } from '#exchange/expression.ts'
import { type Outcome, reject } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { fieldText } from '../../shared/fields/field-text.ts'

export interface DirectResponsePlan {
  readonly status: number
  readonly headers: readonly (readonly [lowerName: string, value: Expression])[]
  readonly body: string | undefined
  readonly bodyExpression: Expression | undefined
}

const CONTENT_TYPE = { text: 'text/plain; charset=utf-8', json: 'application/json', bytes: undefined } as const

/**
 * Sends the configured response (specification 2, 2.2.5; decision A-90). A failed header expression is left out; a failed body expression
 * is an error. HEAD requests get the same response; the connection omits the body.
 */
export function answerDirectly(plan: DirectResponsePlan, exchange: Exchange): Outcome {
  const { status, bodyExpression } = plan
  const computed = bodyExpression?.body(exchange)
  if (computed instanceof EvaluationFailure) return reject('filter-failed', { detail: computed.detail })
  const head = Head.response(status)
  const body = allowsBody(status) ? (computed?.bytes ?? plan.body) : undefined
  const contentType = body === undefined ? undefined : CONTENT_TYPE[computed?.kind ?? 'text']
  if (contentType !== undefined) head.set('content-type', contentType)
  for (const [name, value] of plan.headers) {
    const text = value.text(exchange)
    const field = text === undefined ? undefined : fieldText(text)
    if (field !== undefined) head.set(name, field)
  }
  return { kind: 'answer', head, body }
}

/** 204, 205 and 304 have no content (RFC 9110, 15). */
function allowsBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304
}
