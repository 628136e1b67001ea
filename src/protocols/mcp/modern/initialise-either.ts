import type { JsonObject } from '#base/json.ts'
import { isObject, type MessageId, parseMessage } from '../message/json-rpc.ts'
import { META } from '../message/meta.ts'
import type { TargetReply } from '../message/target-reply.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { discard } from '../target/read-reply.ts'
import { sendToTarget, type TargetCall } from '../target/send-to-target.ts'
import { discoverTarget, LEGACY_STATUSES } from './discover-target.ts'
import { oneMessage } from './one-message.ts'
import { withoutTasks } from './without-tasks.ts'

/** Initialises a target. A target that supports only revisions without sessions refuses; then the result is made from its `server/discover` result. */
export async function initialiseEither(request: McpRequest, call: TargetCall): Promise<TargetReply> {
  const reply = await sendToTarget(request, call)
  if (reply.kind !== 'refused' || !LEGACY_STATUSES.has(reply.response.status)) return reply
  const message = parseMessage(call.message ?? '')
  if (message.kind !== 'request') return reply
  const found = await discoverTarget(request, call.target, undefined)
  if (found === 'legacy' || 'kind' in found) return reply
  discard(reply.response)
  const { endpoint } = reply.response
  const result = initializeResult(message.params?.protocolVersion, found.result)
  return { ...oneMessage(resultMessage(message.id, result), endpoint), isModern: true }
}

function resultMessage(id: MessageId, result: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

function initializeResult(version: JsonObject[string] | undefined, discovered: JsonObject): JsonObject {
  const { capabilities, instructions, _meta: meta } = discovered
  const serverInfo = isObject(meta) ? meta[META.serverInfo] : undefined
  return {
    protocolVersion: version ?? null,
    capabilities: isObject(capabilities) ? withoutTasks(capabilities) : {},
    serverInfo: isObject(serverInfo) ? serverInfo : {},
    ...(typeof instructions === 'string' && { instructions }),
  }
}
