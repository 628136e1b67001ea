/** A gauge of this worker. */
interface Gauge {
  add(amount: number): void
}

/** Text that prompt guards may hold back in one worker, in bytes. */
const MAX_HELD_BYTES = 64 * 1024 * 1024

/** What prompt guards of one worker hold back, and wait for. */
export class GuardLoad {
  readonly #held: Gauge
  readonly #windows: Gauge
  #heldBytes = 0

  /**
   * @param held the metric of held bytes
   * @param windows the metric of windows that services judge
   */
  constructor(held: Gauge, windows: Gauge) {
    this.#held = held
    this.#windows = windows
  }

  /** @returns false if there is no room */
  take(bytes: number): boolean {
    if (this.#heldBytes + bytes > MAX_HELD_BYTES) return false
    this.#heldBytes += bytes
    this.#held.add(bytes)
    return true
  }

  give(bytes: number): void {
    this.#heldBytes -= bytes
    this.#held.add(-bytes)
  }

  beginWindow(): void {
    this.#windows.add(1)
  }

  endWindow(): void {
    this.#windows.add(-1)
  }
}

const NO_GAUGE: Gauge = { add: () => {} }

/** For exchanges outside of a worker. */
export function uncountedGuardLoad(): GuardLoad {
  return new GuardLoad(NO_GAUGE, NO_GAUGE)
}
