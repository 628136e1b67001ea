import { parseJson } from '#base/parse-json.ts'
import type { SharedTable } from '#state/shared-table.ts'
import type { RequestMessage } from '../message/json-rpc.ts'
import type { Session } from './session-state.ts'

/** Subscriptions of a session that are remembered, per target, and the length of their URIs together, in characters. */
const MAX_SUBSCRIPTIONS = 256
const MAX_URIS_LENGTH = 16_384
/** Longer ones are none of the protocol. */
const MAX_LEVEL_LENGTH = 32

/** Records a setting of a session (a log level, a subscription), so that it can be made again at a target that has forgotten it. */
export function noteSetting(
  session: Session,
  target: string,
  { method, params }: Pick<RequestMessage, 'method' | 'params'>,
  table: SharedTable,
): void {
  const uri = params?.uri
  if (method === 'logging/setLevel' && typeof params?.level === 'string') {
    if (params.level.length <= MAX_LEVEL_LENGTH) table.set(LEVEL, session.key, params.level)
  } else if (typeof uri === 'string' && (method === 'resources/subscribe' || method === 'resources/unsubscribe')) {
    const others = subscriptionsOf(session, target, table).filter((other) => other !== uri)
    const kept = method === 'resources/subscribe' ? latest([...others, uri]) : others
    table.set(SUBSCRIPTIONS, `${session.key} ${target}`, JSON.stringify(kept))
  }
}

/** As many of the last ones as may be remembered. */
function latest(uris: readonly string[]): readonly string[] {
  let from = uris.length
  let length = 0
  while (from > Math.max(0, uris.length - MAX_SUBSCRIPTIONS)) {
    length += uris[from - 1]!.length
    if (length > MAX_URIS_LENGTH) break
    from--
  }
  return uris.slice(from)
}

/** The log level that the client of a session has set. */
export function logLevelOf({ key }: Session, table: SharedTable): string | undefined {
  return table.get(LEVEL, key)
}

/** URIs that the client of a session has subscribed to, as the target names them. */
export function subscriptionsOf(session: Session, target: string, table: SharedTable): readonly string[] {
  const kept = table.get(SUBSCRIPTIONS, `${session.key} ${target}`)
  return kept === undefined ? [] : (parseJson(kept) as readonly string[])
}

/** Scopes of the shared table. */
const LEVEL = 'mcp-log-level'
const SUBSCRIPTIONS = 'mcp-subscriptions'
