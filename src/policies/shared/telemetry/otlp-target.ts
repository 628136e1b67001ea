import type { Json } from '#base/json.ts'
import { Exchange } from '#exchange/exchange.ts'
import type { GatewayIdentity } from '#exchange/gateway-identity.ts'
import type { OtlpTarget } from '#exchange/otlp-target.ts'
import { Head } from '#net/http/head.ts'
import { NO_PEER } from '#net/peer.ts'
import type { Attribute } from '../transformation/compile-attributes.ts'

/** @param resources attributes of the entity that exports; their expressions read nothing of a request */
export function otlpTarget(
  spec: Pick<OtlpTarget, 'signal' | 'backend' | 'protocol' | 'path'>,
  resources: readonly Attribute[] = [],
): OtlpTarget {
  const { signal, backend, protocol, path } = spec
  const sources = resources.map(({ name, expression }) => [name, expression.source])
  return {
    ...spec,
    resource: (gateway) => evaluate(resources, gateway),
    key: JSON.stringify([signal, backend, protocol, path, sources]),
  }
}

function evaluate(
  resources: readonly Attribute[],
  gateway: GatewayIdentity,
): readonly (readonly [name: string, value: Json])[] {
  const exchange = new Exchange(new Head(), NO_PEER)
  exchange.gateway = gateway
  const attributes: [name: string, value: Json][] = []
  for (const { name, expression } of resources) {
    expression.writeAttributes(exchange, name, (...attribute) => void attributes.push(attribute))
  }
  return attributes
}
