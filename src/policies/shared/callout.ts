import { backendName } from '#exchange/backend-name.ts'
import type { Callout, Exchange } from '#exchange/exchange.ts'

/**
 * Time limit of a question to a server that a policy asks, from the wait for a connection to the last byte of the answer, unless the server's
 * policies set another (decision A-73). In milliseconds.
 */
export const CALLOUT_DEADLINE_MS = 2000

/** A question to a server, and when it began. */
export interface AskedServer {
  readonly policy: Callout['policy']
  /** Key of the backend. */
  readonly backend: string
  /** Milliseconds of `RunContext.monotonic`. */
  readonly startMs: number
}

/** Adds the verdict of a server to the facts about a request, for log and decision record. */
export function recordCallout(
  exchange: Exchange,
  { policy, backend, startMs }: AskedServer,
  verdict: Callout['verdict'],
  { cached = false, status, detail }: Partial<Pick<Callout, 'cached' | 'status' | 'detail'>> = {},
): void {
  exchange.callouts ??= []
  exchange.callouts.push({
    policy,
    backend: backendName(backend),
    verdict,
    cached,
    startMs: startMs - exchange.startMonotonicMs,
    durationMs: exchange.context.monotonic() - startMs,
    status,
    detail,
  })
}
