import { numberIn } from '#base/exact-json.ts'
import type { Json, JsonObject } from '#base/json.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import type { McpRequest } from '../mcp-request.ts'
import { isAnswerTo, isObject, type RequestMessage } from '../message/json-rpc.ts'
import { discard } from '../target/read-reply.ts'
import { LIMITS, sendToTarget, type TargetCall } from '../target/send-to-target.ts'
import { encodeHeader } from './request-headers.ts'

/** Pages of a list of tools that are read for their header fields. */
const MAX_PAGES = 64
/** Tools of a target whose header fields are remembered. */
const MAX_TOOLS = 1000

type Fields = readonly (readonly [name: string, value: string])[]

/** The header fields `Mcp-Param-*` of a call, as far as the schema of the tool is known (`x-mcp-header`). */
export function paramHeaders(
  { deps }: McpRequest,
  { destination }: McpTargetPlan,
  { method, params }: RequestMessage,
): Fields {
  const name = params?.name
  if (method !== 'tools/call' || typeof name !== 'string' || !isObject(params?.arguments)) return []
  const { arguments: values } = params
  const known = deps.memory.paramHeaders.get(destination)?.get(name) ?? []
  return known.flatMap(([argument, field]) => {
    const text = Object.hasOwn(values, argument) ? textOf(values[argument]) : undefined
    return text === undefined ? [] : [[`mcp-param-${field.toLowerCase()}`, encodeHeader(text)] as const]
  })
}

function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || numberIn(value) !== undefined) return JSON.stringify(value)
  return undefined
}

/** Reads the tools of a target for their header fields. What cannot be read stays unknown. */
export async function learnParamHeaders(request: McpRequest, call: TargetCall, client: JsonObject): Promise<void> {
  const found = new Map<string, readonly (readonly [string, string])[]>()
  let cursor: Json | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await listTools(request, call, { _meta: client, ...(cursor !== undefined && { cursor }) })
    for (const tool of Array.isArray(result?.tools) ? result.tools : []) {
      if (!isObject(tool) || typeof tool.name !== 'string' || found.size >= MAX_TOOLS) continue
      const headers = headersIn(tool.inputSchema)
      if (headers.length > 0) found.set(tool.name, headers)
    }
    cursor = result?.nextCursor
    if (typeof cursor !== 'string') break
  }
  request.deps.memory.paramHeaders.set(call.target.destination, found)
}

function headersIn(schema: Json | undefined): readonly (readonly [string, string])[] {
  if (!isObject(schema) || !isObject(schema.properties)) return []
  return Object.entries(schema.properties).flatMap(([argument, property]) => {
    const field = isObject(property) ? property['x-mcp-header'] : undefined
    return typeof field === 'string' && /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(field) ? [[argument, field] as const] : []
  })
}

const ID = 'tools'

async function listTools(request: McpRequest, call: TargetCall, params: JsonObject): Promise<JsonObject | undefined> {
  const reply = await sendToTarget(request, {
    target: call.target,
    session: call.session,
    method: 'POST',
    message: JSON.stringify({ jsonrpc: '2.0', id: ID, method: 'tools/list', params }),
    limits: LIMITS.list,
    isRepeatable: true,
    names: { method: 'tools/list', name: undefined },
  })
  if (reply.kind === 'refused') discard(reply.response)
  if (reply.kind !== 'messages') return undefined
  try {
    for await (const { message } of reply.messages) if (isAnswerTo(message, ID)) return message.result
  } catch {
    // The call shows whether the target is available.
  } finally {
    reply.abort()
  }
  return undefined
}
