import { CallError, type CallResponse } from '#exchange/call.ts'
import type { Attempt } from '#exchange/exchange.ts'
import { describeCause, reachedBound } from '#exchange/reject-failure.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { SseParser } from '#protocols/http/sse.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import type { McpRequest } from '../mcp-request.ts'
import { mediaTypeOf } from '../message/accept.ts'
import { type Message, parseMessage } from '../message/json-rpc.ts'
import type { TargetSession } from '../session/target-session.ts'
import { targetHeaders } from './forward-headers.ts'

/** Longest accepted message of a target. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024

const MESSAGE_LIMIT = `the limit is ${MAX_MESSAGE_BYTES} bytes, which no field sets`
const BODY_MEMORY = 'the requests of this worker use all memory for bodies (GATEWRIGHT_BODY_MEMORY)'

/** Memory overhead of a piece of a response: a response may arrive in millions of pieces. */
const PIECE_BYTES = 64

/** A message of a target, with the other fields of its event. */
export interface TargetMessage {
  /** Undefined for an event without data, which has only an id or a reconnection time. */
  readonly message: Message | undefined
  readonly eventId: string | undefined
  readonly retryMs: number | undefined
  /** Keeps the message in memory after the next one was requested, until the request of the client ends. */
  readonly keep: () => void
}

/** The reply of a target to a request. */
export type TargetReply =
  | {
      readonly kind: 'messages'
      /** The `mcp-session-id` of the reply. */
      readonly sessionId: string | undefined
      readonly messages: AsyncIterable<TargetMessage>
      /** Abandons the unread rest. */
      readonly abort: () => void
    }
  /** No message: the reply to a notification. */
  | { readonly kind: 'nothing' }
  /** An HTTP status that is not a success; the body has not been read. */
  | { readonly kind: 'refused'; readonly response: CallResponse }
  | {
      readonly kind: 'failed'
      readonly failure: TargetFailure
      readonly detail: string
      /** The bound of the target that is reached, which the client may know. */
      readonly limit?: string
    }

export type TargetFailure = CallError['failure'] | 'invalid-answer'

/** The target broke the protocol after its response had begun, or exceeded a limit. */
export class TargetStreamError extends Error {
  /** The exceeded limit, which the client may know. */
  readonly limit: string | undefined

  constructor(message: string, limit?: string) {
    super(limit === undefined ? message : `${message}: ${limit}`)
    this.limit = limit
  }
}

export interface TargetCall {
  readonly target: McpTargetPlan
  /** Undefined before the target is initialised. */
  readonly session: TargetSession | undefined
  readonly method: 'POST' | 'GET'
  /** JSON-RPC text of a POST. */
  readonly message: string | undefined
}

const encoder = new TextEncoder()

/** Sends one HTTP request to a target. Failures of the target are values; the promise is not rejected for them. */
export async function callTarget(request: McpRequest, call: TargetCall): Promise<TargetReply> {
  const { plan, exchange, deps } = request
  const { target, session, method, message } = call
  if (target.unusable !== undefined) return { kind: 'failed', failure: 'no-endpoint', detail: target.unusable }
  const headers = targetHeaders(plan, exchange, target, session)
  headers.push(['accept', method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream'])
  if (message !== undefined) headers.push(['content-type', 'application/json'])
  const body = message === undefined ? undefined : encoder.encode(message)
  const controller = new AbortController()
  const signal = AbortSignal.any([deps.signal, controller.signal])
  try {
    const sent = { method, path: target.path, headers, body, timeoutMs: 0, signal }
    const response = await deps.call(target.destination, { purpose: 'mcp', ...sent })
    noteAttempt(request, { endpoint: target.name, status: response.status, failure: undefined })
    return readReply(call.target, response, { claim: deps.claim, abort: () => controller.abort() })
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    const { failure, detail } = error
    noteAttempt(request, { endpoint: target.name, status: 0, failure, detail })
    const cause = { code: failure, detail }
    const limit = reachedBound(cause)
    return {
      kind: 'failed',
      failure,
      detail: describeCause(cause, `from target ${target.name}`),
      ...(limit && { limit }),
    }
  }
}

function noteAttempt({ exchange, deps }: McpRequest, attempt: Attempt): void {
  // The exchange of a client that disconnected may serve another request already.
  if (deps.signal.aborted) return
  exchange.attempts ??= []
  exchange.attempts.push(attempt)
}

interface Reading {
  readonly claim: BodyClaim
  readonly abort: () => void
}

function readReply(target: McpTargetPlan, response: CallResponse, { claim, abort }: Reading): TargetReply {
  const { status, body } = response
  if (status < 200 || status > 299) return { kind: 'refused', response }
  const type = mediaTypeOf(response.header('content-type'))
  const sessionId = response.header('mcp-session-id')
  if (status === 202 || status === 204 || type === '') {
    discard(response)
    return { kind: 'nothing' }
  }
  if (type === 'text/event-stream') return { kind: 'messages', sessionId, messages: readEvents(body, claim), abort }
  if (type === 'application/json') return { kind: 'messages', sessionId, messages: readOne(body, claim), abort }
  discard(response)
  const detail = `target ${target.name} responded with neither JSON nor an event stream`
  return { kind: 'failed', failure: 'invalid-answer', detail }
}

async function* readEvents(body: AsyncIterable<Uint8Array>, claim: BodyClaim): AsyncGenerator<TargetMessage> {
  const parser = new SseParser(MAX_MESSAGE_BYTES)
  let heldBytes = 0
  let keptBytes = 0
  const keep = (bytes: number) => {
    keptBytes += bytes
  }
  /** Releases all memory that is no longer needed. */
  const giveBack = (neededBytes: number) => {
    const needed = Math.min(heldBytes, neededBytes + keptBytes)
    claim.give(heldBytes - needed)
    heldBytes = needed
  }
  try {
    for await (const chunk of body) {
      hold(claim, chunk.length + PIECE_BYTES)
      heldBytes += chunk.length + PIECE_BYTES
      const events = parser.push(chunk)
      for (const { data, id, retryMs } of events) {
        const message = data === '' ? undefined : readMessage(data)
        yield { message, eventId: id, retryMs, keep: () => keep(data.length) }
      }
      // All pieces of an unfinished event are still held.
      if (events.length > 0) giveBack(parser.held)
    }
  } finally {
    giveBack(0)
  }
}

/** Some servers respond to notifications with an empty body or `null`. The body is held until the request ends. */
async function* readOne(body: AsyncIterable<Uint8Array>, claim: BodyClaim): AsyncGenerator<TargetMessage> {
  const text = await readText(body, claim)
  if (text === '' || text === 'null') return
  yield { message: readMessage(text), eventId: undefined, retryMs: undefined, keep: () => {} }
}

/** A response is in memory until it is complete. */
function hold(claim: BodyClaim, bytes: number): void {
  if (!claim.take(bytes)) throw new TargetStreamError('no memory is left for the response of the target', BODY_MEMORY)
}

function readMessage(text: string): Message {
  const message = parseMessage(text)
  if (message.kind !== 'unreadable') return message
  const { problem, detail = problem } = message
  throw new TargetStreamError(`the target sent an invalid message: ${detail}`)
}

async function readText(body: AsyncIterable<Uint8Array>, claim: BodyClaim): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > MAX_MESSAGE_BYTES) throw new TargetStreamError('the response of the target is too large', MESSAGE_LIMIT)
    hold(claim, chunk.length + PIECE_BYTES)
    text += decoder.decode(chunk, { stream: true })
  }
  return (text + decoder.decode()).trim()
}

/** Discards an unneeded response. A short body is read, so that the connection can be reused. */
export function discard(response: CallResponse): void {
  discardBody(response.body)
}

export function discardBody(body: AsyncIterable<Uint8Array>): void {
  drain(body).catch(() => {})
}

async function drain(body: AsyncIterable<Uint8Array>): Promise<void> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > MAX_DRAINED_BYTES) return
  }
}

const MAX_DRAINED_BYTES = 64 * 1024
