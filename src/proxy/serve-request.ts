import { runResponsePolicies } from '#engine/request/decide.ts'
import type { PipedBody } from '#exchange/call.ts'
import { wholeBody } from '#exchange/known-body.ts'
import { refuseLargeBody } from '#exchange/refuse-large-body.ts'
import { BodyClaim } from '#net/body/body-memory.ts'
import { decodeStream } from '#net/body/decode-content.ts'
import { PumpedBody } from '#net/body/pumped-body.ts'
import { Head } from '#net/http/head.ts'
import type { SendableBody } from '#net/stream.ts'
import { isLoopbackAddress } from '#protocols/address.ts'
import type { Serve, ServedAnswer } from '#protocols/backend-protocol.ts'
import { startDeadline } from './deadline.ts'
import type { InFlight } from './in-flight.ts'
import { sendProcessed } from './process-response.ts'
import { DECISION } from './reply.ts'
import { fail, replyBody, respondLocally, sendBody } from './respond.ts'

/** Serves a request whose protocol ends at the gateway. */
export function serveRequest(flight: InFlight, serve: Serve): void {
  answer(flight, serve).catch((error: unknown) => {
    if (!flight.ended) fail(flight, error)
  })
}

async function answer(flight: InFlight, serve: Serve): Promise<void> {
  const { exchange, context, decision, bodies } = flight
  const { maxBufferBytes, readsToolCalls } = decision.frontend!
  if (exchange.requestBody.kind === 'unread') {
    const unread = await bodies.request.read(maxBufferBytes, true)
    if (!flight.isWaiting) return
    if (unread !== undefined) return respondLocally(flight, unread)
  }
  if (exchange.requestBody.kind === 'large') {
    return respondLocally(flight, refuseLargeBody('body-too-large', maxBufferBytes))
  }
  startDeadline(flight)
  const served = await serve(exchange, exchange.newRequestBody ?? exchange.requestBody.whole, {
    call: context.calls.toSections(flight.backend, exchange, flight.claim),
    lasting: () => ({
      call: context.calls.toSections(flight.backend, exchange, undefined),
      claim: new BodyClaim(context.bodyMemory),
      draining: context.draining,
    }),
    sealer: context.sealer,
    table: context.table,
    channels: context.channels,
    worker: context,
    toolsChanged: context.toolsChanged,
    claim: flight.claim,
    decode: decodeStream,
    signal: flight.signal,
    whenOver: (over) => flight.whenOver(over),
    maxKept: readsToolCalls ? maxBufferBytes : undefined,
    boundToLoopback: isLoopbackAddress(decision.listener!.item.address),
  })
  if (!flight.isWaiting) return endUnwanted(served)
  send(flight, served)
}

function send(flight: InFlight, served: ServedAnswer): void {
  const { exchange } = flight
  const head = Head.response(served.status)
  for (const [name, value] of served.headers) head.append(name, value)
  if (exchange.refusal !== undefined) head.set(DECISION, flight.decisionId)
  exchange.response = head
  exchange.responseIsRefusal = served.refuses === true
  const { body } = served
  const isWhole = body === undefined || body instanceof Uint8Array
  if (isWhole) exchange.responseBody = wholeBody(body)
  const replaced = runResponsePolicies(exchange, flight.decision)
  if (replaced !== undefined) {
    endUnwanted(served)
    return respondLocally(flight, replaced)
  }
  const sent = isWhole ? replyBody(flight, { head, body }) : streamedBody(flight, body)
  const source = { cancel: () => endUnwanted(served) }
  if (exchange.responseIsRefusal) {
    if (!sendBody(flight, head, sent)) source.cancel()
  } else sendProcessed(flight, sent, source)
  if (!isWhole && exchange.originalMethod === 'GET') flight.context.endless.add(flight)
}

/** Cancels the body when the request is over: a client may disconnect while its backlog keeps the body from being read. */
function streamedBody(flight: InFlight, body: AsyncIterable<Uint8Array> | PipedBody): SendableBody {
  const sent = 'pipe' in body ? body : new PumpedBody(body, (error) => flight.ended || fail(flight, error))
  flight.whenOver(() => {
    sent.cancel()
    flight.context.endless.delete(flight)
  })
  return sent
}

/** Ends a response that is not sent, for example because the client has disconnected. */
function endUnwanted({ body }: ServedAnswer): void {
  if (body === undefined || body instanceof Uint8Array) return
  body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => {})
}
