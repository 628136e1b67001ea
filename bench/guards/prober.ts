import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import type { ProbeOrder } from './probe.ts'

/** Asks an unguarded route from a process of its own, which answers as the provider of that route: what it measures is not held up by the load. */
export interface Prober {
  /** Of the provider of the route. */
  readonly port: number
  /** @returns the milliseconds of each request */
  probe(url: string, seconds: number): Promise<readonly number[]>
}

export async function startProber(stops: AsyncDisposableStack): Promise<Prober> {
  const child = fork(new URL('./probe.ts', import.meta.url))
  stops.defer(() => void child.kill())
  const port = await next<number>(child)
  return {
    port,
    probe(url, seconds) {
      const order: ProbeOrder = { url: `${url}/plain/v1/chat/completions`, seconds }
      child.send(order)
      return next(child)
    },
  }
}

async function next<Message>(child: ChildProcess): Promise<Message> {
  const [message] = (await once(child, 'message')) as [Message]
  return message
}

const LOWEST_PRIORITY = 19

/** This process makes load: it runs when neither the gateway nor the prober, which were started before, want a core. */
export function makeRoom(): void {
  setPriority(LOWEST_PRIORITY)
}

export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * share)]!
const median = (values: readonly number[]): number => quantile(values, 0.5)

/** Rounds without and with load alternate, so that a slow minute of the machine affects both. */
export class Comparison {
  readonly #without: number[] = []
  readonly #loaded: number[] = []

  /** @param times the milliseconds of the requests of a round @returns them in words */
  add(times: readonly number[], isLoaded: boolean): string {
    const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => quantile(times, share)) as [number, number, number]
    const rounds = isLoaded ? this.#loaded : this.#without
    rounds.push(p99)
    return `p50 ${p50.toFixed(1)} ms, p90 ${p90.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
  }

  /** The 99th percentile of a round with load, less that of the round before it; the spread of the rounds without load tells what it means. */
  conclude(load: string): string {
    const more = this.#loaded.map((p99, round) => p99 - this.#without[round]!)
    const [least, most] = [Math.min(...this.#without), Math.max(...this.#without)]
    return (
      `p99 with ${load}, less that of the round before: median ${median(more).toFixed(1)} ms of ${more.map((ms) => ms.toFixed(1)).join(', ')}; ` +
      `p99 without ${load}: ${least.toFixed(1)} to ${most.toFixed(1)} ms, median ${median(this.#without).toFixed(1)} ms; ` +
      `with: median ${median(this.#loaded).toFixed(1)} ms`
    )
  }
}
