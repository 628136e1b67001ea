import type { Json, JsonObject } from '#base/json.ts'
import { followUp } from '#exchange/follow-up.ts'
import { filterItems, hasRules, type ItemKind } from '../config/authorization.ts'
import { publicUri } from '../config/naming.ts'
import {
  idKey,
  isMessageId,
  METHOD_NOT_FOUND,
  type MessageId,
  type NotificationMessage,
  type RequestMessage,
  type ResponseMessage,
  refusalText,
} from '../message/json-rpc.ts'
import { modernResult } from '../message/modern-result.ts'
import { LATEST_SESSIONLESS } from '../message/protocol-version.ts'
import type { TargetMessage } from '../message/target-reply.ts'
import type { McpRequest, SessionTarget } from '../request/mcp-request.ts'
import { renewedTarget, type Session } from '../session/session-state.ts'
import { openReference, replaceProgressToken, sealReference, sessionMark } from '../target/client-reference.ts'
import { publicTask } from '../target/related-task.ts'
import { notifyTarget } from './notify-target.ts'
import { publicResult } from './public-result.ts'

/** How many requests of a target are remembered for cancellation. */
const MAX_REFERENCES = 256

const NO_SESSION_TO_ASK = 'the client has no session, so it cannot be asked'

/** Maximum number of requests of a target that are refused at the same time. Further ones get no response. */
const MAX_REFUSING = 32

const TOOLS_CHANGED = 'notifications/tools/list_changed'

/** Notifications about an item, by method. */
const ABOUT_ITEMS: ReadonlyMap<string, { readonly member: string; readonly kind: ItemKind }> = new Map([
  ['notifications/resources/updated', { member: 'uri', kind: 'resource' }],
  ['notifications/tasks/status', { member: 'taskId', kind: 'task' }],
])

/** Translates the messages of one target on one stream for the client. */
export class ToClient {
  readonly #request: McpRequest
  readonly #session: Pick<Session, 'key'>
  readonly #target: SessionTarget
  readonly #relaysAnswers: boolean
  /** The last requests of the target on this stream, by the id of the target, for later cancellations. */
  #references: Map<string, string> | undefined
  #refusing = 0

  /**
   * @param relaysAnswers responses to requests of other streams may arrive on this one. Otherwise the reader of the stream takes the one
   * response that belongs to it, and all others are dropped: targets know each other's ids, and a client would accept any response
   */
  constructor(request: McpRequest, session: Pick<Session, 'key'>, target: SessionTarget, relaysAnswers = false) {
    this.#request = request
    this.#session = session
    this.#target = target
    this.#relaysAnswers = relaysAnswers
  }

  /** The response to a request of the client, under public names, and in the form of the client's revision. */
  translateAnswer({ json, result, text }: ResponseMessage, method: string | undefined): string {
    const { plan, era } = this.#request
    if (result === undefined) return text
    const published = plan.multiplexes ? publicResult(plan, this.#target.plan, result) : result
    const formed = era === 'modern' && method !== undefined ? modernResult(method, published) : published
    return formed === result ? text : JSON.stringify({ ...json, result: formed })
  }

  /** The text for the client; undefined for messages between target and gateway only. Unchanged messages are not serialized again. */
  translate({ message }: TargetMessage): string | undefined {
    if (message === undefined) return undefined
    switch (message.kind) {
      case 'request':
        return this.#session.key === ''
          ? this.#refuse(message)
          : JSON.stringify(this.#translateRequest(this.#withPublicTask(message)))
      case 'notification':
        return this.#translateNotification(this.#withPublicTask(message))
      case 'response':
        return this.#relaysAnswers ? this.translateAnswer(message, undefined) : this.#drop()
    }
  }

  #withPublicTask<Said extends RequestMessage | NotificationMessage>(message: Said): Said {
    if (message.params === undefined) return message
    const params = publicTask(this.#request.plan, this.#target.plan, message.params)
    if (params === message.params) return message
    const json = { ...message.json, params }
    return { ...message, params, json, text: JSON.stringify(json) }
  }

  /** A client without a session cannot answer. Targets of the modern era do not send requests. */
  #refuse(asked: RequestMessage): undefined {
    const { session } = this.#target
    if (session === undefined || (this.#request.era === 'modern' && session.version === LATEST_SESSIONLESS)) return
    if (this.#refusing >= MAX_REFUSING) return
    this.#refusing++
    const text = refusalText(asked, METHOD_NOT_FOUND, NO_SESSION_TO_ASK)
    void notifyTarget(this.#request, this.#target, text).then(() => this.#refusing--)
  }

  #drop(): undefined {
    const { exchange, deps } = this.#request
    // The exchange of a client that disconnected may serve another request already.
    if (exchange.mcp === undefined || deps.signal.aborted) return
    exchange.mcp.strayAnswers ??= new Map()
    const { name } = this.#target.plan
    exchange.mcp.strayAnswers.set(name, (exchange.mcp.strayAnswers.get(name) ?? 0) + 1)
  }

  #translateRequest({ id, params, json }: RequestMessage): JsonObject {
    const sealed = this.#seal('id', id)
    this.#remember(idKey(id), sealed)
    return {
      ...json,
      id: sealed,
      ...(params && { params: replaceProgressToken(params, (token) => this.#seal('progress', token)) }),
    }
  }

  /** Limited by memory. Cancellations of older requests are ignored. */
  #remember(key: string, sealed: string): void {
    this.#references ??= new Map()
    this.#forget(this.#references, key)
    if (this.#references.size >= MAX_REFERENCES) this.#forget(this.#references, this.#references.keys().next().value!)
    if (this.#request.deps.claim.take(key.length + sealed.length)) this.#references.set(key, sealed)
  }

  #forget(references: Map<string, string>, key: string): void {
    const sealed = references.get(key)
    if (sealed === undefined) return
    references.delete(key)
    this.#request.deps.claim.give(key.length + sealed.length)
  }

  #translateNotification({ method, params, json, text }: NotificationMessage): string | undefined {
    if (method === TOOLS_CHANGED) this.#request.deps.memory.tools.forget(this.#target.plan.destination)
    if (params === undefined) return text
    const { plan } = this.#request
    const { member, kind } = ABOUT_ITEMS.get(method) ?? {}
    const name = member === undefined ? undefined : params[member]
    if (member !== undefined && typeof name === 'string') {
      if (this.#isHidden(kind!, name)) return undefined
      if (!plan.multiplexes) return text
      return JSON.stringify({ ...json, params: { ...params, [member]: publicUri(plan, this.#target.plan, name) } })
    }
    if (method === 'notifications/progress' && plan.multiplexes) {
      const progressToken = this.#openProgressToken(params.progressToken)
      return progressToken === undefined
        ? this.#drop()
        : JSON.stringify({ ...json, params: { ...params, progressToken } })
    }
    if (method === 'notifications/cancelled') {
      const { requestId } = params
      if (!isMessageId(requestId)) return undefined
      const sealed = this.#references?.get(idKey(requestId))
      return sealed && JSON.stringify({ ...json, params: { ...params, requestId: sealed } })
    }
    return text
  }

  /** Some targets tell all clients of all resources. A stream lasts, so each evaluation has a budget of its own. */
  #isHidden(kind: ItemKind, name: string): boolean {
    const { plan, exchange } = this.#request
    if (!hasRules(plan.authorization)) return false
    const item = { items: [name], kind, target: this.#target.plan.name, nameOf: (one: string) => one }
    return filterItems(plan.authorization, followUp(exchange), item).length === 0
  }

  /** The token of the client; undefined: the target did not get it. */
  #openProgressToken(token: Json | undefined): MessageId | undefined {
    const reference = openReference(this.#request.deps, this.#session, 'client-progress', token)
    return reference?.target === this.#target.plan.name ? reference.original : undefined
  }

  #seal(kind: 'id' | 'progress', original: MessageId): string {
    const { deps } = this.#request
    const { plan, session } = this.#target
    const of = sessionMark(renewedTarget(this.#session, plan.name, deps.table) ?? session)
    return sealReference(deps, this.#session, kind, { target: plan.name, original, of })
  }
}
