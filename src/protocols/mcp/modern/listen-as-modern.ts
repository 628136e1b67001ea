import type { JsonObject } from '#base/json.ts'
import { isAnswerTo, isObject, parseMessage } from '../message/json-rpc.ts'
import { META } from '../message/meta.ts'
import type { TargetMessage, TargetReply } from '../message/target-reply.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { subscriptionsOf } from '../session/session-settings.ts'
import { NO_SESSION } from '../session/session-state.ts'
import { discard } from '../target/read-reply.ts'
import { sendToTarget, type TargetCall } from '../target/send-to-target.ts'

const ID = 'listen'
const METHOD = 'subscriptions/listen'

/**
 * The stream of a target of the modern era for the client of a session: all changes of lists, and the subscriptions of the session. It is
 * opened again when they change. @param client `params._meta` of the request
 */
export async function listenAsModern(request: McpRequest, call: TargetCall, client: JsonObject): Promise<TargetReply> {
  const first = await open(request, call, client)
  if (first.kind === 'refused' && NO_STREAM.has(first.response.status)) {
    discard(first.response)
    return { kind: 'nothing' }
  }
  if (first.kind !== 'messages') return first
  let current = first
  let isOutdated = false
  const close = request.deps.channels.open(channelOf(call), () => {
    isOutdated = true
    current.abort()
  })
  async function* messages(): AsyncGenerator<TargetMessage> {
    try {
      for (;;) {
        isOutdated = false
        try {
          for await (const received of current.messages) {
            if (isAnswerTo(received.message, ID)) return
            const notification = withoutTag(received)
            if (notification !== undefined) yield notification
          }
        } catch (error) {
          if (!isOutdated) throw error
        }
        if (!isOutdated) return
        const next = await open(request, call, client)
        if (next.kind !== 'messages') {
          if (next.kind === 'refused') discard(next.response)
          return
        }
        current = next
      }
    } finally {
      close()
      current.abort()
    }
  }
  return { ...first, messages: messages(), abort: () => current.abort() }
}

/** Responses of a target without such streams. */
const NO_STREAM = new Set([404, 405])

/** Announces changed subscriptions to the stream of the session, which may be open at any worker. */
export function relisten({ deps }: McpRequest, call: TargetCall): void {
  void deps.channels.send(channelOf(call), '')
}

function channelOf({ of = NO_SESSION, target }: TargetCall): string {
  return `mcp-listen ${of.key} ${target.name}`
}

function open(request: McpRequest, call: TargetCall, client: JsonObject): Promise<TargetReply> {
  const { of = NO_SESSION, target } = call
  const uris = subscriptionsOf(of, target.name, request.deps.table)
  const notifications = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
  }
  const message = JSON.stringify({ jsonrpc: '2.0', id: ID, method: METHOD, params: { notifications, _meta: client } })
  return sendToTarget(request, { ...call, method: 'POST', message, names: { method: METHOD, name: undefined } })
}

/** A notification without the tag of its subscription, which only the modern era has; undefined: it is about the subscription itself. */
function withoutTag(received: TargetMessage): TargetMessage | undefined {
  const { message } = received
  if (message?.kind !== 'notification' || message.method === 'notifications/subscriptions/acknowledged')
    return undefined
  const meta = message.params?._meta
  if (!isObject(meta) || meta[META.subscriptionId] === undefined) return received
  const { [META.subscriptionId]: _, ...rest } = meta
  const untagged = parseMessage(JSON.stringify({ ...message.json, params: { ...message.params, _meta: rest } }))
  return untagged.kind === 'unreadable' ? undefined : { ...received, message: untagged }
}
