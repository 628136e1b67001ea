import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Answer } from './listen.ts'

/** Serves with web-standard requests and responses, the shape in which the official SDKs offer their servers. */
export type FetchHandler = (request: Request) => Response | Promise<Response>

/** Answers with a fetch handler. Event streams are sent piece by piece, everything else at once. */
export function answerWith(handle: FetchHandler): Answer {
  return async (incoming, outgoing, gone) => send(await handle(await toRequest(incoming, gone)), outgoing)
}

async function toRequest(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(incoming.headersDistinct)) {
    for (const value of values) headers.append(name, value)
  }
  const method = incoming.method ?? 'GET'
  const body = Buffer.concat(await Array.fromAsync<Buffer>(incoming))
  const url = new URL(incoming.url ?? '/', 'http://127.0.0.1')
  return new Request(url, { method, headers, signal, ...(body.length > 0 && { body }) })
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  for (const [name, value] of response.headers) outgoing.appendHeader(name, value)
  outgoing.statusCode = response.status
  if (response.body === null) {
    outgoing.end()
    return
  }
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    outgoing.end(Buffer.from(await response.arrayBuffer()))
    return
  }
  // A stream may stay silent for a long time; its reader must see the head at once.
  outgoing.flushHeaders()
  await pipeline(response.body, outgoing)
}
