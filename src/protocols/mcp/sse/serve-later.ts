import { toByteText } from '#base/byte-text.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { noteMcpError } from '#exchange/mcp-facts.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import { openStream } from '../answer/open-stream.ts'
import {
  errorText,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isAnswerTo,
  parseMessage,
  type RequestMessage,
} from '../message/json-rpc.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { findSession } from '../serve/find-session.ts'
import { handlePost } from '../serve/handle-post.ts'
import { pauseBefore } from '../target/stream-timing.ts'
import { noteFailure } from '../target/target-failure.ts'
import { lastingRequest } from './lasting-request.ts'
import { type AnswerMessage, messagesOf } from './messages-of.ts'
import { type StreamAddress, tellStream } from './stream-address.ts'

/** Requests of one client that a worker serves at a time. */
const MAX_SERVED = 100

const encoder = new TextEncoder()

/** Serves a request of a client; what it leads to goes to the stream of the client, and its outcome to the log line of the POST. */
export function serveLater(answered: McpRequest, address: StreamAddress, message: RequestMessage): void {
  const { request, end } = lastingRequest(answered, address)
  const ended = serveWithinBounds(request, address, message)
    .catch((error: unknown) => noteFailure(request.exchange, error))
    .finally(end)
  answered.exchange.workAfterResponse = { exchange: request.exchange, ended }
}

async function serveWithinBounds(request: McpRequest, address: StreamAddress, message: RequestMessage): Promise<void> {
  const { claim, memory } = request.deps
  const { served } = memory
  const count = served.get(address.key) ?? 0
  if (count >= MAX_SERVED || !claim.take(message.text.length)) {
    await sayError(request, address, message, { code: INTERNAL_ERROR, text: 'too many messages are being served' })
    return
  }
  served.set(address.key, count + 1)
  try {
    await serve(request, address, message)
  } finally {
    const left = (served.get(address.key) ?? 1) - 1
    if (left === 0) served.delete(address.key)
    else served.set(address.key, left)
  }
}

async function serve(request: McpRequest, address: StreamAddress, message: RequestMessage): Promise<void> {
  const { exchange, deps } = request
  try {
    const answer = await handlePost(request, encoder.encode(message.text))
    if (message.method === 'initialize') await begin(request, address, answer)
    let isAnswered = false
    for await (const { text } of resumed(request, message, answer)) {
      if (text === '') continue
      const answers = isAnswer(text, message) ? { answers: message.id } : {}
      isAnswered ||= 'answers' in answers
      if (!(await tellStream(request, address, { say: 'message', text, ...answers }))) return noteEndOfStream(exchange)
    }
    if (deps.signal.aborted) return noteEndOfStream(exchange)
    if (!isAnswered) await sayError(request, address, message, { code: INVALID_REQUEST, text: describe(answer) })
    if (exchange.refusal === 'mcp-session-unknown') await tellStream(request, address, { say: 'end' })
  } catch (error) {
    if (deps.signal.aborted) return noteEndOfStream(exchange)
    noteFailure(exchange, error)
    await sayError(request, address, message, { code: INTERNAL_ERROR, text: 'the request could not be served' })
  }
}

function noteEndOfStream(exchange: Exchange): void {
  exchange.refusalDetail ??= 'the stream of the client ended before the response'
}

/** The client gets an error as the response. */
async function sayError(
  request: McpRequest,
  address: StreamAddress,
  { id }: RequestMessage,
  { code, text }: { readonly code: number; readonly text: string },
): Promise<void> {
  const { mcp } = request.exchange
  if (mcp?.errorCode === undefined) noteMcpError(mcp, code, text)
  await tellStream(request, address, { say: 'message', text: errorText(id, code, text), answers: id })
}

/** The client does not need the id of its session: the stream knows it. */
async function begin(request: McpRequest, address: StreamAddress, { headers }: ServedAnswer): Promise<void> {
  const id = headers.find(([name]) => name === 'mcp-session-id')?.[1]
  if (id !== undefined) await tellStream(request, address, { say: 'session', id })
}

/** A target may end the stream of a response early (revision 2025-11-25). This transport has no way for clients to continue it. */
async function* resumed(
  request: McpRequest,
  message: RequestMessage,
  first: ServedAnswer,
): AsyncGenerator<AnswerMessage> {
  const { exchange, deps } = request
  let answer = first
  for (;;) {
    let lastEventId: string | undefined
    let retryMs: number | undefined
    for await (const received of messagesOf(answer)) {
      lastEventId = received.eventId ?? lastEventId
      retryMs = received.retryMs ?? retryMs
      yield received
      if (received.text !== '' && isAnswer(received.text, message)) return
    }
    if (lastEventId === undefined || deps.signal.aborted) return
    await pauseBefore(retryMs, deps.signal)
    const session = findSession(request)
    if (deps.signal.aborted || 'status' in session) return
    exchange.request.set('last-event-id', toByteText(lastEventId))
    answer = await openStream(request, session)
    if (answer.status !== 200) return
    endWith(deps.signal, answer)
  }
}

/** A stream of notifications does not notice that its client has disconnected. */
function endWith(signal: AbortSignal, { body }: ServedAnswer): void {
  if (body === undefined || !('pipe' in body)) return
  if (signal.aborted) body.cancel()
  else signal.addEventListener('abort', () => body.cancel(), { once: true })
}

function isAnswer(text: string, { id }: RequestMessage): boolean {
  const message = parseMessage(text)
  return message.kind === 'response' && isAnswerTo(message, id)
}

function describe({ status }: ServedAnswer): string {
  return status === 200 ? 'the target did not respond' : `the request was refused with status ${status}`
}
