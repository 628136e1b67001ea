import type { JsonObject } from '#base/json.ts'
import { GATEWAY_INFO } from '../config/gateway-info.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import { readCapabilities } from '../message/capabilities.ts'
import {
  isAnswerTo,
  isObject,
  METHOD_NOT_FOUND,
  type ResponseMessage,
  UNSUPPORTED_VERSION,
} from '../message/json-rpc.ts'
import { META } from '../message/meta.ts'
import { LATEST_SESSIONLESS } from '../message/protocol-version.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import type { TargetSession } from '../session/target-session.ts'
import { discard } from '../target/read-reply.ts'
import { LIMITS, sendToTarget } from '../target/send-to-target.ts'
import { brokenStreamText, type FailedReply, hasFailed } from '../target/target-failure.ts'

/** A target of the modern era, with the result of `server/discover`. */
export interface Discovered {
  readonly session: TargetSession
  readonly result: JsonObject
}

/** `legacy`: the target speaks only revisions with sessions. */
export type Discovery = Discovered | 'legacy' | FailedReply

const ID = 'discover'

/** Asks a target for its revisions and capabilities. @param client `params._meta` of the client's request, if it has one */
export async function discoverTarget(
  request: McpRequest,
  target: McpTargetPlan,
  client: JsonObject | undefined,
): Promise<Discovery> {
  // The transport is older than the modern era.
  if (target.protocol === 'SSE') return 'legacy'
  const message = JSON.stringify({
    jsonrpc: '2.0',
    id: ID,
    method: 'server/discover',
    params: { _meta: { ...declare(client), ...client } },
  })
  const reply = await sendToTarget(request, {
    target,
    session: sessionOf(target, new Set()),
    method: 'POST',
    message,
    limits: LIMITS.initialize,
    isRepeatable: true,
    names: { method: 'server/discover', name: undefined },
  })
  if (reply.kind === 'refused' && LEGACY_STATUSES.has(reply.response.status)) {
    discard(reply.response)
    return 'legacy'
  }
  if (hasFailed(reply)) return reply
  if (reply.kind === 'nothing') return 'legacy'
  try {
    for await (const { message: received } of reply.messages) {
      if (isAnswerTo(received, ID)) return judge(target, received)
    }
    return failed(target, 'ended its stream without a response')
  } catch (error) {
    return failed(target, brokenStreamText(error))
  } finally {
    reply.abort()
  }
}

/** What servers of the older revisions respond to an unknown method, or to a request outside of a session. */
export const LEGACY_STATUSES = new Set([400, 404, 405, 406, 415, 422])

function judge(target: McpTargetPlan, { result, error }: ResponseMessage): Discovery {
  if (error !== undefined) {
    const isLegacy = error.code === METHOD_NOT_FOUND || error.code === UNSUPPORTED_VERSION
    return isLegacy || error.code <= -32000 ? 'legacy' : failed(target, `refused server/discover with ${error.code}`)
  }
  const versions = result?.supportedVersions
  if (result === undefined || !Array.isArray(versions) || !versions.includes(LATEST_SESSIONLESS)) return 'legacy'
  return { session: sessionOf(target, readCapabilities(result.capabilities)), result }
}

function sessionOf({ name }: McpTargetPlan, capabilities: TargetSession['capabilities']): TargetSession {
  return { target: name, sessionId: undefined, version: LATEST_SESSIONLESS, endpoint: undefined, capabilities }
}

function failed({ name }: McpTargetPlan, how: string): FailedReply {
  return { kind: 'failed', failure: 'invalid-answer', detail: `target ${name} ${how}` }
}

function declare(client: JsonObject | undefined): JsonObject {
  const capabilities = client?.[META.clientCapabilities]
  return {
    [META.protocolVersion]: LATEST_SESSIONLESS,
    [META.clientCapabilities]: isObject(capabilities) ? capabilities : {},
    [META.clientInfo]: GATEWAY_INFO,
  }
}
