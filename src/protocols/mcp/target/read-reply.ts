import type { CallResponse } from '#exchange/call.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import { mediaTypeOf } from '../message/accept.ts'
import type { Message } from '../message/json-rpc.ts'
import type { TargetMessage, TargetReply } from '../message/target-reply.ts'
import type { McpDeps } from '../request/mcp-request.ts'
import { holdPiece, MAX_MESSAGE_BYTES, readMessage } from './read-message.ts'
import { TargetEvents } from './target-events.ts'
import { TargetStreamError } from './target-stream-error.ts'

const MESSAGE_LIMIT = `the limit is ${MAX_MESSAGE_BYTES} bytes, which no field sets`

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
  const abort = giverUpOf(response)
  if (!isJson) return { kind: 'messages', sessionId, endpoint, abort, messages: new TargetEvents(body, claim) }
  const json = new JsonBody(body, body === response.body ? response : undefined, claim)
  return { kind: 'messages', sessionId, endpoint, abort, messages: json, readWhole: json.readWhole }
}

/** Discards the unread rest, even while a part of it is awaited. Streams are long-lived, so this holds nothing else in memory. */
function giverUpOf({ body }: CallResponse): () => void {
  return () => {
    body[Symbol.asyncIterator]()
      .return?.()
      .catch(() => {})
  }
}

/** A body that is one message. */
class JsonBody implements AsyncIterable<TargetMessage> {
  readonly #body: AsyncIterable<Uint8Array>
  readonly #response: Pick<CallResponse, 'takeArrived'> | undefined
  readonly #claim: BodyClaim

  /** @param response undefined: the body has been changed since it was received */
  constructor(
    body: AsyncIterable<Uint8Array>,
    response: Pick<CallResponse, 'takeArrived'> | undefined,
    claim: BodyClaim,
  ) {
    this.#body = body
    this.#response = response
    this.#claim = claim
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TargetMessage> {
    const message = readOnlyMessage(await this.readWhole())
    if (message !== undefined) yield { message, eventId: undefined, retryMs: undefined, keep: () => {} }
  }

  /** It is held until the request ends. */
  readonly readWhole = (): Uint8Array | Promise<Uint8Array> => {
    const arrived = this.#response?.takeArrived?.()
    if (arrived === undefined) return readBytes(this.#body, this.#claim)
    holdWithin(this.#claim, arrived, 0)
    return arrived
  }
}

function unreadable({ name }: McpTargetPlan, response: CallResponse, how: string): TargetReply {
  discard(response)
  return { kind: 'failed', failure: 'invalid-answer', detail: `target ${name} ${how}` }
}

/** The message in a JSON body. Some servers respond to notifications with an empty body or `null`. */
export function readOnlyMessage(body: Uint8Array): Message | undefined {
  const text = decoder.decode(body).trim()
  return text === '' || text === 'null' ? undefined : readMessage(text)
}

const decoder = new TextDecoder()

async function readBytes(body: AsyncIterable<Uint8Array>, claim: BodyClaim): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    holdWithin(claim, piece, bytes)
    bytes += piece.length
    pieces.push(piece)
  }
  return pieces.length === 1 ? pieces[0]! : concat(pieces, bytes)
}

/** @param before bytes of the pieces before this one */
function holdWithin(claim: BodyClaim, piece: Uint8Array, before: number): void {
  if (before + piece.length > MAX_MESSAGE_BYTES) {
    throw new TargetStreamError('the response of the target is too large', MESSAGE_LIMIT)
  }
  holdPiece(claim, piece)
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
