import { parseDuration } from '#base/duration.ts'
import { proceed } from '#exchange/outcome.ts'
import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import type { TimeoutsSpec } from './schema.ts'

/** Timeouts in a route rule, in addition to those of a ProxyPolicy. */
interface RouteTimeouts extends TimeoutsSpec {
  readonly backendRequest?: string
}

/**
 * Only recorded here: `request` starts with the first attempt, `backendRequest` with each (decision A-92). No effect on routes other than
 * HTTPRoute.
 */
export function compileTimeouts(
  sources: readonly PolicySource<RouteTimeouts>[],
  context: CompileContext,
): RequestRun | undefined {
  const source = sources[0]!
  const { request, backendRequest } = source.spec
  if (request !== undefined && source.target.startsWith('GRPCRoute/')) {
    const message = 'has no effect: timeouts apply to HTTPRoute only'
    context.report(source, '.request', { severity: 'warning', code: 'no-effect', message })
    return undefined
  }
  const requestTimeoutMs = millisecondsOf(request)
  const attemptTimeoutMs = millisecondsOf(backendRequest)
  return {
    request(exchange) {
      if (exchange.names?.routeKind === 'GRPCRoute') return proceed
      exchange.requestTimeoutMs = requestTimeoutMs
      exchange.attemptTimeoutMs = attemptTimeoutMs
      return proceed
    },
  }
}

function millisecondsOf(duration: string | undefined): number | undefined {
  return duration === undefined ? undefined : (parseDuration(duration) ?? 0)
}
