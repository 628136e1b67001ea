import type { ServedAnswer } from '../../backend-protocol.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import type { MessageId } from '../message/json-rpc.ts'
import { LATEST_REVISION } from '../message/protocol-version.ts'
import { answerMessages, CANCELLED } from '../request/mcp-answer.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { NO_SESSION } from '../session/session-state.ts'
import { readTargetSession, type TargetSession, UNFIT } from '../session/target-session.ts'
import { LIMITS } from '../target/send-to-target.ts'
import { answerFailure } from '../target/target-failure.ts'
import { prepareClose } from '../transport/close-targets.ts'
import {
  abandonAll,
  decisiveError,
  fanOut,
  gather,
  type OpenTarget,
  passedError,
  type TargetOutcome,
} from './fan-out.ts'
import { outlastClient } from './outlast-client.ts'

/**
 * How much a target may send before its response, in characters. The client gets these messages only when all targets have responded,
 * because the response begins with the id of the session.
 */
const MAX_EARLY = 256 * 1024

export interface Initialisation {
  readonly id: MessageId
  /** JSON-RPC text of the `initialize` request. */
  readonly text: string
  readonly targets: readonly McpTargetPlan[]
  /** Key of the new session. */
  readonly sessionKey: string
}

export type InitialisationReply =
  | {
      readonly kind: 'initialised'
      /** Outcomes of the targets that take part; at least one. */
      readonly outcomes: readonly TargetOutcome[]
      readonly sessions: readonly TargetSession[]
      /** Messages that targets sent before their responses, for the client. */
      readonly events: readonly Uint8Array[]
    }
  | { readonly kind: 'failed'; readonly answer: ServedAnswer }

/** Sends `initialize` to targets (specification 1, 2.3.4, failureMode). If it fails, or the client disconnects, the sessions opened so far are closed. */
export function initialiseTargets(request: McpRequest, initialisation: Initialisation): Promise<InitialisationReply> {
  return outlastClient(request, async (lasting) => {
    const reply = await initialiseAll(lasting, initialisation)
    if (reply.kind === 'failed' || !request.deps.signal.aborted) return reply
    closeBegun(
      lasting,
      reply.outcomes.map(({ open }) => open),
    )
    return { kind: 'failed', answer: CANCELLED }
  })
}

async function initialiseAll(
  request: McpRequest,
  { id, text, targets, sessionKey }: Initialisation,
): Promise<InitialisationReply> {
  const fresh = targets.map((plan) => ({ plan, session: undefined }))
  const reply = await fanOut(request, NO_SESSION, {
    id,
    targets: fresh,
    textFor: () => text,
    limits: LIMITS.initialize,
  })
  if (reply.kind === 'failed') {
    closeBegun(request, reply.opened)
    return reply
  }
  const { opened } = reply
  const events: Uint8Array[] = []
  const gathering = gather(request, { key: sessionKey }, { id, opened, maxHeld: MAX_EARLY })
  let step = await gathering.next()
  for (; step.done !== true; step = await gathering.next()) events.push(step.value)

  const error = decisiveError(request, step.value)
  if (error !== undefined) {
    closeBegun(request, opened)
    return { kind: 'failed', answer: answerMessages([passedError(request, id, error)]) }
  }
  const outcomes = step.value.filter(({ result }) => result !== undefined)
  const sessions = outcomes.map(({ open, result }) => readTargetSession(open.target.plan, result, open))
  const unfit = sessions.indexOf(undefined)
  if (unfit >= 0 && (request.plan.failureMode === 'FailClosed' || sessions.every((one) => one === undefined))) {
    closeBegun(request, opened)
    const { name } = outcomes[unfit]!.open.target.plan
    const detail = `target ${name} ${UNFIT}`
    return {
      kind: 'failed',
      answer: answerFailure(request.exchange, { kind: 'failed', failure: 'invalid-answer', detail }, id),
    }
  }
  return {
    kind: 'initialised',
    outcomes: outcomes.filter((_, index) => sessions[index] !== undefined),
    sessions: sessions.filter((session) => session !== undefined),
    events,
  }
}

function closeBegun(request: McpRequest, opened: readonly OpenTarget[]): void {
  abandonAll(opened)
  const begun = opened.map(({ target, sessionId }) => ({
    plan: target.plan,
    session: {
      target: target.plan.name,
      sessionId,
      version: LATEST_REVISION,
      capabilities: new Set<never>(),
      endpoint: undefined,
    },
  }))
  void prepareClose(request, begun)()
}
