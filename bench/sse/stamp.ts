/** Microseconds of a clock that is common to all processes of the machine. */
export function monotonicUs(): number {
  return Number(process.hrtime.bigint() / 1000n)
}

const STAMP = '"system_fingerprint":"us'

/** A chat-completion chunk with the time of its writing, in a member that proxies ignore. */
export function stampedEvent(us: number, members: object): string {
  const chunk = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'mock-small' }
  return `data: ${JSON.stringify({ ...chunk, system_fingerprint: `us${us}`, ...members })}\n\n`
}

/** The times in a piece of a stream. Times that are split between two pieces are ignored. */
export function readStamps(text: string): number[] {
  const stamps: number[] = []
  for (let at = text.indexOf(STAMP); at >= 0; at = text.indexOf(STAMP, at + 1)) {
    const start = at + STAMP.length
    const end = text.indexOf('"', start)
    if (end > start) stamps.push(Number(text.slice(start, end)))
  }
  return stamps
}
