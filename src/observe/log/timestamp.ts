let lastMs = -1
let lastText = ''

/** RFC 3339 in UTC with microseconds. The last result is cached, because many lines have the same millisecond. */
export function formatTimestamp(epochMs: number): string {
  if (epochMs === lastMs) return lastText
  lastMs = epochMs
  lastText = `${new Date(epochMs).toISOString().slice(0, -1)}000Z`
  return lastText
}
