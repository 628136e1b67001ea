let lastMs = -1
let lastText = ''

/** RFC 3339 in UTC with milliseconds, the precision of the clock. The last result is cached, because many lines have the same millisecond. */
export function formatTimestamp(epochMs: number): string {
  if (epochMs === lastMs) return lastText
  lastMs = epochMs
  lastText = new Date(epochMs).toISOString()
  return lastText
}
