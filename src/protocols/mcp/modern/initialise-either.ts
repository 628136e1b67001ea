import type { JsonObject } from '#base/json.ts'
import type { McpRequest } from '../mcp-request.ts'
import { isObject, type MessageId, parseMessage } from '../message/json-rpc.ts'
import { discard } from '../target/read-reply.ts'
import { sendToTarget, type TargetCall } from '../target/send-to-target.ts'
import type { TargetReply } from '../target/target-reply.ts'
import { discoverTarget, LEGACY_STATUSES } from './discover-target.ts'
import { META } from './meta.ts'
import { oneMessage } from './one-message.ts'
import { withoutTasks } from './without-tasks.ts'

/** Initialises a target. One that speaks only revisions without sessions refuses that; what it tells of itself takes the place of the result. */
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
