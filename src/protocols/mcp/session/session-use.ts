import { clock } from '#base/clock.ts'
import { WheelTimer, workerWheel } from '#net/timer-wheel.ts'
import type { SharedTable } from '#state/shared-table.ts'

interface Keyed {
  /** Key of a session. */
  readonly key: string
}

/** A session that is not used for this long has ended (decision B65). */
const MAX_IDLE_MS = 30 * 60 * 1000

/** How precisely the last use is known. Workers tell each other of it, so not of every request. */
const PRECISION_MS = 60 * 1000

/** A request or a stream that lasts counts as use this often. */
export const REPEAT_MS = 10 * 60 * 1000

/** Scope of the shared table: the last use of sessions, wall clock. */
const USED = 'mcp-session-used'

/** Whether the session has been idle for too long. One whose last use the instance does not know, because it was restarted, is not. */
export function isIdle({ key }: Keyed, table: SharedTable, nowMs: number): boolean {
  const usedMs = table.get(USED, key)
  return usedMs !== undefined && nowMs - Number(usedMs) > MAX_IDLE_MS + PRECISION_MS
}

export function noteUse({ key }: Keyed, table: SharedTable, nowMs: number): void {
  const usedMs = table.get(USED, key)
  if (usedMs === undefined || nowMs - Number(usedMs) > PRECISION_MS) table.set(USED, key, `${nowMs}`)
}

/** Keeps a session alive during a request or a stream. @returns call it at the end */
export function keepInUse(
  session: Keyed,
  table: SharedTable,
  wheel: Pick<typeof workerWheel, 'arm' | 'remove'> = workerWheel,
): () => void {
  const timer = new WheelTimer(() => {
    noteUse(session, table, clock.now())
    wheel.arm(timer, REPEAT_MS)
  })
  wheel.arm(timer, REPEAT_MS)
  return () => {
    wheel.remove(timer)
    noteUse(session, table, clock.now())
  }
}
