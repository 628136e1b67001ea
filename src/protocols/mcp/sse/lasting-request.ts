import { clock } from '#base/clock.ts'
import { followUp } from '#exchange/follow-up.ts'
import { NO_MCP } from '#exchange/mcp-facts.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import {
  ALIVE_MS,
  type StreamAddress,
  servingChannel,
  type ToServing,
  type ToStream,
  tellStream,
} from './stream-address.ts'

/** A message of a client that is served after the response to its POST, for as long as the stream of the client lasts. */
export interface LastingRequest {
  readonly request: McpRequest
  /** Releases its memory, stops watching the stream, and notifies those registered with `whenOver`. */
  readonly end: () => void
}

/** @param watch the message to the stream every few seconds */
export function lastingRequest(
  answered: McpRequest,
  address: StreamAddress,
  watch: ToStream = { say: 'alive' },
): LastingRequest {
  const { deps } = answered
  const { call, claim, draining } = deps.lasting()
  const over = new AbortController()
  const abort = () => over.abort()
  const close = deps.channels.open(servingChannel(address.key), (told) => {
    if ((told as ToServing) === 'over') abort()
  })
  draining.addEventListener('abort', abort, { once: true })
  const exchange = followUp(answered.exchange)
  const { method, sessionId, toolCall } = answered.exchange.mcp ?? NO_MCP
  exchange.mcp = { ...NO_MCP, method, sessionId, toolCall }
  const callbacks: (() => void)[] = []
  const whenOver = (callback: () => void) => void callbacks.push(callback)
  const request: McpRequest = { ...answered, exchange, deps: { ...deps, call, claim, signal: over.signal, whenOver } }
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
    for (const callback of callbacks) callback()
  }
  return { request, end }
}
