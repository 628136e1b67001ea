import { numberIn } from '#base/exact-json.ts'
import type { JsonObject } from '#exchange/exchange.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import { encodeEvent } from '../answer/mcp-answer.ts'
import type { McpRequest, SessionTarget } from '../mcp-request.ts'
import { INTERNAL_ERROR, isAnswerTo, isObject, type MessageId, type ResponseMessage } from '../message/json-rpc.ts'
import type { Session } from '../session/session-state.ts'
import { callTarget, discard, type TargetMessage, TargetStreamError } from './call-target.ts'
import { interleave } from './interleave.ts'
import { answerFailure, type FailedReply, hasFailed, noteFailure } from './target-failure.ts'
import { ToClient } from './to-client.ts'

/** One request for several targets. */
export interface FanOut {
  readonly id: MessageId
  readonly targets: readonly SessionTarget[]
  /** The JSON-RPC text for one of them. */
  readonly textFor: (target: SessionTarget) => string
}

/** A target whose answer is on its way. */
export interface OpenTarget {
  readonly target: SessionTarget
  /** What the target gave as `mcp-session-id`. */
  readonly sessionId: string | undefined
  readonly messages: AsyncIterable<TargetMessage>
  /** Gives up on the answer. */
  readonly abort: () => void
}

export type FanOutReply =
  | { readonly kind: 'open'; readonly opened: readonly OpenTarget[] }
  | { readonly kind: 'failed'; readonly answer: ServedAnswer; readonly opened: readonly OpenTarget[] }

/**
 * Sends a request to several targets and waits until each has begun to answer. With FailClosed one that fails fails the request,
 * with FailOpen it is left out; when all fail, the first failure is the answer.
 */
export async function fanOut(request: McpRequest, { id, targets, textFor }: FanOut): Promise<FanOutReply> {
  const calls = targets.map((target) =>
    callTarget(request, { target: target.plan, session: target.session, method: 'POST', message: textFor(target) }),
  )
  const replies = await Promise.all(calls)
  const opened: OpenTarget[] = []
  const failed: FailedReply[] = []
  replies.forEach((reply, index) => {
    if (hasFailed(reply)) failed.push(reply)
    else if (reply.kind === 'nothing') failed.push({ kind: 'failed', failure: 'invalid-answer', detail: NO_ANSWER })
    else
      opened.push({ target: targets[index]!, sessionId: reply.sessionId, messages: reply.messages, abort: reply.abort })
  })
  const first = failed[0]
  if (first === undefined) return { kind: 'open', opened }
  if (request.plan.failureMode === 'FailOpen' && opened.length > 0) {
    for (const reply of failed) if (reply.kind === 'refused') discard(reply.response)
    return { kind: 'open', opened }
  }
  for (const reply of failed.slice(1)) if (reply.kind === 'refused') discard(reply.response)
  return { kind: 'failed', answer: answerFailure(request.exchange, first, id), opened }
}

/** Nobody waits for these answers any more. */
export function giveUp(opened: readonly OpenTarget[]): void {
  for (const open of opened) open.abort()
}

const NO_ANSWER = 'a target did not answer the request'

/** What a target answered in the end. */
export interface TargetOutcome {
  readonly open: OpenTarget
  /** Undefined: it failed. */
  readonly result: JsonObject | undefined
  /** The error member of its response, or one made for a broken stream. */
  readonly error: JsonObject | undefined
}

export interface Gathering {
  readonly id: MessageId
  readonly opened: readonly OpenTarget[]
  /** How much each may say before it answers, in characters, where all of it is held back until then; undefined: it is not. */
  readonly maxHeld?: number
  /** A result in place of an error that does not count as a failure. */
  readonly forgive?: (response: ResponseMessage) => JsonObject | undefined
}

/**
 * Waits for the answers of all opened targets; whatever else they say is yielded as events for the client. With FailClosed the
 * first failure ends it.
 *
 * @returns outcomes in the order of `opened`
 */
export async function* gather(
  request: McpRequest,
  session: Pick<Session, 'key'>,
  { id, opened, maxHeld, forgive }: Gathering,
): AsyncGenerator<Uint8Array, TargetOutcome[]> {
  const outcomes = new Map<OpenTarget, TargetOutcome>()
  const streams = opened.map((open) => readUntilAnswer(request, open, { id, maxHeld }))
  const toClients = opened.map(({ target }) => new ToClient(request, session, target))
  try {
    for await (const [index, received] of interleave(streams)) {
      const open = opened[index]!
      if ('answer' in received) {
        const outcome = toOutcome(open, received.answer, forgive)
        outcomes.set(open, outcome)
        if (outcome.error !== undefined && request.plan.failureMode === 'FailClosed') break
        continue
      }
      const text = toClients[index]!.translate(received)
      if (text !== undefined) yield encodeEvent(text)
    }
  } finally {
    for (const open of opened) if (!outcomes.has(open)) open.abort()
  }
  return opened.flatMap((open) => outcomes.get(open) ?? [])
}

/** What a message that is held costs besides its text. */
const MESSAGE_COST = 64

interface LastMessage {
  /** Undefined: the stream failed or ended too early. */
  readonly answer: ResponseMessage | undefined
}

/** The messages of a target up to and including its answer, which comes last even when there is none. */
async function* readUntilAnswer(
  request: McpRequest,
  { target, messages }: OpenTarget,
  { id, maxHeld }: { readonly id: MessageId; readonly maxHeld: number | undefined },
): AsyncGenerator<TargetMessage | LastMessage> {
  let held = 0
  try {
    for await (const received of messages) {
      const { message } = received
      if (isAnswerTo(message, id)) {
        received.keep()
        yield { answer: message }
        return
      }
      if (maxHeld !== undefined) {
        held += MESSAGE_COST + (message?.text.length ?? 0)
        if (held > maxHeld)
          throw new TargetStreamError(`target ${target.plan.name} sent too many messages before its response`)
        received.keep()
      }
      yield received
    }
  } catch (error) {
    if (!request.deps.signal.aborted) noteFailure(request.exchange, error)
  }
  yield { answer: undefined }
}

function toOutcome(
  open: OpenTarget,
  answer: ResponseMessage | undefined,
  forgive: Gathering['forgive'],
): TargetOutcome {
  if (answer === undefined) return { open, result: undefined, error: BROKEN_STREAM }
  const result = answer.result ?? forgive?.(answer)
  if (result !== undefined) return { open, result, error: undefined }
  const error = answer.json.error
  return { open, result: undefined, error: isObject(error) ? error : BROKEN_STREAM }
}

const BROKEN_STREAM: JsonObject = { code: INTERNAL_ERROR, message: 'the stream from a target failed' }

/**
 * The error that stands for the whole request: the first one, unless targets that fail are left out and another one has
 * succeeded.
 */
export function decisiveError({ plan }: McpRequest, outcomes: readonly TargetOutcome[]): JsonObject | undefined {
  const error = outcomes.find((outcome) => outcome.error !== undefined)?.error
  const succeeds = plan.failureMode === 'FailOpen' && outcomes.some(({ result }) => result !== undefined)
  return succeeds ? undefined : error
}

/** Text of an error response with an error as a target sent it. */
export function passedError({ exchange }: McpRequest, id: MessageId, error: JsonObject): string {
  if (exchange.mcp !== undefined) exchange.mcp.errorCode = numberIn(error.code) ?? exchange.mcp.errorCode
  return JSON.stringify({ jsonrpc: '2.0', id, error })
}
