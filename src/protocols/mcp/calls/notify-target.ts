import { callTarget } from '../modern/call-target.ts'
import type { McpRequest, SessionTarget } from '../request/mcp-request.ts'
import { abandon } from '../target/abandon.ts'
import { LIMITS } from '../target/send-to-target.ts'
import { hasFailed } from '../target/target-failure.ts'

/** @param message JSON-RPC text of a notification or a response @returns whether the target has accepted it */
export async function notifyTarget(
  request: McpRequest,
  { plan, session }: SessionTarget,
  message: string,
): Promise<boolean> {
  const reply = await callTarget(request, {
    target: plan,
    session,
    method: 'POST',
    message,
    limits: LIMITS.notification,
  })
  abandon(reply)
  return !hasFailed(reply)
}

/** Ends the initialisation of a target. */
export function notifyInitialized(request: McpRequest, target: SessionTarget): Promise<boolean> {
  return notifyTarget(request, target, INITIALIZED)
}

const INITIALIZED = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
