import type { GatewayItem } from '#plan/item.ts'
import type { ResolvedGateway } from './resolve-gateways.ts'

/** `shutdown` does not merge: the value of the Gateway replaces the value of its class (decision A-119). */
export function gatewayItem({ object, parameters }: ResolvedGateway): GatewayItem {
  const { namespace, name } = object.metadata
  return {
    kind: 'gateway',
    key: `Gateway/${namespace}/${name}`,
    namespace,
    name,
    shutdown: parameters.objects.findLast(({ spec }) => spec.shutdown !== undefined)?.spec.shutdown,
    origin: object.origin,
  }
}
