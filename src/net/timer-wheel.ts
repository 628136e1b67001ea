import { clock } from '#base/clock.ts'

const TICK_MS = 100
const SLOTS = 512

/** A reusable timer; `fire` is called when it expires. */
export class WheelTimer {
  readonly fire: () => void
  /** Tick at which it fires; 0: not armed. Only the wheel writes it and the links. */
  deadline = 0
  slot = -1
  slotTick = 0
  previous: WheelTimer | null = null
  next: WheelTimer | null = null

  constructor(fire: () => void) {
    this.fire = fire
  }
}

/**
 * A coarse timer wheel for all time limits of a worker, in steps of 100 ms. A limit counts from the last step, so that arming reads no clock: it
 * is up to two steps late, or, if the event loop was blocked before, early by the time since that step. Re-arming a timer for a later time
 * costs one store, because the timer moves only when its slot is due. The interval runs only while a timer is armed and does not keep the
 * process alive.
 */
export class TimerWheel {
  readonly #slots: (WheelTimer | null)[] = new Array<WheelTimer | null>(SLOTS).fill(null)
  #tick = 1
  #origin = 0
  #linked = 0
  #interval: NodeJS.Timeout | undefined

  /** Fires `timer` once, `ms` milliseconds from now, unless it is re-armed or disarmed before. */
  arm(timer: WheelTimer, ms: number): void {
    if (this.#linked === 0) this.#start()
    const deadline = this.#tick + Math.ceil(ms / TICK_MS) + 1
    timer.deadline = deadline
    if (timer.slot < 0) return this.#link(timer)
    if (timer.slotTick <= deadline) return
    this.#unlink(timer)
    this.#link(timer)
  }

  /** Cheap: the wheel removes the timer when its slot is due. */
  disarm(timer: WheelTimer): void {
    timer.deadline = 0
  }

  /** Disarms and removes the timer now. */
  remove(timer: WheelTimer): void {
    timer.deadline = 0
    if (timer.slot < 0) return
    this.#unlink(timer)
    if (this.#linked === 0) this.#stop()
  }

  /** Removes all timers. */
  clear(): void {
    for (let slot = 0; slot < SLOTS; slot++) {
      for (let timer = this.#slots[slot]; timer; timer = this.#slots[slot]) this.remove(timer)
    }
  }

  /** Fires due timers by `clock.monotonic`. The interval of the wheel calls it; tests advance the clock and call it. */
  advance(): void {
    while (this.#linked > 0 && clock.monotonic() - this.#origin >= (this.#tick + 1) * TICK_MS) this.#step()
    if (this.#linked === 0) this.#stop()
  }

  #step(): void {
    const tick = ++this.#tick
    const slot = tick % SLOTS
    for (let timer = this.#slots[slot]; timer; timer = this.#slots[slot]) {
      this.#unlink(timer)
      if (timer.deadline > tick) this.#link(timer)
      else if (timer.deadline > 0) {
        timer.deadline = 0
        timer.fire()
      }
    }
  }

  #link(timer: WheelTimer): void {
    timer.slotTick = Math.min(timer.deadline, this.#tick + SLOTS - 1)
    timer.slot = timer.slotTick % SLOTS
    const first = this.#slots[timer.slot] ?? null
    timer.next = first
    timer.previous = null
    if (first !== null) first.previous = timer
    this.#slots[timer.slot] = timer
    this.#linked++
  }

  #unlink(timer: WheelTimer): void {
    if (timer.previous === null) this.#slots[timer.slot] = timer.next
    else timer.previous.next = timer.next
    if (timer.next !== null) timer.next.previous = timer.previous
    timer.previous = null
    timer.next = null
    timer.slot = -1
    this.#linked--
  }

  #start(): void {
    this.#origin = clock.monotonic() - this.#tick * TICK_MS
    this.#interval ??= setInterval(() => this.advance(), TICK_MS).unref()
  }

  #stop(): void {
    clearInterval(this.#interval)
    this.#interval = undefined
  }
}

/** The wheel of this worker. */
export const workerWheel: TimerWheel = new TimerWheel()
