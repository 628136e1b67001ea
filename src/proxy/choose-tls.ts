import type { ListenerPlace, SocketPlace } from '#engine/places.ts'
import type { PlanIndex } from '#engine/plan-index.ts'
import type { TlsChoice } from '#net/accept/listen-tls.ts'
import type { CertificateSecret, SecureContexts } from '#net/accept/secure-contexts.ts'

/**
 * What a client gets that asks for `serverName` at a socket: as the listeners of the plan in force have it, so a changed certificate
 * is shown from the next handshake on (decision A-39).
 * @returns undefined when no listener has the name, or it has nothing to show: the handshake is refused
 */
export function chooseTls(
  socket: SocketPlace,
  serverName: string,
  { index, contexts }: { readonly index: PlanIndex; readonly contexts: SecureContexts },
): TlsChoice | undefined {
  const listener = socket.serverNames.first(serverName, (place) => place)
  if (listener === undefined) return undefined
  if (listener.item.tlsMode === 'Passthrough') return 'passthrough'
  // Connection settings exist once per socket (decision A-40).
  const { tls } = socket.listeners[0]!.frontend.get(index)
  const identity = {
    certificates: certificatesOf(listener, index),
    parameters: tls.parameters,
    clientAuthorities: undefined,
  }
  const context = contexts.of(listener.item.key, identity)
  if (context === undefined) return undefined
  return listener.serves === 'streams'
    ? { context, alpnProtocols: tls.relayedAlpnProtocols, clientCertificate: 'none', carries: 'bytes' }
    : { context, alpnProtocols: tls.alpnProtocols, clientCertificate: 'none', carries: 'http' }
}

function certificatesOf({ item }: ListenerPlace, index: PlanIndex): CertificateSecret[] {
  return item.certificates.flatMap((key) => {
    const secret = index.items.get(key)
    return secret?.kind === 'secret' ? [secret] : []
  })
}
