import type { McpRequest } from '../mcp-request.ts'
import { callAsLegacy } from '../modern/call-as-legacy.ts'
import { callAsModern } from '../modern/call-as-modern.ts'
import { initialiseEither } from '../modern/initialise-either.ts'
import { LATEST_SESSIONLESS } from '../session/protocol-version.ts'
import { sendOverTransport } from './send-over-transport.ts'
import type { TargetCall } from './send-to-target.ts'
import type { TargetReply } from './target-reply.ts'

/**
 * Calls a target over its transport, and in the form that it speaks: messages are translated between the eras of client and target, and so are
 * the replies. Failures of the target are values; the promise is not rejected for them.
 */
export function callTarget(request: McpRequest, call: TargetCall): Promise<TargetReply> {
  const { target, session } = call
  if (session === undefined)
    return target.protocol === 'SSE' ? sendOverTransport(request, call) : initialiseEither(request, call)
  const targetIsModern = session.version === LATEST_SESSIONLESS
  if (targetIsModern === (request.era === 'modern')) return sendOverTransport(request, call)
  return targetIsModern ? callAsModern(request, call) : callAsLegacy(request, call)
}
