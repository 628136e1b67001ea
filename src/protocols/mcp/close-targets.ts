import { callTarget, discard } from './call-target.ts'
import type { McpRequest, SessionTarget } from './mcp-request.ts'

const CLOSE_TIMEOUT_MS = 10_000

/** Ends the sessions of targets that have one. What goes wrong there is of no interest to the client. */
export async function closeTargets(request: McpRequest, targets: readonly SessionTarget[]): Promise<void> {
  const begun = targets.filter(({ session }) => session?.sessionId !== undefined)
  await Promise.all(begun.map((target) => closeTarget(request, target)))
}

async function closeTarget(request: McpRequest, { plan, session }: SessionTarget): Promise<void> {
  const reply = await callTarget(request, {
    target: plan,
    session,
    method: 'DELETE',
    message: undefined,
    timeoutMs: CLOSE_TIMEOUT_MS,
    outlivesClient: true,
  })
  if (reply.kind === 'messages') reply.abort()
  if (reply.kind === 'refused') discard(reply.response)
}
