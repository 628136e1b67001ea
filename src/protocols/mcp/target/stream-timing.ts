import { clock } from '#base/clock.ts'
import type { TargetReply } from '../message/target-reply.ts'

/** Delay before a stream that has ended is opened again, unless the target names one; doubled while it fails. */
const REOPEN_MS = 1000
const MIN_REOPEN_MS = 100
const MAX_REOPEN_MS = 30_000

/** A server without a stream for unsolicited messages responds with 405 (Streamable HTTP, "Listening for Messages"). */
export function hasNoStream(reply: TargetReply): boolean {
  return reply.kind === 'nothing' || (reply.kind === 'refused' && reply.response.status === 405)
}

/** Waits before a stream is opened again, until the signal is aborted. @param retryMs the time that the target wants @param failures of the last attempts */
export async function pauseBefore(retryMs = REOPEN_MS, signal: AbortSignal, failures = 0): Promise<void> {
  if (signal.aborted) return
  const ms = Math.min(Math.max(retryMs, MIN_REOPEN_MS) * 2 ** Math.min(failures, 5), MAX_REOPEN_MS)
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = clock.after(ms, resolve)
  const left = () => resolve()
  signal.addEventListener('abort', left, { once: true })
  await promise
  timer.cancel()
  signal.removeEventListener('abort', left)
}

/** The value, if it arrives in time. */
export async function within<Value>(value: Promise<Value>, ms: number): Promise<Value | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = clock.after(ms, () => late.resolve(undefined))
  try {
    return await Promise.race([value, late.promise])
  } finally {
    timer.cancel()
  }
}
