import { parseDuration } from '#base/duration.ts'
import { proceed } from '#exchange/outcome.ts'
import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'
import type { TimeoutsSpec } from './schema.ts'

/** Timeouts in a route rule, in addition to those of a ProxyPolicy. */
interface RouteTimeouts extends TimeoutsSpec {
  readonly backendRequest?: string
}

/** Only recorded here: the clock starts with the first attempt (decision A-92). No effect on routes other than HTTPRoute. */
export function compileTimeouts(
  sources: readonly PolicySource<RouteTimeouts>[],
  context: CompileContext,
): RequestRun | undefined {
  const source = sources[0]!
  const { request, backendRequest } = source.spec
  if (backendRequest !== undefined && parseDuration(backendRequest) !== 0) {
    const effect = 'attempts have no time limit of their own; set http.requestTimeout of a backend policy'
    reportNotImplemented(context, source, '.backendRequest', effect)
  }
  if (request === undefined) return undefined
  if (source.target.startsWith('GRPCRoute/')) {
    const message = 'has no effect: timeouts apply to HTTPRoute only'
    context.report(source, '.request', { severity: 'warning', code: 'no-effect', message })
    return undefined
  }
  const requestTimeoutMs = parseDuration(request) ?? 0
  return {
    request(exchange) {
      if (exchange.names?.routeKind !== 'GRPCRoute') exchange.requestTimeoutMs = requestTimeoutMs
      return proceed
    },
  }
}
