import { proceed } from '#exchange/outcome.ts'
import type { PolicySource, RequestRun } from '../../policy.ts'
import type { HostRewriteSpec } from './schema.ts'

/** Records the mode on the exchange: the hostname of the destination is known only with the endpoint (specification 2, 2.2.4). */
export function compileHostRewrite(sources: readonly PolicySource<HostRewriteSpec>[]): RequestRun {
  const { mode } = sources[0]!.spec
  return {
    request(exchange) {
      exchange.hostRewrite = mode
      return proceed
    },
  }
}
