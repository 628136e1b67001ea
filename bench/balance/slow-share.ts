import { PORTS } from '../settings.ts'
import { COUNTS_ADDRESS, ENDPOINTS, SLOW } from './endpoints.ts'

/** The requests of each endpoint so far. */
export async function readCounts(): Promise<readonly number[]> {
  const response = await fetch(`http://${COUNTS_ADDRESS}:${PORTS.endpoints}/`)
  return (await response.json()) as number[]
}

/** The requests of the slow endpoint since `before`, relative to its fair share: 1 is the same as all others. */
export async function slowShareSince(before: readonly number[]): Promise<number> {
  const counts = (await readCounts()).map((count, i) => count - before[i]!)
  const all = counts.reduce((sum, count) => sum + count, 0)
  return (ENDPOINTS * counts[SLOW - 1]!) / all
}
