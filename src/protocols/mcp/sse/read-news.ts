import type { McpDeps } from '../request/mcp-request.ts'
import { listenForNews, parseNews, type StreamNews } from '../session/session-stream.ts'

/** Maximum number of news for a client that does not read. Further ones are dropped, because they only say that lists have changed. */
const MAX_WAITING = 16

/** Yields the news that other requests send to the stream of a session, until the client disconnects. */
export async function* readNews(
  { channels, signal }: Pick<McpDeps, 'channels' | 'signal'>,
  sessionKey: string,
): AsyncGenerator<{ readonly text: string } | 'end'> {
  const waiting: StreamNews[] = []
  let wake = Promise.withResolvers<void>()
  const close = listenForNews(channels, sessionKey, (text) => {
    const news = parseNews(text)
    if (waiting.length < MAX_WAITING || news.kind === 'end') waiting.push(news)
    wake.resolve()
  })
  const left = () => wake.resolve()
  signal.addEventListener('abort', left, { once: true })
  try {
    while (!signal.aborted) {
      const news = waiting.shift()
      if (news === undefined) {
        await wake.promise
        wake = Promise.withResolvers<void>()
      } else if (news.kind === 'end') {
        yield 'end'
        return
      } else yield { text: news.text }
    }
  } finally {
    close()
    signal.removeEventListener('abort', left)
  }
}
