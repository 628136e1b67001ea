import { runResponsePolicies } from '#engine/decide.ts'
import { reject } from '#exchange/outcome.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import { Head } from '#net/http/head.ts'
import { BODY_CHUNKED, BODY_LENGTH, BODY_NONE } from '#net/stream.ts'
import type { Serve, ServedAnswer } from '#protocols/backend-protocol.ts'
import type { InFlight } from './in-flight.ts'
import { pumpBody } from './pump-body.ts'
import { recordResponse } from './record-bodies.ts'
import { DECISION } from './reply.ts'
import { fail, respondLocally, sendHead, writeQueuedHeaders } from './respond.ts'

/** Serves a request whose protocol ends at the gateway, which makes calls of its own. */
export function serveRequest(flight: InFlight, serve: Serve): void {
  const { turn } = flight
  answer(flight, serve).catch((error: unknown) => {
    if (turn === flight.turn) fail(flight, error)
  })
}

async function answer(flight: InFlight, serve: Serve): Promise<void> {
  const { exchange, context, decision, turn } = flight
  const { maxBufferBytes, readsToolCalls } = decision.frontend!
  if (exchange.requestBody === undefined) {
    const unread = await flight.readRequestBody(exchange, maxBufferBytes, true)
    if (turn !== flight.turn) return
    if (unread !== undefined) return respondLocally(flight, unread)
  }
  if (exchange.requestBody === null) return respondLocally(flight, reject('body-too-large'))
  const served = await serve(exchange, exchange.newRequestBody ?? exchange.requestBody, {
    call: context.calls.toSections(flight.backend, exchange, flight.claim),
    sealer: context.sealer,
    once: context.once,
    worker: context,
    claim: flight.claim,
    signal: flight.signal,
    maxKept: readsToolCalls ? maxBufferBytes : undefined,
    boundToLoopback: isLoopback(decision.listener!.item.address),
  })
  if (turn !== flight.turn) return endUnwanted(served)
  await send(flight, served)
}

/** Pages of other sites can reach a loopback listener through the user's browser (decision B81). */
function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.')
}

async function send(flight: InFlight, answer: ServedAnswer): Promise<void> {
  const { exchange, stream, turn } = flight
  const head = Head.response(answer.status)
  for (const [name, value] of answer.headers) head.append(name, value)
  if (exchange.refusal !== undefined) head.set(DECISION, flight.decisionId)
  exchange.response = head
  runResponsePolicies(exchange, flight.decision)
  writeQueuedHeaders(flight)
  const { body } = answer
  if (body === undefined || body instanceof Uint8Array) {
    exchange.responseBody = body ?? new Uint8Array(0)
    const length = body?.length ?? 0
    if (!sendHead(flight, head, length === 0 ? BODY_NONE : BODY_LENGTH, length)) return
    if (body !== undefined && length > 0) stream.response.bytes(asBuffer(body), 0, length)
    stream.response.end()
    return
  }
  if (!sendHead(flight, head, BODY_CHUNKED, -1)) return endUnwanted(answer)
  const stopWatching = exchange.originalMethod === 'GET' ? endWhenDraining(flight) : undefined
  try {
    await pumpBody(body, recordResponse(flight, stream.response), () => turn === flight.turn)
  } finally {
    stopWatching?.()
  }
}

/**
 * A stream of notifications has no end of its own: nobody would ever be done with it. Its client opens it anew elsewhere.
 * @returns to be called when it has ended, for the signal is that of the worker and outlives it
 */
function endWhenDraining(flight: InFlight): () => void {
  const { turn, stream, context } = flight
  const { draining } = context
  const end = () => {
    if (turn !== flight.turn) return
    stream.response.end()
    flight.abort?.abort()
  }
  if (draining.aborted) end()
  else draining.addEventListener('abort', end, { once: true, signal: flight.signal })
  return () => draining.removeEventListener('abort', end)
}

/** The client left while its answer was being made. */
function endUnwanted({ body }: ServedAnswer): void {
  if (body === undefined || body instanceof Uint8Array) return
  body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => {})
}
