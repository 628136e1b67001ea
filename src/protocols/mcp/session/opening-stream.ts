import { clock, pause } from '#base/clock.ts'
import type { SharedTable } from '#state/shared-table.ts'
import type { Session } from './session-state.ts'

/** How long calls wait until the client opens its stream, and then until the targets have it: some respond only when they have something to say. */
const WAIT_MS = 250

/** How often a call that waits looks again. */
const STEP_MS = 2

/** The capabilities of clients that targets can ask for something. */
const ASKED = ['elicitation', 'sampling', 'roots'] as const

/**
 * SDKs for clients send GET and their first call at the same time, when `notifications/initialized` was accepted, and those for servers ask
 * the client on the stream of that GET, or not at all if there is none. The two requests may be served by different workers, so the call
 * waits until the target has the stream.
 */
export function expectStream({ key }: Session, table: SharedTable): void {
  table.hold(key, WAIT_MS)
}

/** A stream of notifications is being opened. @returns call it when the targets have it, or refuse it */
export function beginStream({ key }: Session, table: SharedTable): () => void {
  table.hold(key, WAIT_MS)
  return () => table.hold(key, 0)
}

/** Resolves when a call need not wait for the stream of its session any more; undefined: it need not wait. */
export function untilStream({ key, client }: Session, table: SharedTable): Promise<void> | undefined {
  const { capabilities } = client
  if (ASKED.every((name) => capabilities[name] === undefined) || table.heldMs(key) === 0) return undefined
  return pollHold(key, table)
}

async function pollHold(key: string, table: SharedTable): Promise<void> {
  // It is prolonged when the client begins.
  const untilMs = clock.monotonic() + 2 * WAIT_MS
  for (let leftMs = 1; leftMs > 0 && clock.monotonic() < untilMs; leftMs = table.heldMs(key)) {
    await pause(STEP_MS)
  }
}
