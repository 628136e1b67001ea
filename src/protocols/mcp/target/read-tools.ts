import type { Json, JsonObject } from '#base/json.ts'
import { isAnswerTo, isObject } from '../message/json-rpc.ts'
import type { TargetReply } from '../message/target-reply.ts'
import { abandon } from './abandon.ts'
import { LIMITS, type TargetCall } from './send-to-target.ts'

/** Pages of a list of tools that are read. */
const MAX_PAGES = 64

type Send = (call: Omit<TargetCall, 'target' | 'session'>) => Promise<TargetReply>

/**
 * The tools of a target, by page, for the gateway itself. What cannot be read stays unknown.
 * @param meta `_meta` of the requests
 */
export async function* readTools(send: Send, meta: JsonObject | undefined): AsyncGenerator<readonly JsonObject[]> {
  let cursor: Json | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = { ...(meta && { _meta: meta }), ...(cursor !== undefined && { cursor }) }
    const result = await readPage(send, params)
    const tools: readonly Json[] = Array.isArray(result?.tools) ? result.tools : []
    yield tools.filter(isObject)
    cursor = result?.nextCursor
    if (typeof cursor !== 'string') return
  }
}

async function readPage(send: Send, params: JsonObject): Promise<JsonObject | undefined> {
  // The client may use any other id at the same time.
  const id = `tools ${crypto.randomUUID()}`
  const reply = await send({
    method: 'POST',
    message: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list', params }),
    limits: LIMITS.list,
    isRepeatable: true,
    names: { method: 'tools/list', name: undefined },
  })
  try {
    if (reply.kind !== 'messages') return undefined
    for await (const { message } of reply.messages) if (isAnswerTo(message, id)) return message.result
  } catch {
    // The call shows whether the target is available.
  } finally {
    abandon(reply)
  }
  return undefined
}
