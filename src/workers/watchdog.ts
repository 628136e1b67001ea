import { clock } from '#base/clock.ts'

/** A worker whose loop has not turned for this long is replaced. */
const STUCK_AFTER_MS = 10_000
/** How often both sides count a turn in this time. */
const TURNS = 20

interface Watched {
  /** Written by the worker alone, once in every `turnMs`. */
  readonly turns: Int32Array
  seen: number
  /** Turns of the main thread since the worker's last one. */
  missed: number
}

/**
 * Finds workers whose event loop no longer turns. Time counts in turns of the main thread's own loop, not of a clock: while the
 * machine sleeps, or the main thread itself gets no processor time, no worker is late.
 */
export class Watchdog {
  readonly stuckAfterMs: number
  /** How often a worker counts a turn, in milliseconds. */
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

  /** @returns one Int32, which the worker counts up; it is watched from its first turn on, since loading code takes time */
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

/** The worker's side: counts turns of its own loop, and keeps nothing alive. */
export function countTurns(memory: SharedArrayBuffer, turnMs: number): void {
  const turns = new Int32Array(memory)
  const count = () => {
    // 0 means that it has not begun.
    if (Atomics.add(turns, 0, 1) === -1) Atomics.add(turns, 0, 1)
  }
  count()
  setInterval(count, turnMs).unref()
}
