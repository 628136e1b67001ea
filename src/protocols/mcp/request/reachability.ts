import { clock } from '#base/clock.ts'

/** How long requests of sessions fail without a new attempt to reach the target. */
const PAUSE_MS = 1_000

interface Outage {
  /** Monotonic milliseconds; no further probe before that. */
  probeFromMs: number
  /** Whether the target can be reached, while that is being tried. */
  probe: Promise<boolean> | undefined
}

/** Targets to which the last attempt failed to connect, by destination (decision B63). */
export class Reachability {
  readonly #outages = new Map<string, Outage>()

  /** No target is known to be unreachable. */
  get isWhole(): boolean {
    return this.#outages.size === 0
  }

  /** Called after each attempt. */
  note(destination: string, isReached: boolean): void {
    if (isReached) this.#outages.delete(destination)
    else if (!this.#outages.has(destination)) this.#outages.set(destination, { probeFromMs: 0, probe: undefined })
  }

  /**
   * Whether requests may count on a target. One that is known to be unreachable is tried again, at most once a second; all requests that ask
   * meanwhile wait for the same probe.
   * @param probe sends something to the target; the attempt calls `note`
   */
  async isReachable(destination: string, probe: () => Promise<void>): Promise<boolean> {
    const outage = this.#outages.get(destination)
    if (outage === undefined) return true
    if (outage.probe === undefined && outage.probeFromMs > clock.monotonic()) return false
    outage.probe ??= probe().then(() => {
      outage.probe = undefined
      outage.probeFromMs = clock.monotonic() + PAUSE_MS
      return this.#outages.get(destination) !== outage
    })
    return outage.probe
  }
}
