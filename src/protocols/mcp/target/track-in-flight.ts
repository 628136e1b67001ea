import type { McpRequest, SessionTarget } from '../mcp-request.ts'
import { idKey, type MessageId } from '../message/json-rpc.ts'
import type { Session } from '../session/session-state.ts'
import { keepInUse } from '../session/session-use.ts'
import { notifyTarget } from './notify-target.ts'

/**
 * Waits for the cancellation of a request, which any worker may receive, and sends it only to the targets that process the request (decision
 * B70). @returns call it when the request is over
 */
export function trackInFlight(
  request: McpRequest,
  session: Session,
  id: MessageId,
  targets: readonly SessionTarget[],
): () => void {
  // Without a session a request cannot be cancelled.
  if (session.id === '') return () => {}
  const { channels, table } = request.deps
  const close = channels.open(inFlightChannel(session, id), async (cancellation) => {
    await Promise.all(targets.map((target) => notifyTarget(request, target, cancellation)))
  })
  const release = keepInUse(session, table)
  return () => {
    close()
    release()
  }
}

/** The channel of a request that is being served. */
export function inFlightChannel({ key }: Session, id: MessageId): string {
  return `mcp-request ${key} ${idKey(id)}`
}
