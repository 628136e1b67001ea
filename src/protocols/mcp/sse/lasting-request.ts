import { clock } from '#base/clock.ts'
import { followUp } from '#exchange/follow-up.ts'
import { NO_MCP } from '#exchange/mcp-facts.ts'
import type { McpRequest } from '../mcp-request.ts'
import { type StreamAddress, servingChannel, type ToStream, tellStream } from './stream-address.ts'

/** How often the stream is asked whether it still exists: a worker that dies says nothing. */
const ALIVE_MS = 5000

/** A message of a client that is served after the response to its POST, for as long as the stream of the client lasts. */
export interface LastingRequest {
  readonly request: McpRequest
  /** Releases its memory and stops watching the stream. */
  readonly end: () => void
}

/** @param watch what the stream is told every few seconds */
export function lastingRequest(
  answered: McpRequest,
  address: StreamAddress,
  watch: ToStream = { say: 'alive' },
): LastingRequest {
  const { deps } = answered
  const { call, claim, draining } = deps.lasting()
  const over = new AbortController()
  const abort = () => over.abort()
  const close = deps.channels.open(servingChannel(address.key), abort)
  draining.addEventListener('abort', abort, { once: true })
  const exchange = followUp(answered.exchange)
  const { method, sessionId, toolCall } = answered.exchange.mcp ?? NO_MCP
  exchange.mcp = { ...NO_MCP, method, sessionId, toolCall }
  const request: McpRequest = { ...answered, exchange, deps: { ...deps, call, claim, signal: over.signal } }
  let timer = clock.after(ALIVE_MS, ask)
  async function ask(): Promise<void> {
    const isThere = await tellStream(request, address, watch)
    if (over.signal.aborted) return
    if (isThere) timer = clock.after(ALIVE_MS, ask)
    else abort()
  }
  const end = () => {
    over.abort()
    timer.cancel()
    close()
    draining.removeEventListener('abort', abort)
    claim.release()
  }
  return { request, end }
}
