import { mergeMesh } from '#api/mesh-settings.ts'
import type { GatewayItem } from '#plan/item.ts'
import type { ResolvedGateway } from './resolve-gateways.ts'

/** `shutdown` does not merge: the value of the Gateway replaces the value of its class (decision A-119). */
export function gatewayItem({ object, parameters }: ResolvedGateway): GatewayItem {
  const { namespace, name } = object.metadata
  const mesh = mergeMesh(parameters.objects.map(({ spec }) => spec))
  return {
    kind: 'gateway',
    key: `Gateway/${namespace}/${name}`,
    namespace,
    name,
    shutdown: parameters.objects.findLast(({ spec }) => spec.shutdown !== undefined)?.spec.shutdown,
    ...(mesh && { mesh: { trustDomain: mesh.trustDomain, additionalTrustDomains: mesh.additionalTrustDomains } }),
    origin: object.origin,
  }
}
