import type { CallRequest } from '#exchange/call.ts'
import type { MessageId } from '../message/json-rpc.ts'
import type { McpRequest, SessionTarget } from '../request/mcp-request.ts'
import { targetHeaders } from '../target/forward-headers.ts'
import { discard } from '../target/read-reply.ts'
import { closeConnection } from './call-over-sse.ts'

const CLOSE_TIMEOUT_MS = 10_000

const encoder = new TextEncoder()

/**
 * Prepares to end the sessions of targets that have one. The exchange is read now, because it may serve another request when the returned
 * function is called. Failures do not affect the client, and a disconnected client does not stop the function.
 *
 * @param requestId the only request of these sessions. @returns its argument: that request has been cancelled, and they are told first
 */
export function prepareClose(
  request: McpRequest,
  targets: readonly SessionTarget[],
  requestId?: MessageId,
): (isCancelled?: boolean) => Promise<void> {
  const { plan, exchange, deps } = request
  const { signal } = new AbortController()
  const begun = targets.filter(({ session }) => session?.sessionId !== undefined)
  const cancellation = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
  const ends = begun.map(({ plan: target, session }) => {
    const headers = targetHeaders(plan, exchange, target, session)
    const { destination, path, protocol } = target
    if (protocol === 'SSE') {
      return (isCancelled: boolean) =>
        closeConnection(deps, session!.sessionId!, isCancelled ? cancellation : undefined)
    }
    const call = { purpose: 'mcp', path, timeoutMs: CLOSE_TIMEOUT_MS, signal, prefer: session!.endpoint } as const
    const send = (method: string, more: Pick<CallRequest, 'headers' | 'body'>) =>
      deps.call(destination, { ...call, method, ...more }).then(discard, () => {})
    const cancel = () => send('POST', { headers: [...headers, ...JSON_FIELDS], body: encoder.encode(cancellation) })
    return async (isCancelled: boolean) => {
      if (isCancelled) await cancel()
      await send('DELETE', { headers, body: undefined })
    }
  })
  return async (isCancelled = false) => {
    await Promise.all(ends.map((end) => end(isCancelled && requestId !== undefined)))
  }
}

const JSON_FIELDS = [
  ['accept', 'application/json, text/event-stream'],
  ['content-type', 'application/json'],
] as const
