import type { PlanIndex } from '#engine/plan/plan-index.ts'
import type { LiveListener, LiveSocket } from '#engine/route/live-listener.ts'
import type { TlsChoice } from '#net/accept/listen-tls.ts'
import type { CertificateSecret, SecureContexts } from '#net/accept/secure-contexts.ts'

const CLIENT_CERTIFICATES = { none: 'none', AllowValidOnly: 'valid', AllowInsecureFallback: 'any' } as const

/**
 * What a client gets that asks for `serverName` at a socket: as the listeners of the plan in force have it, so a changed certificate
 * is shown from the next handshake on (decision A-39).
 * @returns undefined when no listener has the name, or it has nothing to show: the handshake is refused
 */
export function chooseTls(
  socket: LiveSocket,
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
    clientAuthorities: authoritiesOf(listener, index),
  }
  const context = contexts.of(listener.item.key, identity)
  if (context === undefined) return undefined
  const clientCertificate = CLIENT_CERTIFICATES[listener.item.clientValidation?.mode ?? 'none']
  return listener.carries === 'bytes'
    ? { context, alpnProtocols: tls.relayedAlpnProtocols, clientCertificate, carries: 'bytes' }
    : { context, alpnProtocols: tls.alpnProtocols, clientCertificate, carries: 'http' }
}

function certificatesOf({ item }: LiveListener, index: PlanIndex): CertificateSecret[] {
  return item.certificates.flatMap((key) => {
    const secret = index.items.get(key)
    return secret?.kind === 'secret' ? [secret] : []
  })
}

/** @returns undefined where no client certificate is asked for; empty when nothing is left that could vouch for one */
function authoritiesOf({ item }: LiveListener, index: PlanIndex): string | undefined {
  return item.clientValidation?.authorities
    .map((key) => {
      const source = index.items.get(key)
      return source?.kind === 'secret' || source?.kind === 'configmap' ? (source.data['ca.crt'] ?? '') : ''
    })
    .join('\n')
}

/**
 * Whether a connection that was let in before might be served now by a listener that would have asked its client for other proof:
 * because that listener changed, came, or is the next best since another one went.
 */
export function asksOtherwise(before: LiveSocket, after: LiveSocket): boolean {
  const [asked, asks] = [demands(before), demands(after)]
  if (asked.join('\n') === asks.join('\n')) return false
  return new Set([...before.listeners, ...after.listeners].map(demandOf)).size > 1
}

/** What clients have to show, by hostname. */
function demands({ listeners }: LiveSocket): string[] {
  return listeners.map((place) => `${place.item.hostname} ${demandOf(place)}`).sort()
}

function demandOf({ item }: LiveListener): string {
  return JSON.stringify(item.clientValidation ?? null)
}
