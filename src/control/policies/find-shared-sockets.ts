import type { ObjectName, PolicyItem } from '#plan/item.ts'
import { gatewayTarget } from '#plan/target.ts'
import type { Overlap } from './find-overlaps.ts'

/** A Gateway with a listener at an address and port. */
export interface SocketUser extends ObjectName {
  /** Sort key of its precedence, see `orderOf`. */
  readonly order: string
}

/** Fields of `frontend` that apply to a whole socket. */
const SOCKET_FIELDS = new Set(['tcp', 'tls', 'http', 'proxyProtocol'])

export function isSocketSetting({ section, field }: PolicyItem): boolean {
  return section === 'frontend' && SOCKET_FIELDS.has(field)
}

/**
 * Finds connection settings that have no effect because an older Gateway uses the same port (decision A-40).
 * @param socket `address:port`
 * @param users the Gateways, in order of precedence
 */
export function findSharedSockets(
  socket: string,
  users: readonly SocketUser[],
  settingsOf: (gateway: string) => readonly PolicyItem[],
): readonly Overlap[] {
  const owner = users[0]!
  const by = `Gateway ${owner.namespace}/${owner.name}, which is older and also listens on ${socket}`
  const others = new Set(users.map(gatewayTarget))
  others.delete(gatewayTarget(owner))
  return [...others].flatMap((at) =>
    settingsOf(at).map((loser) => {
      return { loser, lost: undefined, at, by, ownSection: undefined, weakens: false, unprotected: [] }
    }),
  )
}
