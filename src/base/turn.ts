/** Something with output that may still grow in this turn of the event loop. */
export interface Flushable {
  flush(): void
}

/** A turn that brought no more than this is over soon anyway: what it wrote is not held back. */
const FEW = 3
/** So many such turns in a row, and the next ones are not waited for. */
const QUIET_TURNS = 4
/** Of so much output that did not wait, one does, to see what else comes in its turn. */
const PROBED = 16
/** When so much waits, it has waited long enough. */
const MOST = 128

/** Kept at its length: shrinking an array and growing it again costs more than what it is for. */
const waiting: (Flushable | null)[] = []
let count = 0
let flushed = 0
/** The end of the turn has been asked for. */
let scheduled = false
let inEvent = false
let quietTurns = QUIET_TURNS
let unprobed = 0

/**
 * Has `item` flushed when everything that came in this turn of the event loop has been worked through. What is written meanwhile
 * leaves in one write; and writes that follow each other closely find their readers awake, which saves the kernel waking them. As
 * long as turns bring little, what grew between `beginEvent` and `endEvent` is flushed there.
 */
export function flushLater(item: Flushable): void {
  waiting[count++] = item
  if (scheduled || (inEvent && quietTurns === QUIET_TURNS && ++unprobed < PROBED)) return
  scheduled = true
  setImmediate(endTurn)
}

/** An event that may bring output is being worked on; `endEvent` must follow, whatever happens. */
export function beginEvent(): void {
  inEvent = true
}

/** Flushes what need not wait. */
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

/** Flushes now. Flushing one may make another wait, behind it; one that throws holds up no other. */
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
