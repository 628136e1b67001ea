/** An object with pending output, which may grow in this turn of the event loop. */
export interface Flushable {
  flush(): void
}

/** A turn with at most this many outputs ends soon, so its output is not deferred. */
const FEW = 3
/** After this many such turns in a row, output is not deferred. */
const QUIET_TURNS = 4
/** Every 16th output is deferred even so, to sample the load of the turn. */
const PROBED = 16
/** With this many outputs waiting, flush at once. */
const MOST = 128

/** Keeps its length: shrinking and growing an array is expensive. */
const waiting: (Flushable | null)[] = []
let count = 0
let flushed = 0
/** The end of the turn is scheduled. */
let scheduled = false
let inEvent = false
let quietTurns = QUIET_TURNS
let unprobed = 0

/**
 * Flushes `item` at the end of this turn of the event loop. Output that grows meanwhile leaves in one write, and consecutive writes find
 * their readers awake, which saves the kernel the cost of waking them. While turns have little work, output that grew between `beginEvent`
 * and `endEvent` is flushed at `endEvent`.
 */
export function flushLater(item: Flushable): void {
  waiting[count++] = item
  if (scheduled || (inEvent && quietTurns === QUIET_TURNS && ++unprobed < PROBED)) return
  scheduled = true
  setImmediate(endTurn)
}

/** Call before handling an event that may produce output; `endEvent` must follow in every case. */
export function beginEvent(): void {
  inEvent = true
}

/** Flushes output that is not deferred. */
export function endEvent(): void {
  inEvent = false
  if (count >= MOST) quietTurns = 0
  else if (count === 0 || scheduled) return
  flushAll()
}

function endTurn(): void {
  scheduled = false
  unprobed = 0
  if (count > FEW) quietTurns = 0
  else if (quietTurns < QUIET_TURNS) quietTurns++
  flushAll()
}

/** Flushes now. Flushing one object may add others. An object that throws does not stop the others. */
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
