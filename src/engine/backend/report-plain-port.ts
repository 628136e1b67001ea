import type { BackendItem } from '#plan/item.ts'
import type { CompileContext } from '#policies/policy.ts'
import type { LiveEndpoint } from './live-backend.ts'
import { RequestedPlaces } from './place.ts'

/** Values of `appProtocol` for ports that expect TLS (RFC 6335 registry; KEP-3726). */
const WITH_TLS: ReadonlySet<string> = new Set(['https', 'wss', 'kubernetes.io/wss'])

/** Reports requests in plain text to a Service port that declares a protocol over TLS: `appProtocol` selects only the HTTP version. */
export function reportPlainPort(
  item: BackendItem,
  endpoints: readonly Pick<LiveEndpoint, 'place'>[],
  context: CompileContext,
): void {
  if (item.type !== 'service') return
  const { port, appProtocol = '' } = item.spec
  if (!WITH_TLS.has(appProtocol)) return
  const isPlain = endpoints.some(
    ({ place }) => !(place instanceof RequestedPlaces) && place.destinations.usual.tls === undefined,
  )
  if (!isPlain) return
  const message = `port ${port} expects TLS (appProtocol ${appProtocol}), but requests are sent in plain text; set backend.tls of a ProxyPolicy for the Service`
  const source = { spec: item.spec, origin: item.origin, path: 'spec.ports', target: item.key }
  context.report(source, '', { code: 'service-port-expects-tls', message, severity: 'warning' })
}
