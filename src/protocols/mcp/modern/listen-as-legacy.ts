import type { Capability } from '../message/capabilities.ts'
import {
  isAnswerTo,
  isObject,
  METHOD_NOT_FOUND,
  type MessageId,
  type NotificationMessage,
  parseMessage,
  refusalText,
} from '../message/json-rpc.ts'
import { META } from '../message/meta.ts'
import type { TargetMessage, TargetReply } from '../message/target-reply.ts'
import type { McpRequest, SessionTarget } from '../request/mcp-request.ts'
import { abandon } from '../target/abandon.ts'
import { LIMITS } from '../target/send-to-target.ts'
import { hasNoStream, pauseBefore, within } from '../target/stream-timing.ts'
import { hasFailed } from '../target/target-failure.ts'
import { sendOverTransport } from '../transport/send-over-transport.ts'
import { respondToTarget } from './respond-to-target.ts'
import { type Filter, FLAGS, type Listening, type NotListening } from './subscription.ts'

/** How long the acknowledgement waits for the stream of a target. */
const GRACE_MS = 1000

/** Attempts to open the stream again, until the target counts as one that has ended its subscription. */
const MAX_FAILURES = 5

/**
 * Subscribes at a target of the legacy era: to its stream of notifications, and to each resource. A target without such a stream accepts
 * nothing, and says nothing.
 * @param id of the client's request, which tags the notifications
 */
export async function listenAsLegacy(
  request: McpRequest,
  id: MessageId,
  target: SessionTarget,
  wanted: Filter,
): Promise<Listening | NotListening> {
  const controller = new AbortController()
  const abort = () => controller.abort()
  const signal = AbortSignal.any([request.deps.signal, controller.signal])
  const attached: McpRequest = { ...request, deps: { ...request.deps, signal } }
  const first = openStream(attached, target, undefined)
  const early = await within(first, GRACE_MS)
  if (early !== undefined && hasFailed(early) && !hasNoStream(early)) return { target, failure: early }
  const isDeaf = early !== undefined && hasNoStream(early)
  const accepted = isDeaf ? { flags: [], uris: [] } : await subscribe(attached, target, wanted)
  if (isDeaf) abandon(early)
  const messages = isDeaf ? silence(signal) : read(attached, target, first)
  return { target, accepted, abort, messages: select(attached, target, { id, accepted, messages }) }
}

function openStream(
  request: McpRequest,
  { plan, session }: SessionTarget,
  lastEventId: string | undefined,
): Promise<TargetReply> {
  const call = { target: plan, session, method: 'GET', message: undefined, limits: LIMITS.stream, lastEventId } as const
  return sendOverTransport(request, call)
}

/** @returns what the target offers */
async function subscribe(request: McpRequest, target: SessionTarget, { flags, uris }: Filter): Promise<Filter> {
  const has = (capability: Capability) => target.session?.capabilities.has(capability) === true
  const accepted = has('subscribe') ? uris : []
  const answers = await Promise.all(
    accepted.map((uri, index) => subscribeTo(request, target, { id: `s${index}`, uri })),
  )
  return {
    flags: flags.filter((flag) => has(flag.slice(0, -'ListChanged'.length) as Capability)),
    uris: accepted.filter((_, index) => answers[index]),
  }
}

async function subscribeTo(
  request: McpRequest,
  { plan, session }: SessionTarget,
  { id, uri }: { readonly id: string; readonly uri: string },
): Promise<boolean> {
  const message = JSON.stringify({ jsonrpc: '2.0', id, method: 'resources/subscribe', params: { uri } })
  const reply = await sendOverTransport(request, {
    target: plan,
    session,
    method: 'POST',
    message,
    limits: LIMITS.list,
  })
  try {
    if (reply.kind !== 'messages') return false
    for await (const received of reply.messages) {
      if (isAnswerTo(received.message, id)) return received.message.result !== undefined
    }
    return false
  } catch {
    return false
  } finally {
    abandon(reply)
  }
}

/** Opens a stream that ends again, from its last event on. It ends when the target has lost the session, which has the subscriptions. */
async function* read(
  request: McpRequest,
  target: SessionTarget,
  first: Promise<TargetReply>,
): AsyncGenerator<TargetMessage> {
  const { signal } = request.deps
  let lastEventId: string | undefined
  let retryMs: number | undefined
  let failures = 0
  for (let reply = await first; ; reply = await openStream(request, target, lastEventId)) {
    try {
      if (reply.kind === 'nothing' || reply.kind === 'refused') return
      failures++
      if (reply.kind === 'messages') {
        for await (const received of reply.messages) {
          failures = 0
          lastEventId = received.eventId ?? lastEventId
          retryMs = received.retryMs ?? retryMs
          yield received
        }
      }
    } catch {
      // The next attempt shows whether the target is available.
    } finally {
      abandon(reply)
    }
    if (signal.aborted || failures > MAX_FAILURES) return
    await pauseBefore(retryMs, signal, failures)
    if (signal.aborted) return
  }
}

async function* silence(signal: AbortSignal): AsyncGenerator<TargetMessage> {
  const { promise, resolve } = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => resolve(), { once: true })
  if (!signal.aborted) await promise
}

interface Selection {
  readonly id: MessageId
  readonly accepted: Filter
  readonly messages: AsyncIterable<TargetMessage>
}

/** Passes the notifications that the client wants, with the tag of its subscription. Nobody could answer a request. */
async function* select(
  request: McpRequest,
  { plan, session }: SessionTarget,
  { id, accepted, messages }: Selection,
): AsyncGenerator<TargetMessage> {
  const methods = new Set<string>(accepted.flags.map((flag) => FLAGS[flag as keyof typeof FLAGS]))
  const isWanted = ({ method, params }: NotificationMessage) =>
    methods.has(method) ||
    (method === 'notifications/resources/updated' && accepted.uris.includes(params?.uri as string))
  for await (const received of messages) {
    const { message } = received
    if (message?.kind === 'request') {
      await respondToTarget(request, { target: plan, session }, refusalText(message, METHOD_NOT_FOUND, ONLY_LISTENS))
    } else if (message?.kind === 'notification' && isWanted(message)) {
      const meta = isObject(message.params?._meta) ? message.params._meta : {}
      const params = { ...message.params, _meta: { ...meta, [META.subscriptionId]: id } }
      const tagged = parseMessage(JSON.stringify({ ...message.json, params }))
      if (tagged.kind === 'notification') yield { ...received, message: tagged }
    }
  }
}

const ONLY_LISTENS = 'the client only listens'
