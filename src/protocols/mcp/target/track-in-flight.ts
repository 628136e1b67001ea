import type { SessionTarget } from '../mcp-request.ts'
import { idKey, type MessageId } from '../message/json-rpc.ts'
import type { McpMemory } from '../session/mcp-memory.ts'
import type { Session } from '../session/session-state.ts'

/** Remembers who is working on a request, so that its cancellation goes only there (decision B70). @returns forgets it */
export function trackInFlight(
  memory: McpMemory,
  session: Session,
  id: MessageId,
  targets: readonly SessionTarget[],
): () => void {
  // Without a session nobody can cancel.
  if (session.id === '') return () => {}
  const key = inFlightKey(session, id)
  memory.inFlight.set(
    key,
    targets.map(({ plan }) => plan.name),
  )
  return () => memory.inFlight.delete(key)
}

/** Names of the targets that work on the request; undefined when this worker does not know. */
export function targetsInFlight(memory: McpMemory, session: Session, id: MessageId): readonly string[] | undefined {
  return memory.inFlight.get(inFlightKey(session, id))
}

function inFlightKey(session: Session, id: MessageId): string {
  return `${session.key} ${idKey(id)}`
}
