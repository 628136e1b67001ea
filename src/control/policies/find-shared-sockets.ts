import type { ListenerItem, PolicyItem } from '#plan/item.ts'
import { gatewayTarget } from '#plan/target.ts'
import { append } from '../append.ts'
import type { Overlap } from './find-overlaps.ts'

/** Settings that exist once for each socket. */
const SOCKET_FIELDS = new Set(['tcp', 'tls', 'http', 'proxyProtocol'])

/**
 * Finds settings of connections that have no effect because the port belongs to an older Gateway as well (decision A-40).
 * @param listeners in order of precedence
 */
export function findSharedSockets(
  listeners: readonly ListenerItem[],
  policies: readonly PolicyItem[],
): readonly Overlap[] {
  const settings = new Map<string, PolicyItem[]>()
  for (const item of policies) {
    if (item.section === 'frontend' && SOCKET_FIELDS.has(item.field)) append(settings, item.target, item)
  }
  if (settings.size === 0) return []

  const owners = new Map<string, ListenerItem>()
  return listeners.flatMap((listener) => {
    const place = `${listener.address}:${listener.port}`
    const owner = owners.get(place)
    if (owner === undefined) owners.set(place, listener)
    const at = gatewayTarget(listener.gateway)
    if (owner === undefined || gatewayTarget(owner.gateway) === at) return []
    const { namespace, name } = owner.gateway
    const by = `Gateway ${namespace}/${name}, which is older and listens on ${place} too`
    return (settings.get(at) ?? []).map((loser) => ({ loser, lost: undefined, at, by }))
  })
}
