import type { Json, JsonObject } from '#base/json.ts'
import type { McpRequest } from '../mcp-request.ts'
import { isAnswerTo, isObject } from '../message/json-rpc.ts'
import { abandon } from '../target/abandon.ts'
import { sendOverTransport } from '../target/send-over-transport.ts'
import { LIMITS, type TargetCall } from '../target/send-to-target.ts'

/** Pages of a list of tools that are read. */
const MAX_PAGES = 64

const ID = 'tools'

/** The tools of a target, for the gateway itself. What cannot be read stays unknown. @param meta `_meta` of the requests */
export async function* readTools(
  request: McpRequest,
  call: TargetCall,
  meta: JsonObject | undefined,
): AsyncGenerator<JsonObject> {
  let cursor: Json | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = { ...(meta && { _meta: meta }), ...(cursor !== undefined && { cursor }) }
    const result = await listTools(request, call, params)
    for (const tool of Array.isArray(result?.tools) ? result.tools : []) if (isObject(tool)) yield tool
    cursor = result?.nextCursor
    if (typeof cursor !== 'string') return
  }
}

async function listTools(
  request: McpRequest,
  { target, session }: TargetCall,
  params: JsonObject,
): Promise<JsonObject | undefined> {
  const reply = await sendOverTransport(request, {
    target,
    session,
    method: 'POST',
    message: JSON.stringify({ jsonrpc: '2.0', id: ID, method: 'tools/list', params }),
    limits: LIMITS.list,
    isRepeatable: true,
    names: { method: 'tools/list', name: undefined },
  })
  try {
    if (reply.kind !== 'messages') return undefined
    for await (const { message } of reply.messages) if (isAnswerTo(message, ID)) return message.result
  } catch {
    // The call shows whether the target is available.
  } finally {
    abandon(reply)
  }
  return undefined
}
