import { LATEST_SESSIONLESS } from '../message/protocol-version.ts'
import type { TargetReply } from '../message/target-reply.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import type { TargetCall } from '../target/send-to-target.ts'
import { sendOverTransport } from '../transport/send-over-transport.ts'
import { callAsLegacy } from './call-as-legacy.ts'
import { callAsModern } from './call-as-modern.ts'
import { initialiseEither } from './initialise-either.ts'

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
