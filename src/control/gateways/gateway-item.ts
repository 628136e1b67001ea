import type { GatewayItem, MeshDomains } from '#plan/item.ts'
import type { ResolvedGateway } from './resolve-gateways.ts'
import type { GatewayParameters } from './resolve-parameters.ts'

const DEFAULT_TRUST_DOMAIN = 'cluster.local'

/**
 * `shutdown` does not merge: the value of the Gateway replaces the value of its class. `mesh` merges by field, and a list of domains is one value
 * (decision A-119).
 */
export function gatewayItem({ object, parameters }: ResolvedGateway): GatewayItem {
  const { namespace, name } = object.metadata
  const mesh = meshOf(parameters)
  return {
    kind: 'gateway',
    key: `Gateway/${namespace}/${name}`,
    namespace,
    name,
    shutdown: parameters.objects.findLast(({ spec }) => spec.shutdown !== undefined)?.spec.shutdown,
    ...(mesh && { mesh }),
    origin: object.origin,
  }
}

/** @returns undefined if neither the class nor the Gateway has `mesh` */
function meshOf({ objects }: GatewayParameters): MeshDomains | undefined {
  const levels = objects.flatMap(({ spec }) => spec.mesh ?? [])
  if (levels.length === 0) return undefined
  const { trustDomain = DEFAULT_TRUST_DOMAIN, additionalTrustDomains = [] } = Object.assign(
    {},
    ...levels,
  ) as (typeof levels)[0]
  return { trustDomain, additionalTrustDomains }
}
