import { clock } from '#base/clock.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { isAnswerTo, type Message, parseMessage, type RequestMessage } from '../message/json-rpc.ts'
import type { FailedCall, TargetMessage, TargetReply } from '../message/target-reply.ts'
import type { McpDeps, McpRequest } from '../request/mcp-request.ts'
import { askOwner, type Endpoint, type Wish, wishOf } from '../request/sse-connection.ts'
import { discard } from '../target/read-reply.ts'
import { requestTarget, type TargetCall } from '../target/send-to-target.ts'
import { hasFailed } from '../target/target-failure.ts'
import { TargetStreamError } from '../target/target-stream-error.ts'
import { type Attachment, attachHere, attachThere, type Inbox } from './attachment.ts'
import { openConnection } from './open-connection.ts'

/** The stream of unsolicited messages. */
const UNSOLICITED: Wish = { answers: undefined, token: undefined }

/**
 * Calls a target with the HTTP+SSE transport (revision 2024-11-05, "HTTP with SSE"). `initialize` opens a connection, whose id is the session
 * id of the target. Later messages are sent by the worker that got them; what they wait for comes from the worker that has the connection.
 */
export async function callOverSse(request: McpRequest, call: TargetCall): Promise<TargetReply> {
  const { target, session } = call
  if (target.unusable !== undefined) return { kind: 'failed', failure: 'no-endpoint', detail: target.unusable }
  const message = call.message === undefined ? undefined : parseMessage(call.message)
  const wish = call.method === 'GET' ? UNSOLICITED : message?.kind === 'request' ? wishOf(message) : undefined
  if (session !== undefined) {
    const attachment = await attach(request.deps, session.sessionId, wish)
    if (attachment === undefined) return lost(target.name)
    if (attachment === 'full') return full(target.name)
    return exchangeOver(request, call, attachment, message)
  }
  const connection = await openConnection(request, call)
  if ('kind' in connection) return connection
  const attachment = attachHere(connection, wish, request.deps.signal)
  if (attachment === 'full') return full(target.name)
  const reply = await exchangeOver(request, call, attachment, message)
  if (reply.kind !== 'messages') {
    connection.close()
    return reply
  }
  let isInitialised = false
  async function* messages(messages: AsyncIterable<TargetMessage>): AsyncGenerator<TargetMessage> {
    for await (const received of messages) {
      isInitialised = received.message?.kind === 'response' && received.message.result !== undefined
      yield received
    }
  }
  const abort = () => {
    reply.abort()
    if (!isInitialised) connection.close()
  }
  return { ...reply, sessionId: connection.id, messages: messages(reply.messages), abort }
}

/** Ends the session of a target, whichever worker has its connection. @param last a message to send to the target first */
export async function closeConnection({ channels }: McpDeps, id: string, last?: string): Promise<void> {
  await askOwner(channels, id, { ask: 'close', last })
}

/** @param wish undefined: only the endpoint is needed. @returns undefined: the connection is over */
async function attach(deps: McpDeps, id = '', wish: Wish | undefined): Promise<Attachment | 'full' | undefined> {
  const here = deps.memory.connections.get(id)
  if (here !== undefined) return attachHere(here, wish, deps.signal)
  return id === '' ? undefined : attachThere(deps, id, wish)
}

async function exchangeOver(
  request: McpRequest,
  call: TargetCall,
  attachment: Attachment,
  message: ReturnType<typeof parseMessage> | undefined,
): Promise<TargetReply> {
  const { inbox, endpoint } = attachment
  if (call.method === 'GET') return stream(call, attachment, inbox.read())
  const posted = post(request, call, endpoint)
  if (message?.kind !== 'request') {
    inbox.end()
    return posted
  }
  // Some servers accept a message only when they have processed it.
  const failed = await Promise.race([posted, inbox.filled])
  if (failed !== undefined && hasFailed(failed)) {
    inbox.end()
    // The server has forgotten the session, but its stream is still open.
    if (failed.kind === 'refused' && failed.response.status === 404) void closeConnection(request.deps, attachment.id)
    return failed
  }
  void posted.then((reply) => {
    if (!hasFailed(reply)) return
    if (reply.kind === 'refused') discard(reply.response)
    inbox.end(new TargetStreamError('the target refused the message'))
  })
  return stream(call, attachment, readUntilAnswer(inbox, message), call.limits?.wholeMs)
}

/** @param wholeMs unset: no limit */
function stream(
  { target }: TargetCall,
  { inbox, endpoint }: Attachment,
  received: AsyncGenerator<Message>,
  wholeMs?: number,
): Extract<TargetReply, { kind: 'messages' }> {
  const late = () => inbox.end(new TargetStreamError(`target ${target.name} did not respond within ${wholeMs} ms`))
  const timer = wholeMs === undefined ? undefined : clock.after(wholeMs, late)
  const end = () => {
    timer?.cancel()
    inbox.end()
  }
  async function* messages(): AsyncGenerator<TargetMessage> {
    try {
      for await (const message of received) {
        yield { message, eventId: undefined, retryMs: undefined, keep: () => keep(inbox.claim, message) }
      }
    } finally {
      end()
    }
  }
  return { kind: 'messages', sessionId: undefined, endpoint: endpoint.label, messages: messages(), abort: end }
}

/** The memory is given back with that of the connection or the request. */
function keep(claim: BodyClaim, { text }: Message): void {
  if (!claim.take(text.length)) throw new TargetStreamError('no memory is left for the response of the target')
}

async function* readUntilAnswer(inbox: Inbox, { id }: RequestMessage): AsyncGenerator<Message> {
  for await (const message of inbox.read()) {
    yield message
    if (isAnswerTo(message, id)) return
  }
}

/** Only the status of the response counts: it has no message. */
async function post(request: McpRequest, call: TargetCall, at: Endpoint): Promise<TargetReply> {
  const { deps } = request
  const { headMs, wholeMs } = call.limits ?? {}
  const session = call.session && { ...call.session, sessionId: undefined }
  const limits = { headMs: headMs ?? wholeMs ?? 0 }
  const sent = await requestTarget(request, { ...call, session, at }, deps.call, { signal: deps.signal, limits })
  if ('kind' in sent) return sent
  const { response } = sent
  if (response.status < 200 || response.status > 299) return { kind: 'refused', response }
  discard(response)
  return { kind: 'nothing' }
}

function lost(name: string): FailedCall {
  const detail = `the connection to target ${name} is over`
  return { kind: 'failed', failure: 'reset', detail, unreached: true }
}

function full(name: string): FailedCall {
  const detail = `the connection to target ${name} has too many requests in flight, or one with the same id`
  return { kind: 'failed', failure: 'too-many-waiting', detail }
}
