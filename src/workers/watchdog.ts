import { clock } from '#base/clock.ts'

/** A worker whose event loop has been blocked for this long is replaced. */
const STUCK_AFTER_MS = 10_000
/** Number of turns that both sides count in this time. */
const TURNS = 20

interface Watched {
  /** Written only by the worker, once in every `turnMs`. */
  readonly turns: Int32Array
  seen: number
  /** Turns of the main thread since the worker's last one. */
  missed: number
}

/**
 * Finds workers with a blocked event loop. Time is measured in turns of the main thread's own loop, not with a clock: while the machine
 * sleeps, or the main thread itself gets no processor time, no worker is late.
 */
export class Watchdog {
  readonly stuckAfterMs: number
  /** Interval in which a worker counts a turn, in milliseconds. */
  readonly turnMs: number
  readonly #onStuck: (name: string) => void
  readonly #watched = new Map<string, Watched>()
  #timer: { cancel(): void }

  /** @param onStuck called once for a worker, which is then no longer watched */
  constructor(onStuck: (name: string) => void, stuckAfterMs = STUCK_AFTER_MS) {
    this.stuckAfterMs = stuckAfterMs
    this.turnMs = stuckAfterMs / TURNS
    this.#onStuck = onStuck
    this.#timer = clock.after(this.turnMs, this.#turn)
  }

  /** @returns one Int32 that the worker increments. Watching begins with its first turn, because loading code takes time */
  watch(name: string): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
    this.#watched.set(name, { turns: new Int32Array(memory), seen: 0, missed: 0 })
    return memory
  }

  forget(name: string): void {
    this.#watched.delete(name)
  }

  close(): void {
    this.#timer.cancel()
  }

  readonly #turn = (): void => {
    this.#timer = clock.after(this.turnMs, this.#turn)
    for (const [name, watched] of this.#watched) {
      const turns = Atomics.load(watched.turns, 0)
      watched.missed = turns === watched.seen ? watched.missed + 1 : 0
      watched.seen = turns
      if (turns === 0 || watched.missed < TURNS) continue
      this.#watched.delete(name)
      this.#onStuck(name)
    }
  }
}

/** Runs in the worker: counts turns of its own loop until it is cancelled. Its timer does not keep the thread alive. */
export function countTurns(memory: SharedArrayBuffer, turnMs: number): { cancel(): void } {
  const turns = new Int32Array(memory)
  const count = () => {
    // 0 means that the worker has not begun.
    if (Atomics.add(turns, 0, 1) === -1) Atomics.add(turns, 0, 1)
  }
  count()
  const timer = setInterval(count, turnMs).unref()
  return { cancel: () => clearInterval(timer) }
}
