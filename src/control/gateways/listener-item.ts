import type { ListenerItem } from '#plan/item.ts'
import { acmeSetting } from './acme.ts'
import { forwardedHeaders } from './forwarded-headers.ts'
import { type Listener, tlsModeOf } from './listener.ts'

/** @param acmeThumbprint that of the account; undefined: this process asks for no certificates */
export function listenerItem(
  { key, gateway, owner, spec, ...listener }: Listener,
  acmeThumbprint: (() => string | undefined) | undefined,
): ListenerItem {
  const { namespace, name } = owner.metadata
  const forwarded = forwardedHeaders(gateway)
  const thumbprint = spec.protocol === 'HTTP' && acmeSetting(gateway) !== undefined ? acmeThumbprint?.() : undefined
  return {
    kind: 'listener',
    key,
    gateway: { namespace: gateway.metadata.namespace, name: gateway.metadata.name },
    listenerSet: owner.kind === 'ListenerSet' ? { namespace, name } : undefined,
    name: spec.name,
    address: listener.address,
    port: spec.port,
    protocol: spec.protocol as ListenerItem['protocol'],
    hostname: listener.hostname,
    tlsMode: tlsModeOf(spec),
    certificates: listener.certificates,
    ...(listener.clientValidation === undefined ? {} : { clientValidation: listener.clientValidation }),
    ...(forwarded === undefined ? {} : { forwardedHeaders: forwarded }),
    ...(thumbprint === undefined ? {} : { acmeThumbprint: thumbprint }),
    origin: owner.origin,
  }
}
