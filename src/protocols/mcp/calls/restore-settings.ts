import { callTarget } from '../modern/call-target.ts'
import type { McpRequest, SessionTarget } from '../request/mcp-request.ts'
import { logLevelOf, subscriptionsOf } from '../session/session-settings.ts'
import type { Session } from '../session/session-state.ts'
import { abandon } from '../target/abandon.ts'
import { LIMITS } from '../target/send-to-target.ts'

/** Applies the settings of a session again. Settings that the target refuses are lost, as they would be for a new client. */
export async function restoreSettings(request: McpRequest, session: Session, target: SessionTarget): Promise<void> {
  const { table } = request.deps
  const level = logLevelOf(session, table)
  const requests: (readonly [method: string, params: object])[] = []
  if (level !== undefined && target.session?.capabilities.has('logging')) requests.push(['logging/setLevel', { level }])
  for (const uri of subscriptionsOf(session, target.plan.name, table)) requests.push(['resources/subscribe', { uri }])
  await Promise.all(
    requests.map(([method, params], index) => restoreSetting(request, target, { id: `r${index}`, method, params })),
  )
}

/** Makes one setting, and waits until it is in force. */
export async function restoreSetting(
  request: McpRequest,
  { plan, session }: SessionTarget,
  message: { readonly id: string; readonly method: string; readonly params: object },
): Promise<void> {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message })
  const reply = await callTarget(request, {
    target: plan,
    session,
    method: 'POST',
    message: text,
    limits: LIMITS.list,
    isRepeatable: true,
  })
  // The setting is in force when the target has answered.
  if (reply.kind === 'messages') for await (const _ of reply.messages) break
  abandon(reply)
}
