import type { TargetReply } from '../message/target-reply.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { sendToTarget, type TargetCall } from '../target/send-to-target.ts'
import { callOverSse } from './call-over-sse.ts'

/** Calls a target over its transport, without translating the message. */
export function sendOverTransport(request: McpRequest, call: TargetCall): Promise<TargetReply> {
  return call.target.protocol === 'SSE' ? callOverSse(request, call) : sendToTarget(request, call)
}
