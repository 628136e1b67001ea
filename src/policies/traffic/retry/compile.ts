import { parseDuration } from '#base/duration.ts'
import type { RetrySettings } from '#exchange/exchange.ts'
import { proceed } from '#exchange/outcome.ts'
import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import type { RetrySpec } from './schema.ts'

const MAX_ATTEMPTS = 255

/** Only recorded here: forwarding decides whether a request can be resent (decision A-93). */
export function compileRetry(sources: readonly PolicySource<RetrySpec>[], context: CompileContext): RequestRun {
  const source = sources[0]!
  const { attempts = 1, codes = [], backoff = '0s' } = source.spec
  if (attempts < 0 || attempts > MAX_ATTEMPTS) {
    const message = `must be between 0 and ${MAX_ATTEMPTS}; the nearest allowed value is used`
    context.report(source, '.attempts', { severity: 'error', code: 'out-of-range', message })
  }
  const retry: RetrySettings = {
    attempts: Math.min(Math.max(attempts, 0), MAX_ATTEMPTS),
    codes: new Set(codes),
    backoffMs: parseDuration(backoff) ?? 0,
  }
  return {
    request(exchange) {
      exchange.retry = retry
      return proceed
    },
  }
}
