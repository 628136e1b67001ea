import type { TestGateway } from './gateway.ts'

const COUNT = /^gatewright_call_duration_seconds_count\{purpose="([^"]+)",backend="([^"]+)",outcome="[^"]+"\} (\d+)$/gm

/** How many calls of the gateway itself have ended, by purpose and backend, whatever their outcome. */
export async function callCounts(gateway: TestGateway): Promise<Readonly<Record<string, number>>> {
  const text = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  const counts: Record<string, number> = {}
  for (const [, purpose, backend, count] of text.matchAll(COUNT)) {
    const key = `${purpose} ${backend}`
    counts[key] = (counts[key] ?? 0) + Number(count)
  }
  return counts
}
