import { clock } from '#base/clock.ts'
import { NO_MCP } from '#exchange/mcp-facts.ts'
import { openStream } from '../answer/open-stream.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { findSession } from '../serve/find-session.ts'
import { pauseBefore } from '../target/stream-timing.ts'
import { lastingRequest } from './lasting-request.ts'
import { messagesOf } from './messages-of.ts'
import { readNews } from './read-news.ts'
import { type StreamAddress, tellStream } from './stream-address.ts'

/** Pause before the streams of the targets are opened again, after one and after many failures. */
const MIN_PAUSE_MS = 1000
const MAX_PAUSE_MS = 30_000

/**
 * Prepares to hand on what targets send without a request, and what the gateway says of its lists. It ends with the stream of the client, and
 * when the backend has other targets: the next message of the client, with the new configuration, begins it again.
 * @returns begins
 */
export function followTargets(answered: McpRequest, address: StreamAddress): () => void {
  const { request, end } = lastingRequest(answered, address, { say: 'following' })
  // The session view shows it like the stream of a client that opens one.
  const { exchange } = request
  exchange.request.method = 'GET'
  exchange.mcp = { ...NO_MCP, sessionId: exchange.mcp?.sessionId }
  return () =>
    void follow(request, address)
      .catch(() => {})
      .then(() => tellStream(request, address, { say: 'unfollowed', sessionId: request.exchange.mcp?.sessionId }))
      .finally(end)
}

async function follow(request: McpRequest, address: StreamAddress): Promise<void> {
  const { signal } = request.deps
  for (let pauseMs = MIN_PAUSE_MS; !signal.aborted; ) {
    const session = findSession(request)
    if ('status' in session) return
    const answer = await openStream(request, session)
    if (answer.status === 200) {
      pauseMs = MIN_PAUSE_MS
      for await (const { text } of messagesOf(answer)) {
        if (text !== '' && !(await tellStream(request, address, { say: 'message', text }))) return
      }
      await pauseBefore(pauseMs, signal)
    } else {
      // No target has such a stream, or it failed; there may be news of the gateway.
      const waitMs = answer.status === 405 ? undefined : pauseMs
      pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)
      if ((await tellNews(request, address, session.key, waitMs)) === 'end') return
    }
  }
}

/** @param waitMs undefined: until the client disconnects. @returns `end`: the session has ended, or has other targets */
async function tellNews(
  request: McpRequest,
  address: StreamAddress,
  sessionKey: string,
  waitMs: number | undefined,
): Promise<'end' | undefined> {
  const { channels, signal } = request.deps
  const waited = new AbortController()
  const timer = waitMs === undefined ? undefined : clock.after(waitMs, () => waited.abort())
  try {
    for await (const news of readNews({ channels, signal: AbortSignal.any([signal, waited.signal]) }, sessionKey)) {
      if (news === 'end') return 'end'
      await tellStream(request, address, { say: 'message', text: news.text })
    }
    return undefined
  } finally {
    timer?.cancel()
  }
}
