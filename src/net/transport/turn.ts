import type { TransportOwner } from './transport.ts'

/** Something with output that may still grow in this turn of the event loop. */
export interface Flushable {
  flush(): void
}

/** Kept at its length: shrinking an array and growing it again costs more than what it is for. */
const waiting: (Flushable | null)[] = []
let count = 0
let inTurn = false

/**
 * Has `item` flushed when the current read has been worked through, or at the end of the current tick outside of one: a head
 * waits that long for the first bytes of its body, so that both leave in one write.
 */
export function flushLater(item: Flushable): void {
  waiting[count++] = item
  if (!inTurn && count === 1) process.nextTick(flushAll)
}

/** Hands over what a transport has read; output that grew meanwhile is flushed behind it. */
export function deliver(owner: TransportOwner, buffer: Buffer, start: number, end: number): void {
  inTurn = true
  try {
    owner.bytes(buffer, start, end)
  } finally {
    if (count > 0) flushAll()
    inTurn = false
  }
}

/** Flushing one may make another wait, behind it. */
function flushAll(): void {
  for (let at = 0; at < count; at++) {
    const item = waiting[at]
    waiting[at] = null
    item?.flush()
  }
  count = 0
}
