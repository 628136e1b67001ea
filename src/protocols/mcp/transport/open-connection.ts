import { clock } from '#base/clock.ts'
import type { CallResponse } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { type SseEvent, SseParser } from '#protocols/http/sse.ts'
import { mediaTypeOf } from '../message/accept.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { newConnectionId, SseConnection } from '../request/sse-connection.ts'
import { digestOfCaller } from '../session/caller-of.ts'
import { targetHeaders } from '../target/forward-headers.ts'
import { readMessage } from '../target/read-message.ts'
import { discard } from '../target/read-reply.ts'
import { isSameServer } from '../target/redirected-path.ts'
import { requestTarget, type TargetCall } from '../target/send-to-target.ts'
import type { FailedReply } from '../target/target-failure.ts'
import { TargetStreamError } from '../target/target-stream-error.ts'
import { makeRoom } from './make-room.ts'

/** How long a target may take until it names its endpoint. */
const OPENING_MS = 10_000

/** Longest event before that. */
const MAX_FIRST_EVENT = 16 * 1024

/** Event streams of targets per worker. */
const MAX_CONNECTIONS = 10_000

/** Longest accepted message of a target. */
const MAX_MESSAGE = 32 * 1024 * 1024

/** Memory overhead of a piece of the stream. */
const PIECE_BYTES = 64

const encoder = new TextEncoder()

/** Opens the event stream of a target and waits until it says where it wants messages. */
export async function openConnection(
  request: McpRequest,
  { target }: Pick<TargetCall, 'target'>,
): Promise<SseConnection | FailedReply> {
  const { deps, plan, exchange } = request
  const owner = ownerOf(exchange)
  const { connections } = deps.memory
  if (connections.size >= MAX_CONNECTIONS && !makeRoom([...connections.values()], owner)) {
    const detail = `this worker uses ${MAX_CONNECTIONS} event streams of targets`
    return { kind: 'failed', failure: 'too-many-waiting', detail }
  }
  const { call, claim, draining } = deps.lasting()
  const controller = new AbortController()
  const stop = () => controller.abort()
  const timer = clock.after(OPENING_MS, stop)
  deps.signal.addEventListener('abort', stop, { once: true })
  const failed = (detail: string): FailedReply => {
    stop()
    claim.release()
    return { kind: 'failed', failure: 'invalid-answer', detail: `target ${target.name} ${detail}` }
  }
  try {
    const sent = await requestTarget(request, { target, session: undefined, method: 'GET', message: undefined }, call, {
      signal: controller.signal,
      limits: { headMs: OPENING_MS },
    })
    if ('kind' in sent) {
      claim.release()
      return sent
    }
    const { response, path: base } = sent
    if (response.status < 200 || response.status > 299) {
      claim.release()
      return { kind: 'refused', response }
    }
    const isStream = mediaTypeOf(response.header('content-type')) === 'text/event-stream'
    const body = isStream ? deps.decode(response.header('content-encoding') ?? '', response.body) : undefined
    if (body === undefined) {
      discard(response)
      return failed('responded with no event stream')
    }
    const stream = readEvents(body, claim)
    const first = await stream.next().catch(() => undefined)
    if (deps.signal.aborted) return failed('was not asked further: the client has disconnected')
    if (first?.done !== false || first.value.event !== 'endpoint') {
      return failed(`did not name its endpoint within ${OPENING_MS / 1000} s in its first event`)
    }
    const path = endpointPath(first.value.data, { response, base })
    if (path === undefined) return failed('named an endpoint of another server')
    const headers = [...targetHeaders(plan, exchange, target, undefined), ['content-type', 'application/json'] as const]
    const connection = new SseConnection({
      id: newConnectionId(deps.channels.thread),
      owner,
      endpoint: { path, label: response.endpoint },
      claim,
      stop,
      send: async (message) => {
        const { signal } = new AbortController()
        const body = encoder.encode(message)
        const post = { purpose: 'mcp', method: 'POST', path, headers, body, prefer: response.endpoint, signal } as const
        await call(target.destination, { ...post, timeoutMs: OPENING_MS }).then(discard, () => {})
      },
    })
    keep(connection, request, draining)
    void forward(stream, connection)
    return connection
  } finally {
    timer.cancel()
    deps.signal.removeEventListener('abort', stop)
  }
}

/** A client that has no identity is known by its address only: it chooses all else that it shows. */
function ownerOf({ identity, peer }: Exchange): string {
  const { jwt, apiKey, basicAuth } = identity
  return (jwt ?? apiKey ?? basicAuth) === undefined ? peer.remoteAddress : digestOfCaller(identity)
}

function keep(connection: SseConnection, { deps }: McpRequest, draining: AbortSignal): void {
  const { connections } = deps.memory
  connections.set(connection.id, connection)
  connection.openTo(deps.channels)
  const drain = () => connection.closeWhenUnused()
  draining.addEventListener('abort', drain, { once: true })
  connection.whenClosed(() => {
    connections.delete(connection.id)
    draining.removeEventListener('abort', drain)
  })
}

/** Hands on all messages until the stream ends, or the connection is closed. A target that sends something else has broken its stream. */
async function forward(stream: AsyncGenerator<SseEvent>, connection: SseConnection): Promise<void> {
  try {
    for await (const { event, data } of stream) {
      if (data === '' || (event !== '' && event !== 'message')) continue
      const message = readMessage(data)
      if (message !== undefined) await connection.deliver(message)
    }
  } catch {
    // The requests that wait fail with the connection.
  } finally {
    connection.close()
  }
}

async function* readEvents(body: AsyncIterable<Uint8Array>, claim: BodyClaim): AsyncGenerator<SseEvent> {
  const parser = new SseParser(MAX_MESSAGE)
  let heldBytes = 0
  let hasBegun = false
  for await (const chunk of body) {
    const bytes = chunk.length + PIECE_BYTES
    if (!claim.take(bytes)) throw new TargetStreamError('no memory is left for the stream of the target')
    heldBytes += bytes
    const events = parser.push(chunk)
    yield* events
    hasBegun ||= events.length > 0
    if (!hasBegun && heldBytes > MAX_FIRST_EVENT) throw new TargetStreamError('the first event is too long')
    // All pieces of an unfinished event are still held.
    if (events.length === 0) continue
    const needed = Math.min(heldBytes, parser.held)
    claim.give(heldBytes - needed)
    heldBytes = needed
  }
}

/**
 * The path and query of the endpoint that a target has named: an absolute URL of the same server, a path, a query, or a path relative to
 * that of the stream. Messages go to the destination of the configuration in any case.
 * @returns undefined: it is at another server, or no URL
 */
function endpointPath(
  named: string,
  { response, base }: { readonly response: Pick<CallResponse, 'endpoint'>; readonly base: string },
): string | undefined {
  const from = URL.parse(`http://${response.endpoint}${base}`)
  const to = from === null ? null : URL.parse(named, from)
  if (from === null || to === null || !/^https?:$/.test(to.protocol) || !isSameServer(to, from)) return undefined
  return `${to.pathname}${to.search}`
}
