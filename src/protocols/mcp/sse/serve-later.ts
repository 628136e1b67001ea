import type { ServedAnswer } from '../../backend-protocol.ts'
import { openStream } from '../answer/open-stream.ts'
import { handlePost } from '../handle-post.ts'
import type { McpRequest } from '../mcp-request.ts'
import {
  errorText,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isAnswerTo,
  parseMessage,
  type RequestMessage,
} from '../message/json-rpc.ts'
import { findSession } from '../session/find-session.ts'
import { pauseBefore } from '../target/stream-timing.ts'
import { lastingRequest } from './lasting-request.ts'
import { type AnswerMessage, messagesOf } from './messages-of.ts'
import { type StreamAddress, tellStream } from './stream-address.ts'

/** Requests of one client that a worker serves at a time. */
const MAX_SERVED = 100

const encoder = new TextEncoder()

/** Serves a request of a client; what it leads to goes to the stream of the client. */
export function serveLater(answered: McpRequest, address: StreamAddress, message: RequestMessage): void {
  const { served } = answered.deps.memory
  const count = served.get(address.key) ?? 0
  const { request, end } = lastingRequest(answered, address)
  if (count >= MAX_SERVED || !request.deps.claim.take(message.text.length)) {
    const text = errorText(message.id, INTERNAL_ERROR, 'too many messages are being served')
    void tellStream(request, address, { say: 'message', text }).finally(end)
    return
  }
  served.set(address.key, count + 1)
  void serve(request, address, message).finally(() => {
    const left = (served.get(address.key) ?? 1) - 1
    if (left === 0) served.delete(address.key)
    else served.set(address.key, left)
    end()
  })
}

async function serve(request: McpRequest, address: StreamAddress, message: RequestMessage): Promise<void> {
  const say = (text: string) => tellStream(request, address, { say: 'message', text })
  try {
    const answer = await handlePost(request, encoder.encode(message.text))
    if (message.method === 'initialize') await begin(request, address, answer)
    let isAnswered = false
    for await (const { text } of resumed(request, message, answer)) {
      if (text === '') continue
      isAnswered ||= isAnswer(text, message)
      if (!(await say(text))) return
    }
    if (!isAnswered) await say(errorText(message.id, INVALID_REQUEST, describe(answer)))
    if (request.exchange.refusal === 'mcp-session-unknown') await tellStream(request, address, { say: 'end' })
  } catch {
    await say(errorText(message.id, INTERNAL_ERROR, 'the request could not be served'))
  }
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
    exchange.request.set('last-event-id', lastEventId)
    answer = await openStream(request, session)
    if (answer.status !== 200) return
  }
}

function isAnswer(text: string, { id }: RequestMessage): boolean {
  const message = parseMessage(text)
  return message.kind === 'response' && isAnswerTo(message, id)
}

function describe({ status }: ServedAnswer): string {
  return status === 200 ? 'the target did not respond' : `the request was refused with status ${status}`
}
