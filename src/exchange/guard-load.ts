/** A gauge of this worker. */
interface Gauge {
  add(amount: number): void
}

/** What prompt guards of one worker hold back, and wait for. */
export class GuardLoad {
  readonly #held: Gauge
  readonly #windows: Gauge

  /**
   * @param held the metric of held bytes
   * @param windows the metric of windows that services judge
   */
  constructor(held: Gauge, windows: Gauge) {
    this.#held = held
    this.#windows = windows
  }

  /** @param bytes that are held back; negative: that have left */
  change(bytes: number): void {
    this.#held.add(bytes)
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
