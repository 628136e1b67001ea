import type { CallResponse } from '#exchange/call.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { SseParser } from '#protocols/http/sse.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import type { McpDeps } from '../mcp-request.ts'
import { mediaTypeOf } from '../message/accept.ts'
import { type Message, parseMessage } from '../message/json-rpc.ts'
import type { TargetMessage, TargetReply } from './target-reply.ts'

/** Longest accepted message of a target. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024

const MESSAGE_LIMIT = `the limit is ${MAX_MESSAGE_BYTES} bytes, which no field sets`
const BODY_MEMORY = 'the requests of this worker use all memory for bodies (GATEWRIGHT_BODY_MEMORY)'

/** Memory overhead of a piece of a response: a response may arrive in millions of pieces. */
const PIECE_BYTES = 64

/** The target broke the protocol after its response had begun, or exceeded a limit. */
export class TargetStreamError extends Error {
  /** The exceeded limit, which the client may know. */
  readonly limit: string | undefined

  constructor(message: string, limit?: string) {
    super(limit === undefined ? message : `${message}: ${limit}`)
    this.limit = limit
  }
}

/** The messages in the response of a target. */
export function readReply(
  target: McpTargetPlan,
  response: CallResponse,
  { claim, decode }: Pick<McpDeps, 'claim' | 'decode'>,
): TargetReply {
  const { status, endpoint } = response
  if (status < 200 || status > 299) return { kind: 'refused', response }
  const type = mediaTypeOf(response.header('content-type'))
  const sessionId = response.header('mcp-session-id')
  if (status === 202 || status === 204 || type === '') {
    discard(response)
    return { kind: 'nothing' }
  }
  const isJson = type === 'application/json'
  if (!isJson && type !== 'text/event-stream') {
    return unreadable(target, response, 'responded with neither JSON nor an event stream')
  }
  // Some servers compress although only `identity` is accepted.
  const body = decode(response.header('content-encoding') ?? '', response.body)
  if (body === undefined) return unreadable(target, response, 'used an unknown content coding')
  const head = { kind: 'messages', sessionId, endpoint, abort: () => giveUp(response) } as const
  if (!isJson) return { ...head, messages: readEvents(body, claim) }
  const readWhole = () => readBytes(body, claim)
  return { ...head, messages: { [Symbol.asyncIterator]: () => asMessages(readWhole()) }, readWhole }
}

/** Gives the unread rest up, also while a part of it is awaited. */
function giveUp({ body }: CallResponse): void {
  body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => {})
}

function unreadable({ name }: McpTargetPlan, response: CallResponse, how: string): TargetReply {
  discard(response)
  return { kind: 'failed', failure: 'invalid-answer', detail: `target ${name} ${how}` }
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

/** The message in a JSON body. Some servers respond to notifications with an empty body or `null`. */
export function readOnlyMessage(body: Uint8Array): Message | undefined {
  const text = decoder.decode(body).trim()
  return text === '' || text === 'null' ? undefined : readMessage(text)
}

const decoder = new TextDecoder()

async function* asMessages(body: Promise<Uint8Array>): AsyncGenerator<TargetMessage> {
  const message = readOnlyMessage(await body)
  if (message !== undefined) yield { message, eventId: undefined, retryMs: undefined, keep: () => {} }
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

/** A whole body, which is held until the request ends. */
async function readBytes(body: AsyncIterable<Uint8Array>, claim: BodyClaim): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > MAX_MESSAGE_BYTES) throw new TargetStreamError('the response of the target is too large', MESSAGE_LIMIT)
    hold(claim, piece.length + PIECE_BYTES)
    pieces.push(piece)
  }
  return pieces.length === 1 ? pieces[0]! : concat(pieces, bytes)
}

function concat(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** Reads the first bytes of a body. @returns the response with its whole body, and the text of what was read */
export async function peek(
  response: CallResponse,
): Promise<{ readonly response: CallResponse; readonly start: string }> {
  const pieces = response.body[Symbol.asyncIterator]()
  const first = await pieces.next().catch(() => undefined)
  if (first === undefined || first.done === true) return { response, start: '' }
  let unread: IteratorResult<Uint8Array> | undefined = first
  const iterator: AsyncIterator<Uint8Array> = {
    next: () => {
      if (unread === undefined) return pieces.next()
      const next = Promise.resolve(unread)
      unread = undefined
      return next
    },
    return: async () => (await pieces.return?.()) ?? { done: true, value: undefined },
  }
  const whole = { [Symbol.asyncIterator]: () => iterator }
  return { response: withBody(response, whole), start: new TextDecoder().decode(first.value) }
}

function withBody(response: CallResponse, body: CallResponse['body']): CallResponse {
  const { status, endpoint, headers } = response
  return {
    status,
    endpoint,
    headers,
    body,
    header: (lowerName) => response.header(lowerName),
    trailer: (lowerName) => response.trailer(lowerName),
  }
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
