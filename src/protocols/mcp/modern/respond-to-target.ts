import type { McpRequest } from '../request/mcp-request.ts'
import { abandon } from '../target/abandon.ts'
import { LIMITS, type TargetCall } from '../target/send-to-target.ts'
import { type FailedReply, hasFailed } from '../target/target-failure.ts'
import { sendOverTransport } from '../transport/send-over-transport.ts'

/** Responds to a request of a target of the legacy era. @returns the failure, if the target has not accepted the response */
export async function respondToTarget(
  request: McpRequest,
  { target, session }: Pick<TargetCall, 'target' | 'session'>,
  message: string,
): Promise<FailedReply | undefined> {
  const reply = await sendOverTransport(request, {
    target,
    session,
    method: 'POST',
    message,
    limits: LIMITS.notification,
  })
  if (hasFailed(reply)) return reply
  abandon(reply)
  return undefined
}
