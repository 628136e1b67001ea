import type { SessionTarget } from '../mcp-request.ts'
import { idKey, type MessageId } from '../message/json-rpc.ts'
import type { McpMemory } from '../session/mcp-memory.ts'
import type { Session } from '../session/session-state.ts'

/** Records which targets process a request, so that its cancellation goes only to them (decision B70). @returns removes the record */
export function trackInFlight(
  memory: McpMemory,
  session: Session,
  id: MessageId,
  targets: readonly SessionTarget[],
): () => void {
  // Without a session a request cannot be cancelled.
  if (session.id === '') return () => {}
  const key = inFlightKey(session, id)
  memory.inFlight.set(
    key,
    targets.map(({ plan }) => plan.name),
  )
  return () => memory.inFlight.delete(key)
}

/** Names of the targets that process the request; undefined if this worker has no record. */
export function targetsInFlight(memory: McpMemory, session: Session, id: MessageId): readonly string[] | undefined {
  return memory.inFlight.get(inFlightKey(session, id))
}

function inFlightKey(session: Session, id: MessageId): string {
  return `${session.key} ${idKey(id)}`
}
