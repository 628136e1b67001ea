import type { GatewayItem } from '#plan/item.ts'
import type { PlacedGateway } from './place-gateways.ts'

/** `shutdown` is one thing: that of the Gateway replaces that of its class as a whole (decision A-119). */
export function gatewayItem({ object, parameters }: PlacedGateway): GatewayItem {
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
