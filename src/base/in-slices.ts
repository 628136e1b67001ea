import { clock } from './clock.ts'

/** Long work. It yields where other work may run. */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** How long such work holds the worker in one turn of the event loop, in milliseconds; a step that cannot be divided comes on top. */
const TURN_MS = 2
/** The part of a turn for works that began in earlier turns: a request of another route takes several turns, and waits for this part of each. */
const WAITING_MS = 0.5
/** Less than this needs no end of the turn: it counts for the next turn, too. At most `WAITING_MS`, so that a turn that is used up has an end. */
const UNCOUNTED_MS = 0.5

/** Work that has taken longer waits in line: what bodies need while they are worked off stays in memory for few of them at a time. */
const LONG_MS = 5

interface Waiting {
  readonly work: Steps<unknown>
  tookMs: number
  isLong: boolean
  readonly done: (result: unknown) => void
  readonly failed: (error: unknown) => void
}

/** In the order in which they run; each goes to the end after its share of a turn. */
const waiting: Waiting[] = []
/** Each runs to its end before the next one. In every other turn they come first. */
const long: Waiting[] = []
let isLongTurn = false
/** Of this turn. */
let spentMs = 0
let isEndScheduled = false

/**
 * Runs work that may be long. All works of a worker share its turns: other requests run between them.
 * @returns a promise only if the work takes long, or if others have used the turn
 */
export function runInSlices<Result>(work: Steps<Result>): Result | Promise<Result> {
  const beforeMs = spentMs
  if (spentMs < TURN_MS) {
    const step = proceed(work, TURN_MS - spentMs)
    if (step.done === true) return step.value
  }
  const tookMs = spentMs - beforeMs
  return new Promise<Result>((resolve, reject) => {
    waiting.push({ work, tookMs, isLong: false, done: resolve as (result: unknown) => void, failed: reject })
  })
}

/** Runs all steps at once. */
export function runAtOnce<Result>(work: Steps<Result>): Result {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** Runs steps for some time, and at least one. */
function proceed<Result>(work: Steps<Result>, forMs: number): IteratorResult<undefined, Result> {
  const startMs = clock.monotonic()
  for (;;) {
    const step = work.next()
    const tookMs = clock.monotonic() - startMs
    if (step.done !== true && tookMs < forMs) continue
    spentMs += tookMs
    if (spentMs >= UNCOUNTED_MS) scheduleEnd()
    return step
  }
}

function scheduleEnd(): void {
  if (isEndScheduled) return
  isEndScheduled = true
  setImmediate(beginTurn)
}

function beginTurn(): void {
  isEndScheduled = false
  spentMs = 0
  isLongTurn = !isLongTurn
  while (spentMs < WAITING_MS) {
    const next = takeNext()
    if (next === undefined) return
    const beforeMs = spentMs
    try {
      const step = proceed(next.work, WAITING_MS - spentMs)
      next.tookMs += spentMs - beforeMs
      if (step.done === true) next.done(step.value)
      else putBack(next)
    } catch (error) {
      next.failed(error)
    }
  }
}

function takeNext(): Waiting | undefined {
  if (isLongTurn) return long.shift() ?? waiting.shift()
  return waiting.shift() ?? long.shift()
}

function putBack(one: Waiting): void {
  // The long work that is under way stays the first one.
  if (one.isLong) return void long.unshift(one)
  one.isLong = one.tookMs >= LONG_MS
  if (one.isLong) long.push(one)
  else waiting.push(one)
}

/** Work between two yields, in characters: a fraction of a millisecond. */
const WORK_PER_STEP = 16_384

/** Counts work, to yield neither often nor late. */
export class Pace {
  #work = 0

  /** @param units about the time for a character each @returns whether it is time to yield */
  after(units: number): boolean {
    this.#work += units
    if (this.#work < WORK_PER_STEP) return false
    this.#work = 0
    return true
  }
}
