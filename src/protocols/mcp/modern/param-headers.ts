import { numberIn } from '#base/exact-json.ts'
import type { Json, JsonObject } from '#base/json.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import { isObject, type RequestMessage } from '../message/json-rpc.ts'
import { encodeHeader } from '../message/request-headers.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { readTools } from '../target/read-tools.ts'
import type { TargetCall } from '../target/send-to-target.ts'
import { sendOverTransport } from '../transport/send-over-transport.ts'

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
  const { target, session } = call
  const found = new Map<string, readonly (readonly [string, string])[]>()
  for await (const tools of readTools((list) => sendOverTransport(request, { ...list, target, session }), client)) {
    for (const tool of tools) {
      if (typeof tool.name !== 'string' || found.size >= MAX_TOOLS) continue
      const headers = headersIn(tool.inputSchema)
      if (headers.length > 0) found.set(tool.name, headers)
    }
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
