import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { listen, type Upstream, type UpstreamOptions } from './listen.ts'
import { runAlone } from './run-alone.ts'

/** What an echo server saw of a request, as it arrived. */
export interface Echo {
  readonly name: string
  readonly method: string
  /** With the query, not decoded. */
  readonly path: string
  /** Names in lower case; a header that came more than once is a list. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: string
}

/** What the query asks of the answer. */
interface Wishes {
  readonly status: number
  readonly delayMs: number
  /** Undefined: one JSON document. Else that many server-sent events. */
  readonly events: number | undefined
}

const EVENT_PAUSE_MS = 50

/**
 * Starts a server that answers every request with what it saw ({@link Echo}).
 * `?status=503` chooses the status, `?delay=200` waits that many milliseconds first, `?stream=3` answers with three events.
 */
export function startEcho({ port, name = 'echo' }: UpstreamOptions): Promise<Upstream> {
  return listen({ port, name }, () => (request, response, gone) => answer(name, request, response, gone))
}

async function answer(
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  const echo = await describe(name, request)
  const wishes = parseWishes(new URLSearchParams(echo.path.split('?')[1]))
  if (typeof wishes === 'string') {
    response.writeHead(400, { 'content-type': 'text/plain; charset=utf-8' }).end(`${wishes}\n`)
    return
  }
  await sleep(wishes.delayMs, undefined, { signal: gone })
  response.setHeader('x-served-by', name)
  if (wishes.events === undefined) {
    response.statusCode = wishes.status
    response.setHeader('content-type', 'application/json').end(`${JSON.stringify(echo)}\n`)
    return
  }
  response.writeHead(wishes.status, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  await pipeline(eventsOf(echo, wishes.events), response)
}

async function describe(name: string, request: IncomingMessage): Promise<Echo> {
  const body = Buffer.concat(await Array.fromAsync<Buffer>(request)).toString()
  const headers = Object.entries(request.headersDistinct).map(([header, values = []]) => {
    const [first = '', ...more] = values
    return [header, more.length === 0 ? first : values] as const
  })
  return { name, method: request.method ?? '', path: request.url ?? '', headers: Object.fromEntries(headers), body }
}

/** The wishes, or what is wrong with them. */
function parseWishes(query: URLSearchParams): Wishes | string {
  const status = parseNumber(query.get('status') ?? '200', 200, 599)
  if (status === undefined) return 'status is a number from 200 to 599'
  const delayMs = parseNumber(query.get('delay') ?? '0', 0, 600_000)
  if (delayMs === undefined) return 'delay is a number of milliseconds, at most 600000'
  const wanted = query.get('stream')
  if (wanted === null) return { status, delayMs, events: undefined }
  const events = parseNumber(wanted, 0, 10_000)
  if (events === undefined) return 'stream is a number of events, at most 10000'
  return { status, delayMs, events }
}

function parseNumber(text: string, least: number, most: number): number | undefined {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  return value >= least && value <= most ? value : undefined
}

/** Server-sent events with a pause between them, so that one can watch a stream flow. */
async function* eventsOf({ name, path }: Echo, count: number): AsyncGenerator<string> {
  for (let event = 1; event <= count; event++) {
    if (event > 1) await sleep(EVENT_PAUSE_MS)
    yield `data: ${JSON.stringify({ name, event, of: count, path })}\n\n`
  }
}

if (import.meta.main) await runAlone(startEcho, { port: 9101, name: 'blue' })
