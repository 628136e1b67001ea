import { clock } from './clock.ts'

/** Something with output that may still grow in this turn of the event loop. */
export interface Flushable {
  flush(): void
}

/** Kept at its length: shrinking an array and growing it again costs more than what it is for. */
const waiting: (Flushable | null)[] = []
let count = 0

/**
 * Has `item` flushed when everything that came in this turn of the event loop has been worked through. What is written meanwhile
 * leaves in one write; and writes that follow each other closely find their readers awake, which saves the kernel waking them.
 */
export function flushLater(item: Flushable): void {
  if (count === 0) setImmediate(flushAll)
  waiting[count++] = item
}

/** Ends the turn now. Flushing one may make another wait, behind it. */
export function flushAll(): void {
  for (let at = 0; at < count; at++) {
    const item = waiting[at]
    waiting[at] = null
    item?.flush()
  }
  count = 0
}

let readMs = -1
const READING: Flushable = {
  flush() {
    readMs = -1
  },
}

/**
 * Monotonic milliseconds, read once in a turn: everything that came with it gets the same time. As exact as the turn is short,
 * and far below what reading the clock for every step of every request costs.
 */
export function turnMs(): number {
  if (readMs < 0) {
    readMs = clock.monotonic()
    flushLater(READING)
  }
  return readMs
}
