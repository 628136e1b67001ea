import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ProbeOrder } from './probe.ts'

/** Asks an unguarded route from a thread of its own, which answers as the provider of that route: what it measures is not held up by the load. */
export interface Prober {
  /** Of the provider of the route. */
  readonly port: number
  /** @returns the milliseconds of each request */
  probe(url: string, seconds: number): Promise<readonly number[]>
}

export async function startProber(stops: AsyncDisposableStack): Promise<Prober> {
  const thread = new Worker(new URL('./probe.ts', import.meta.url))
  stops.defer(async () => void (await thread.terminate()))
  const [port] = (await once(thread, 'message')) as [number]
  return {
    port,
    async probe(url, seconds) {
      const order: ProbeOrder = { url: `${url}/plain/v1/chat/completions`, seconds }
      thread.postMessage(order)
      const [times] = (await once(thread, 'message')) as [readonly number[]]
      return times
    },
  }
}

export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * share)]!
export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** One line about the rounds with and without load. */
export function compareRounds(without: readonly number[], loaded: readonly number[], load: string): string {
  const [plain, more] = [median(without), median(loaded)]
  return `median p99 without ${load} ${plain.toFixed(1)} ms, with ${more.toFixed(1)} ms: ${(more - plain).toFixed(1)} ms more (bar: 2 ms, on a quiet machine)`
}
