import { Exchange } from '#exchange/exchange.ts'
import {
  errorText,
  INVALID_PARAMS,
  isObject,
  parseMessage,
  type RequestMessage,
  resultText,
} from '../message/json-rpc.ts'
import type { TargetMessage, TargetReply } from '../message/target-reply.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { digestOfCaller } from '../session/caller-of.ts'
import { abandon } from '../target/abandon.ts'
import { interleave } from '../target/interleave.ts'
import { ResumedResponse } from '../target/resume-response.ts'
import { LIMITS, type TargetCall } from '../target/send-to-target.ts'
import { within } from '../target/stream-timing.ts'
import { prepareClose } from '../transport/close-targets.ts'
import { sendOverTransport } from '../transport/send-over-transport.ts'
import { awaitTask } from './await-task.ts'
import { HeldCall } from './held-call.ts'
import { openInputState, sealInputState } from './input-state.ts'
import { canBeAsked, envelopeOf, inputRequest, legacyRequest } from './legacy-request.ts'
import { oneMessage } from './one-message.ts'
import { INPUT, inputRequired, readRound } from './read-round.ts'
import { respondToTarget } from './respond-to-target.ts'
import { type TakenCall, takeHeldCall } from './take-held-call.ts'
import { requiresTask } from './task-tools.ts'

type Messages = Extract<TargetReply, { kind: 'messages' }>

/** Methods whose results may ask for input (revision 2026-07-28, "Multi Round-Trip Requests"). */
const MAY_REQUIRE_INPUT = new Set(['tools/call', 'prompts/get', 'resources/read'])

/**
 * Carries a message of a client of the modern era to a target of the legacy era, within a session that the gateway has begun for it. What the
 * target asks the client becomes a result, and the next request of the client continues the call.
 */
export async function callAsLegacy(request: McpRequest, call: TargetCall): Promise<TargetReply> {
  const message = call.message === undefined ? undefined : parseMessage(call.message)
  if (message?.kind !== 'request') return sendOverTransport(request, call)
  const sent = { ...call, message: legacyRequest(message) }
  if (message.method.startsWith('tasks/')) {
    // The gateway waits for the tasks of such targets itself, so the client knows none.
    const unknown = errorText(message.id, INVALID_PARAMS, 'Unknown task')
    return oneMessage(unknown, call.session?.endpoint ?? call.target.name)
  }
  if (!MAY_REQUIRE_INPUT.has(message.method)) return sendOverTransport(request, sent)
  if (message.params?.requestState !== undefined) return continueCall(request, call, message)
  return beginCall(request, sent, message)
}

async function beginCall(request: McpRequest, call: TargetCall, message: RequestMessage): Promise<TargetReply> {
  const { deps } = request
  const { target, session, of } = call
  const { call: lastingCall, claim, draining } = deps.lasting()
  const controller = new AbortController()
  const leave = () => controller.abort()
  if (deps.signal.aborted) leave()
  deps.signal.addEventListener('abort', leave, { once: true })
  const { signal } = controller
  let lasting: McpRequest = { ...request, deps: { ...deps, call: lastingCall, claim, signal } }
  const { capabilities, progressToken } = envelopeOf(message)
  // Some servers send all requests on the stream for unsolicited messages.
  const listens = canBeAsked(capabilities) && session?.sessionId !== undefined && target.protocol !== 'SSE'
  const unsolicited = listens ? await openUnsolicited(lasting, call) : undefined
  const isTask = message.method === 'tools/call' && (await requiresTask(lasting, call, message.params?.name))
  const reply = await sendOverTransport(lasting, isTask ? { ...call, message: asTask(call.message!) } : call)
  if (reply.kind !== 'messages') {
    unsolicited?.abort()
    claim.release()
    return reply
  }
  const open = (lastEventId: string) =>
    sendOverTransport(lasting, { ...call, method: 'GET', message: undefined, limits: LIMITS.stream, lastEventId })
  const { id } = message
  const resumed = new ResumedResponse({ id, first: reply, open, signal })
  const answer = resumed[Symbol.asyncIterator]()
  const send = (text: string) => sendOverTransport(lasting, { ...call, message: text })
  const cancel = (text: string) => {
    const deps = { ...lasting.deps, signal: new AbortController().signal }
    void sendOverTransport({ ...lasting, deps }, { ...call, message: text, limits: LIMITS.list }).then(abandon)
  }
  const response = isTask ? awaitTask({ id, created: answer, send, open, signal, cancel }) : answer
  const reader = new HeldCall(deps.memory.held, deps.channels, {
    id: message.id,
    progressToken,
    caller: digestOfCaller(request.exchange.identity),
    messages: unsolicited === undefined ? response : withUnsolicited(response, unsolicited),
    draining,
    keep: () => {
      of?.keepTargets?.()
      deps.signal.removeEventListener('abort', leave)
      const exchange = new Exchange(request.exchange.request.clone(), request.exchange.peer)
      lasting = { ...lasting, exchange }
      return prepareClose(lasting, [{ plan: target, session }], message.id)
    },
    stop: () => {
      deps.signal.removeEventListener('abort', leave)
      controller.abort()
      resumed.abort()
      unsolicited?.abort()
      claim.release()
    },
  })
  const messages = readRound({ request, call, message, reader, id: message.id, progressToken })
  return { kind: 'messages', sessionId: undefined, endpoint: reply.endpoint, messages, abort: () => reader.end(true) }
}

/** The request of a tool call, for a task. */
function asTask(text: string): string {
  const { json, params } = parseMessage(text) as RequestMessage
  return JSON.stringify({ ...json, params: { ...params, task: {} } })
}

interface Unsolicited {
  readonly messages: AsyncGenerator<TargetMessage>
  readonly abort: () => void
}

/** How long a call waits for the stream of unsolicited messages. */
const GRACE_MS = 1000

/** The stream of unsolicited messages: all of them are for this call, because the session is only for it. */
async function openUnsolicited(request: McpRequest, call: TargetCall): Promise<Unsolicited> {
  const get = { ...call, method: 'GET', message: undefined, limits: LIMITS.stream } as const
  const pending = sendOverTransport(request, get)
  await within(pending, GRACE_MS)
  async function* messages(): AsyncGenerator<TargetMessage> {
    const reply = await pending
    if (reply.kind !== 'messages') return abandon(reply)
    try {
      for await (const received of reply.messages) {
        const { message } = received
        const isNews = message?.kind === 'notification' && NEWS.has(message.method)
        if (isNews || message?.kind === 'request') yield received
      }
    } catch {
      // The response can still arrive.
    }
  }
  return { messages: messages(), abort: () => void pending.then(abandon) }
}

const NEWS = new Set(['notifications/message', 'notifications/progress', 'notifications/elicitation/complete'])

/** Ends with the response. */
async function* withUnsolicited(
  response: AsyncGenerator<TargetMessage>,
  unsolicited: Unsolicited,
): AsyncGenerator<TargetMessage> {
  async function* whole(): AsyncGenerator<TargetMessage | 'end'> {
    yield* response
    yield 'end'
  }
  for await (const [, received] of interleave<TargetMessage | 'end'>([whole(), unsolicited.messages])) {
    if (received === 'end') return
    yield received
  }
}

/** Gives the target what the client was asked for, and reads on. */
async function continueCall(request: McpRequest, call: TargetCall, message: RequestMessage): Promise<TargetReply> {
  const { deps } = request
  const { target, session } = call
  const state = openInputState(request, target, message)
  const label = session?.endpoint ?? target.name
  const reader = state === undefined || state === 'invalid' ? undefined : await takeHeldCall(deps, state.at)
  if (reader === undefined) return oneMessage(errorText(message.id, INVALID_PARAMS, NOT_AWAITED), label)
  const { asked, id, progressToken } = reader
  const responses = message.params?.inputResponses
  const result = isObject(responses) ? responses[INPUT] : undefined
  if (!isObject(result)) return askAgain(request, call, message, reader)
  const failure = await respondToTarget(request, call, resultText(asked.id, result))
  if (failure !== undefined) {
    reader.end(true)
    return failure
  }
  const messages = readRound({ request, call, message, reader, id, progressToken })
  return { kind: 'messages', sessionId: undefined, endpoint: label, messages, abort: () => reader.end(true) }
}

/** The error for a `requestState` of a call that is over, or of a server that is not the gateway. */
export const NOT_AWAITED = 'no call waits for this input: call again without requestState'

async function askAgain(
  request: McpRequest,
  { session, target }: TargetCall,
  message: RequestMessage,
  reader: TakenCall,
): Promise<Messages> {
  const label = session?.endpoint ?? target.name
  const at = await reader.hold(reader.asked)
  if (at === undefined || session === undefined) {
    return oneMessage(errorText(message.id, INVALID_PARAMS, NOT_AWAITED), label)
  }
  const requestState = sealInputState(request, message, { session, at })
  return oneMessage(resultText(message.id, inputRequired({ [INPUT]: inputRequest(reader.asked) }, requestState)), label)
}
