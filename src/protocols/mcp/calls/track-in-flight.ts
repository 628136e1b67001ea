import { clock } from '#base/clock.ts'
import { followUp } from '#exchange/follow-up.ts'
import { reject } from '#exchange/outcome.ts'
import { idKey, isMessageId, type MessageId, type NotificationMessage } from '../message/json-rpc.ts'
import { LATEST_SESSIONLESS } from '../message/protocol-version.ts'
import type { McpRequest, SessionTarget } from '../request/mcp-request.ts'
import { callerOf } from '../session/caller-of.ts'
import { cancelInSession } from '../session/calls-in-flight.ts'
import type { Session } from '../session/session-state.ts'
import { keepInUse } from '../session/session-use.ts'
import { within } from '../target/stream-timing.ts'
import { SESSION_DELETED } from '../target/target-failure.ts'
import { notifyTarget } from './notify-target.ts'

/** A request of the client that its target processes. */
export interface InFlight {
  /** The request. Its signal is also aborted when the client cancels it and closing the stream of the target is part of that. */
  readonly request: McpRequest
  /** Call it when the request is over. */
  readonly done: () => void
  /** Ends the response that has begun, if the session of the client ends; undefined: none has begun. */
  endResponse: (() => void) | undefined
  /** The client has cancelled the request. */
  isCancelled: boolean
}

/**
 * Waits for the cancellation of a request, or for the end of its session, which any worker may receive, and passes it only to the target that processes
 * the request (decision B70). A target without sessions is told by closing its stream. So is one whose session is only for this request, because it may
 * leave its stream open after a cancellation.
 */
export function trackInFlight(request: McpRequest, session: Session, id: MessageId, target: SessionTarget): InFlight {
  // A client of this era cancels by closing its stream.
  if (request.era === 'modern') return { request, ...UNTRACKED }
  const isModern = target.session?.version === LATEST_SESSIONLESS
  const stop = isModern || session.key === '' ? new AbortController() : undefined
  const cancel = async (cancellation: string) => {
    inFlight.isCancelled = true
    if (!isModern) await notifyTarget(request, target, cancellation)
    stop?.abort()
  }
  const end = async () => {
    const told = isModern ? undefined : lateCancel(request, target).cancel(endedText(id))
    if (inFlight.endResponse === undefined) request.exchange.context.interrupt(reject('mcp-session-unknown', ENDED))
    else inFlight.endResponse()
    if (told !== undefined) await within(told, TOLD_MS)
  }
  const late = stop === undefined ? () => lateCancel(request, target) : undefined
  const done =
    session.key === '' ? awaitAlone(request, id, cancel) : awaitInSession(request, session, id, { cancel, end, late })
  const signal = stop && AbortSignal.any([request.deps.signal, stop.signal])
  const inFlight: InFlight = {
    request: signal === undefined ? request : { ...request, deps: { ...request.deps, signal } },
    done,
    endResponse: undefined,
    isCancelled: false,
  }
  return inFlight
}

const UNTRACKED = { done: () => {}, endResponse: undefined, isCancelled: false } as const

/**
 * The same for a request that several targets process at once: its signal is aborted when the client cancels it, or deletes its session, because other targets
 * may go on.
 */
export function trackFanOut(
  request: McpRequest,
  session: Session,
  id: MessageId,
  targets: readonly SessionTarget[],
): InFlight {
  // A client without a session cancels its request by disconnecting.
  if (request.era === 'modern' || session.key === '') return { request, ...UNTRACKED }
  const stop = new AbortController()
  const legacy = targets.filter((target) => target.session?.version !== LATEST_SESSIONLESS)
  const cancel = async (cancellation: string) => {
    const told = Promise.all(legacy.map((target) => lateCancel(request, target).cancel(cancellation)))
    stop.abort()
    await within(told, TOLD_MS)
  }
  const end = () => {
    if (inFlight.endResponse === undefined) request.exchange.context.interrupt(reject('mcp-session-unknown', ENDED))
    else inFlight.endResponse()
    return cancel(endedText(id))
  }
  const done = awaitInSession(request, session, id, { cancel, end, late: undefined })
  const signal = AbortSignal.any([request.deps.signal, stop.signal])
  const inFlight: InFlight = {
    request: { ...request, deps: { ...request.deps, signal } },
    done,
    endResponse: undefined,
    isCancelled: false,
  }
  return inFlight
}

/** How long the end of the session of a target waits until the target has accepted the cancellation of a call. */
const TOLD_MS = 1000

const ENDED = { detail: SESSION_DELETED.detail } as const

function endedText(requestId: MessageId): string {
  const params = { requestId, reason: 'the session has ended' }
  return JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
}

type Cancel = (cancellation: string) => Promise<void>

/**
 * Some clients leave first, and cancel then (the SDK for Go): the target, which goes on without its stream, is told within this time. A
 * worker that drains does not wait for them.
 */
const LATE_MS = 10_000

/** Maximum number of requests in a worker whose clients have disconnected and may still cancel them. Targets of further ones are not notified. */
const MAX_LATE = 1000

interface InSession {
  readonly cancel: Cancel
  /** The session has ended. */
  readonly end: () => Promise<void>
  /** Set if a disconnect of the client does not cancel the request at the target; called at the disconnect. */
  readonly late: (() => LateCancel) | undefined
}

function awaitInSession(
  { deps }: McpRequest,
  session: Session,
  id: MessageId,
  { cancel, end, late }: InSession,
): () => void {
  const close = deps.memory.calls.begin(deps.channels, session.key, { id, cancel, end })
  const release = keepInUse(session, deps.table)
  let isOver = false
  return () => {
    if (isOver) return
    isOver = true
    close()
    release()
    if (late !== undefined && deps.signal.aborted) awaitLate(deps, session, id, late())
  }
}

interface LateCancel {
  readonly cancel: Cancel
  readonly draining: AbortSignal
}

function awaitLate({ channels, memory }: McpRequest['deps'], session: Session, id: MessageId, late: LateCancel): void {
  const { cancel, draining } = late
  if (memory.late >= MAX_LATE || draining.aborted) return
  memory.late++
  let isOver = false
  const end = () => {
    if (isOver) return
    isOver = true
    memory.late--
    timer.cancel()
    close()
    draining.removeEventListener('abort', end)
  }
  const timer = clock.after(LATE_MS, end)
  const close = memory.calls.begin(channels, session.key, {
    id,
    cancel: (cancellation) => {
      end()
      return cancel(cancellation)
    },
    end: async () => end(),
  })
  draining.addEventListener('abort', end, { once: true })
}

/** Nothing of the request is kept but its head and identity. */
function lateCancel({ plan, exchange, deps, era }: McpRequest, target: SessionTarget): LateCancel {
  const { call, claim, draining } = deps.lasting()
  const { signal } = new AbortController()
  const request: McpRequest = { plan, era, exchange: followUp(exchange), deps: { ...deps, call, claim, signal } }
  const cancel = async (cancellation: string) => {
    await notifyTarget(request, target, cancellation)
    claim.release()
  }
  return { cancel, draining }
}

/** Without a session, other clients may use the same id: it says which request it is, and the canceller takes it if it is the only one. */
function awaitAlone(request: McpRequest, id: MessageId, cancel: Cancel): () => void {
  const { channels } = request.deps
  const own = `mcp-request ${crypto.randomUUID()}`
  const closeOwn = channels.open(own, cancel)
  const close = channels.open(
    channelOf(callerOf(request.plan.backend, request.exchange), id),
    async (asking) => void (await channels.send(asking, own)),
  )
  return () => {
    closeOwn()
    close()
  }
}

/** Cancels a request, which another worker may serve. An unknown or ended one needs no cancellation. */
export async function cancelInFlight(
  request: McpRequest,
  session: Session,
  { params, text }: NotificationMessage,
): Promise<void> {
  const { channels } = request.deps
  const id = params?.requestId
  if (!isMessageId(id)) return
  if (session.key !== '') return cancelInSession(channels, session.key, text)
  let found: string | undefined
  let isOnly = true
  const asking = `mcp-cancel ${crypto.randomUUID()}`
  const close = channels.open(asking, (own) => {
    isOnly = found === undefined
    found ??= own
  })
  await channels.send(channelOf(callerOf(request.plan.backend, request.exchange), id), asking)
  close()
  if (found !== undefined && isOnly) await channels.send(found, text)
}

/** @param caller who has no session */
function channelOf(caller: string, id: MessageId): string {
  return `mcp-request ${caller} ${idKey(id)}`
}
