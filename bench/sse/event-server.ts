import { createServer, type ServerResponse } from 'node:http'
import { PORTS } from '../settings.ts'
import { monotonicUs, stampedEvent } from './stamp.ts'

/**
 * Responds to every request with a stream of `EVENTS` chat-completion events at intervals of `PAUSE_MS`, each with the time at which it was
 * written.
 */
const EVENTS = 100
const PAUSE_MS = 10
const USAGE = { prompt_tokens: 52, completion_tokens: EVENTS, total_tokens: 52 + EVENTS }

createServer({ noDelay: true }, (request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  stream(response, 0)
}).listen(PORTS.events, '127.0.0.1')

function stream(response: ServerResponse, sent: number): void {
  if (response.destroyed) return
  if (sent === EVENTS) {
    response.end(`${stampedEvent(monotonicUs(), { choices: [], usage: USAGE })}data: [DONE]\n\n`)
    return
  }
  const choices = [{ index: 0, delta: { content: ` token${sent}` }, logprobs: null, finish_reason: null }]
  response.write(stampedEvent(monotonicUs(), { choices }))
  setTimeout(stream, PAUSE_MS, response, sent + 1)
}
