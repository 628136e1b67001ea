import type { McpRequest, SessionTarget } from '../mcp-request.ts'
import { closeConnection } from '../sse/call-over-sse.ts'
import { targetHeaders } from '../target/forward-headers.ts'
import { discard } from '../target/read-reply.ts'

const CLOSE_TIMEOUT_MS = 10_000

/**
 * Prepares to end the sessions of targets that have one. The exchange is read now, because it may serve another request when the returned
 * function is called. Failures do not affect the client, and a disconnected client does not stop the function.
 */
export function prepareClose(request: McpRequest, targets: readonly SessionTarget[]): () => Promise<void> {
  const { plan, exchange, deps } = request
  const { signal } = new AbortController()
  const begun = targets.filter(({ session }) => session?.sessionId !== undefined)
  const calls = begun.map(({ plan: target, session }) => {
    const headers = targetHeaders(plan, exchange, target, session)
    const { destination, path, protocol } = target
    if (protocol === 'SSE') return () => closeConnection(deps, session!.sessionId!)
    const call = { method: 'DELETE', path, headers, body: undefined, timeoutMs: CLOSE_TIMEOUT_MS, signal }
    return () => deps.call(destination, { purpose: 'mcp', ...call }).then(discard, () => {})
  })
  return async () => {
    await Promise.all(calls.map((call) => call()))
  }
}
