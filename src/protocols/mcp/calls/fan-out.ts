import { numberIn } from '#base/exact-json.ts'
import type { JsonObject } from '#base/json.ts'
import { noteMcpError } from '#exchange/mcp-facts.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import {
  INTERNAL_ERROR,
  isAnswerTo,
  type MessageId,
  type ResponseError,
  type ResponseMessage,
} from '../message/json-rpc.ts'
import type { RequestHeaders } from '../message/request-headers.ts'
import type { TargetMessage } from '../message/target-reply.ts'
import { encodeEvent } from '../request/mcp-answer.ts'
import type { McpRequest, SessionTarget } from '../request/mcp-request.ts'
import type { Session } from '../session/session-state.ts'
import { abandon } from '../target/abandon.ts'
import { interleave } from '../target/interleave.ts'
import { noteAnswered } from '../target/note-attempt.ts'
import type { CallLimits } from '../target/send-to-target.ts'
import {
  answerFailure,
  brokenStreamText,
  describeFailure,
  type FailedReply,
  hasFailed,
  noteFailure,
  noteTolerated,
} from '../target/target-failure.ts'
import { TargetStreamError } from '../target/target-stream-error.ts'
import { callInSession } from './renew-target.ts'
import { ToClient } from './to-client.ts'

/** One request for several targets. */
export interface FanOut {
  readonly id: MessageId
  readonly targets: readonly SessionTarget[]
  /** The JSON-RPC text for one target. */
  readonly textFor: (target: SessionTarget) => string
  readonly limits: CallLimits
  /** Undefined: the method has no form without sessions. */
  readonly names?: RequestHeaders
}

/** A target that has begun to respond. */
export interface OpenTarget {
  readonly target: SessionTarget
  /** The `mcp-session-id` of the response. */
  readonly sessionId: string | undefined
  /** Label of the replica that responds. */
  readonly endpoint: string
  /** The target speaks only revisions without sessions. */
  readonly isModern?: true
  readonly messages: AsyncIterable<TargetMessage>
  /** Abandons the response. */
  readonly abort: () => void
}

export type FanOutReply =
  | { readonly kind: 'open'; readonly opened: readonly OpenTarget[] }
  | { readonly kind: 'failed'; readonly answer: ServedAnswer; readonly opened: readonly OpenTarget[] }

/**
 * Sends a request to several targets and waits until each has begun to respond. With FailClosed, the failure of one target fails the
 * request. With FailOpen, failed targets are left out; if all fail, the first failure is the result.
 */
export async function fanOut(
  request: McpRequest,
  session: Session,
  { id, targets, textFor, limits, names }: FanOut,
): Promise<FanOutReply> {
  const calls = targets.map((target) =>
    callInSession(request, session, target, {
      method: 'POST',
      message: textFor(target),
      limits,
      isRepeatable: true,
      ...(names && { names }),
    }),
  )
  const replies = await Promise.all(calls)
  const opened: OpenTarget[] = []
  const failed: { readonly target: string; readonly reply: FailedReply }[] = []
  replies.forEach((reply, index) => {
    const target = targets[index]!
    if (reply.kind === 'messages') {
      const { kind: _, ...opening } = reply
      opened.push({ target, ...opening })
      return
    }
    failed.push({ target: target.plan.name, reply: hasFailed(reply) ? reply : withoutAnswer(target) })
  })
  const first = failed[0]
  if (first === undefined) return { kind: 'open', opened }
  if (request.plan.failureMode === 'FailOpen' && opened.length > 0) {
    for (const { target, reply } of failed) {
      noteTolerated(request.exchange, describeFailure(reply, target))
      abandon(reply)
    }
    return { kind: 'open', opened }
  }
  abandon(...failed.slice(1).map(({ reply }) => reply))
  return { kind: 'failed', answer: answerFailure(request.exchange, first.reply, id), opened }
}

/** Reads no more of the responses. */
export function abandonAll(opened: readonly OpenTarget[]): void {
  for (const open of opened) open.abort()
}

function withoutAnswer({ plan }: SessionTarget): FailedReply {
  return { kind: 'failed', failure: 'invalid-answer', detail: `target ${plan.name} did not answer the request` }
}

/** The final outcome of a target. */
export interface TargetOutcome {
  readonly open: OpenTarget
  /** Undefined: the target failed. */
  readonly result: JsonObject | undefined
  /** The error member of its response, or one that stands for a broken stream. */
  readonly error: JsonObject | undefined
}

export interface Gathering {
  readonly id: MessageId
  readonly opened: readonly OpenTarget[]
  /**
   * How much each target may send before its response, in characters, if these messages are held until then; undefined: they are not held.
   */
  readonly maxHeld?: number
  /** Returns a result for an error that does not count as a failure. */
  readonly forgive?: (error: ResponseError) => JsonObject | undefined
}

/**
 * Waits for the responses of all opened targets; yields their other messages as events for the client. With FailClosed the first failure
 * ends it.
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
        const outcome = toOutcome(open, received, forgive)
        outcomes.set(open, outcome)
        if (received.answer !== undefined) noteAnswered(request, open.target.plan.name)
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

/** Memory overhead of a held message. */
const MESSAGE_COST = 64

interface LastMessage {
  /** Undefined: the stream failed or ended too early. */
  readonly answer: ResponseMessage | undefined
  /** Why there is none, for the client. */
  readonly text?: string | undefined
}

/** The messages of a target up to and including its response. The last value stands for the response, even if there is none. */
async function* readUntilAnswer(
  request: McpRequest,
  { target, messages }: OpenTarget,
  { id, maxHeld }: { readonly id: MessageId; readonly maxHeld: number | undefined },
): AsyncGenerator<TargetMessage | LastMessage> {
  let held = 0
  let text: string | undefined
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
          throw new TargetStreamError(
            `target ${target.plan.name} sent too many messages before its response`,
            `the limit is ${maxHeld} characters, which no field sets`,
          )
        received.keep()
      }
      yield received
    }
  } catch (error) {
    if (!request.deps.signal.aborted) noteFailure(request.exchange, error)
    text = brokenStreamText(error)
  }
  yield { answer: undefined, text }
}

function toOutcome(open: OpenTarget, { answer, text }: LastMessage, forgive: Gathering['forgive']): TargetOutcome {
  if (answer === undefined) return { open, result: undefined, error: brokenStream(text) }
  if (answer.error === undefined) return { open, result: answer.result, error: undefined }
  const result = forgive?.(answer.error)
  return { open, result, error: result === undefined ? answer.error.json : undefined }
}

function brokenStream(message = brokenStreamText(undefined)): JsonObject {
  return { code: INTERNAL_ERROR, message }
}

/** The error of the whole request: the first one. With FailOpen, undefined if another target has succeeded. */
export function decisiveError(
  { plan, exchange }: McpRequest,
  outcomes: readonly TargetOutcome[],
): JsonObject | undefined {
  const errors = outcomes.filter(({ error }) => error !== undefined)
  const succeeds = plan.failureMode === 'FailOpen' && errors.length < outcomes.length
  if (!succeeds) return errors[0]?.error
  for (const { open, error } of errors) {
    noteTolerated(exchange, `error ${numberIn(error!.code) ?? 'without a code'} from target ${open.target.plan.name}`)
  }
  return undefined
}

/** An error response with the error that the target sent. */
export function passedError({ exchange }: McpRequest, id: MessageId, error: JsonObject): string {
  noteMcpError(exchange.mcp, numberIn(error.code), error.message)
  return JSON.stringify({ jsonrpc: '2.0', id, error })
}
