import type { Exchange } from '#exchange/exchange.ts'
import type { Outcome } from '#exchange/outcome.ts'
import { afterwards } from '#exchange/step.ts'

/**
 * Evaluates expressions that decide about a request: where they read its body, they see the content without its content coding. Otherwise a
 * client could hide the content from a rule by compressing it. What is forwarded does not change, and a body that cannot be decoded is refused.
 * @param readsBody whether the expressions read the body, which was then buffered
 * @param judge evaluates them before it returns
 * @param proceedWith continues with the body as received
 */
export function judgeContent<T>(
  exchange: Exchange,
  readsBody: boolean,
  judge: (exchange: Exchange) => T,
  proceedWith: (judged: T) => Outcome | Promise<Outcome>,
): Outcome | Promise<Outcome> {
  if (!readsBody || !isCoded(exchange)) return proceedWith(judge(exchange))
  return afterwards(exchange, exchange.bodies.request.content(), (content) =>
    content instanceof Uint8Array ? proceedWith(judgeAs(content, exchange, judge)) : content,
  )
}

/** An empty body has no coding that could be undone. */
function isCoded({ request, newRequestBody, requestBody }: Exchange): boolean {
  return request.has('content-encoding') && (newRequestBody ?? requestBody.whole)?.length !== 0
}

function judgeAs<T>(content: Uint8Array, exchange: Exchange, judge: (exchange: Exchange) => T): T {
  const { newRequestBody } = exchange
  exchange.newRequestBody = content
  try {
    return judge(exchange)
  } finally {
    exchange.newRequestBody = newRequestBody
  }
}
