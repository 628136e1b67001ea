import type { TransportOwner } from './transport.ts'

/** Something with output that may still grow in this turn of the event loop. */
export interface Flushable {
  flush(): void
}

let waiting: Flushable[] = []
let spare: Flushable[] = []
let inTurn = false

/**
 * Has `item` flushed when the current read has been worked through, or at the end of the current tick outside of one: a head
 * waits that long for the first bytes of its body, so that both leave in one write.
 */
export function flushLater(item: Flushable): void {
  waiting.push(item)
  if (!inTurn && waiting.length === 1) process.nextTick(flushAll)
}

/** Hands over what a transport has read; output that grew meanwhile is flushed behind it. */
export function deliver(owner: TransportOwner, buffer: Buffer, start: number, end: number): void {
  inTurn = true
  try {
    owner.bytes(buffer, start, end)
  } finally {
    if (waiting.length > 0) flushAll()
    inTurn = false
  }
}

function flushAll(): void {
  while (waiting.length > 0) {
    const items = waiting
    waiting = spare
    for (const item of items) item.flush()
    items.length = 0
    spare = items
  }
}
