import type { SseConnection } from '../request/sse-connection.ts'

/**
 * Closes the connection that has been unused for longest, of the caller with the most connections: one caller cannot take the place of others.
 * Its next request begins the session of the target again.
 * @param owner of the connection that needs room. @returns false: that caller uses all of them
 */
export function makeRoom(connections: Iterable<SseConnection>, owner: string): boolean {
  const counts = new Map([[owner, 1]])
  for (const connection of connections) counts.set(connection.owner, (counts.get(connection.owner) ?? 0) + 1)
  const most = Math.max(...counts.values())
  const unused = [...connections].filter(
    (connection) => counts.get(connection.owner) === most && connection.unusedSinceMs !== undefined,
  )
  const [first] = unused.toSorted((one, other) => one.unusedSinceMs! - other.unusedSinceMs!)
  first?.close()
  return first !== undefined
}
