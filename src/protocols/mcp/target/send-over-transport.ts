import type { McpRequest } from '../mcp-request.ts'
import { callOverSse } from '../sse/call-over-sse.ts'
import { sendToTarget, type TargetCall } from './send-to-target.ts'
import type { TargetReply } from './target-reply.ts'

/** Calls a target over its transport, with the message as it is. */
export function sendOverTransport(request: McpRequest, call: TargetCall): Promise<TargetReply> {
  return call.target.protocol === 'SSE' ? callOverSse(request, call) : sendToTarget(request, call)
}
