import type { McpRequest } from '../mcp-request.ts'
import { callAsModern } from '../modern/call-as-modern.ts'
import { initialiseEither } from '../modern/initialise-either.ts'
import { LATEST_SESSIONLESS } from '../session/protocol-version.ts'
import { callOverSse } from '../sse/call-over-sse.ts'
import { sendToTarget, type TargetCall } from './send-to-target.ts'
import type { TargetReply } from './target-reply.ts'

/**
 * Calls a target over its transport, and in the form that it speaks. A message of a session is translated for a target of the modern era,
 * and its reply is translated back. Failures of the target are values; the promise is not rejected for them.
 */
export function callTarget(request: McpRequest, call: TargetCall): Promise<TargetReply> {
  if (call.target.protocol === 'SSE') return callOverSse(request, call)
  if (call.session === undefined) return initialiseEither(request, call)
  if (request.era === 'legacy' && call.session.version === LATEST_SESSIONLESS) return callAsModern(request, call)
  return sendToTarget(request, call)
}
