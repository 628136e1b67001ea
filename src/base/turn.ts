import { clock } from './clock.ts'

/** Something with output that may still grow in this turn of the event loop. */
export interface Flushable {
  flush(): void
}

/** Kept at its length: shrinking an array and growing it again costs more than what it is for. */
const waiting: (Flushable | null)[] = []
let count = 0
let flushed = 0

/**
 * Has `item` flushed when everything that came in this turn of the event loop has been worked through. What is written meanwhile
 * leaves in one write; and writes that follow each other closely find their readers awake, which saves the kernel waking them.
 */
export function flushLater(item: Flushable): void {
  if (count === 0) setImmediate(flushAll)
  waiting[count++] = item
}

/** Ends the turn now. Flushing one may make another wait, behind it; one that throws holds up no other. */
export function flushAll(): void {
  try {
    while (flushed < count) {
      const item = waiting[flushed]
      waiting[flushed++] = null
      item?.flush()
    }
  } finally {
    if (flushed < count) setImmediate(flushAll)
    else {
      flushed = 0
      count = 0
    }
  }
}

let monotonicMs = 0
let epochMs = 0
let clockRead = false
const READING: Flushable = {
  flush() {
    clockRead = false
  },
}

/** Both clocks, at once: everything that came with a turn gets the same time, which is as exact as the turn is short. */
function readClock(): void {
  monotonicMs = clock.monotonic()
  epochMs = clock.now()
  clockRead = true
  flushLater(READING)
}

/** As `clock.monotonic`, read once in a turn. */
export function turnMonotonic(): number {
  if (!clockRead) readClock()
  return monotonicMs
}

/** As `clock.now`, read once in a turn. */
export function turnNow(): number {
  if (!clockRead) readClock()
  return epochMs
}
