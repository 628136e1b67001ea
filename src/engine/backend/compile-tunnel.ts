import { POLICIES } from '#api/policy-fields.ts'
import { NO_PLAN_NAMES } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { ProxyServer } from '#net/destination.ts'
import type { BackendItem } from '#plan/item.ts'
import { compileProxyAuthorization } from '#policies/backend/auth/proxy-authorization.ts'
import type { BackendTunnelSetting } from '#policies/backend/tunnel/compile.ts'
import type { Address } from '#protocols/address.ts'
import { sourcesOf } from '../merge/merge.ts'
import type { BackendContext, BackendUse } from './backend-context.ts'
import type { LiveBackend } from './live-backend.ts'
import { mergeForBackend } from './merge-for-backend.ts'
import { RequestedPlaces } from './place.ts'

/**
 * Finds the proxy server of `backend.tunnel`, with the policies that are attached to it. A destination behind a proxy server is never connected
 * to directly.
 */
export function compileTunnel(
  { proxy, source }: BackendTunnelSetting,
  { unixPath }: Pick<Address, 'unixPath'>,
  { lookups, context }: Pick<BackendContext, 'lookups' | 'context'>,
  build: (use: BackendUse) => LiveBackend | undefined,
): ProxyServer | Refusal {
  const item = proxy === undefined ? undefined : lookups.item(proxy)
  if (item?.kind !== 'backend') return refuse('the proxy server does not exist, or is not permitted')
  const unsuitable = (problem: string): Refusal => {
    const message = `${problem}; requests to the backend are refused`
    context.report(source, '.backendRef', { severity: 'error', code: 'tunnel-backend', message })
    return refuse(problem)
  }
  if (unixPath !== undefined) return unsuitable('a proxy server cannot reach a Unix socket')
  if (!isServer(item)) return unsuitable('a proxy server must be a Service or a static ProxyBackend')
  const { fields } = mergeForBackend([], item, undefined, lookups)
  if (fields.has('tunnel')) return unsuitable('a proxy server cannot be behind another proxy server')
  const reference = { backend: item.key, weight: 1, path: '' }
  const use = { reference, names: NO_PLAN_NAMES, targets: [], carries: 'bytes' } as const
  const { refusal, groups = [] } = build(use) ?? {}
  const endpoints = groups.flat()
  const broken = refusal ?? endpoints.find((endpoint) => endpoint.refusal !== undefined)?.refusal
  if (broken !== undefined) return refuse(`the proxy server cannot be used: ${broken.detail ?? broken.code}`)
  const proxies = endpoints.flatMap(({ place }) => (place instanceof RequestedPlaces ? [] : [place.destinations.usual]))
  if (proxies.length === 0) {
    return reject('no-healthy-backends', { detail: 'backend.tunnel: the proxy server has no endpoint' })
  }
  const [auth] = sourcesOf(POLICIES.backend.auth, fields)
  const authorization = auth === undefined ? undefined : compileProxyAuthorization(auth, context)
  return typeof authorization === 'object' ? authorization : { proxies, authorization }
}

function isServer({ type }: BackendItem): boolean {
  return type === 'service' || type === 'static'
}

function refuse(problem: string): Refusal {
  return reject('backend-invalid', { detail: `backend.tunnel: ${problem}` })
}
