import { clock } from '#base/clock.ts'
import type { Attempt } from '#exchange/exchange.ts'
import type { McpRequest } from '../request/mcp-request.ts'

/** Milliseconds since the request of the client was received. */
export function sinceReceived({ exchange }: McpRequest): number {
  return clock.monotonic() - exchange.startMonotonicMs
}

/** Records when the response message of a target was complete. */
export function noteAnswered(request: McpRequest, target: string): void {
  const { exchange, deps } = request
  if (deps.signal.aborted) return
  const attempt = exchange.attempts?.findLast(({ endpoint, endedMs }) => endpoint === target && endedMs === undefined)
  if (attempt !== undefined) attempt.endedMs = sinceReceived(request)
}

/** Records a request to a target, for the decision record and the metrics. */
export function noteAttempt({ exchange, deps }: McpRequest, attempt: Attempt): void {
  // The exchange of a client that disconnected may serve another request already.
  if (deps.signal.aborted) return
  if (exchange.attempts === undefined) exchange.attempts = [attempt]
  else exchange.attempts.push(attempt)
}
