import type { PlanIndex } from '#engine/lookups/plan-index.ts'
import type { LiveListener, LiveSocket } from '#engine/route/live-listener.ts'
import type { TlsChoice } from '#net/accept/listen-tls.ts'
import type { CertificateSecret, SecureContexts } from '#net/accept/secure-contexts.ts'

const CLIENT_CERTIFICATES = { none: 'none', AllowValidOnly: 'valid', AllowInsecureFallback: 'any' } as const

/**
 * The TLS settings of the listener for `serverName`. Reads the current plan, so a changed certificate applies from the next handshake
 * (decision A-39).
 */
export function chooseTls(
  socket: LiveSocket,
  serverName: string,
  { index, contexts }: { readonly index: PlanIndex; readonly contexts: SecureContexts },
): TlsChoice {
  const listener = socket.serverNames.first(serverName, (listener) => listener)
  if (listener === undefined) return terminates(socket) ? 'unknown-name' : 'unknown-name-relayed'
  if (listener.item.tlsMode === 'Passthrough') return 'passthrough'
  // Connection settings exist once per socket (decision A-40).
  const { tls } = socket.listeners[0]!.frontend.get(index)
  const identity = {
    certificates: certificatesOf(listener, index),
    parameters: tls.parameters,
    clientAuthorities: authoritiesOf(listener, index),
  }
  const context = contexts.of(listener.item.key, identity)
  if (context === undefined) return 'no-certificate'
  const clientCertificate = CLIENT_CERTIFICATES[listener.item.clientValidation?.mode ?? 'none']
  return listener.carries === 'bytes'
    ? { context, alpnProtocols: tls.relayedAlpnProtocols, clientCertificate, carries: 'bytes' }
    : { context, alpnProtocols: tls.alpnProtocols, clientCertificate, carries: 'http' }
}

function terminates({ listeners }: LiveSocket): boolean {
  return listeners.some(({ item }) => item.tlsMode === 'Terminate')
}

function certificatesOf({ item }: LiveListener, index: PlanIndex): CertificateSecret[] {
  return item.certificates.flatMap((key) => {
    const secret = index.items.get(key)
    return secret?.kind === 'secret' ? [secret] : []
  })
}

/** @returns undefined if no client certificate is requested; empty if no authority is available to verify one */
function authoritiesOf({ item }: LiveListener, index: PlanIndex): string | undefined {
  return item.clientValidation?.authorities
    .map((key) => {
      const source = index.items.get(key)
      return source?.kind === 'secret' || source?.kind === 'configmap' ? (source.data['ca.crt'] ?? '') : ''
    })
    .join('\n')
}

/**
 * Whether an open connection might now be served by a listener with other requirements for client certificates: because that listener
 * changed, was added, or takes over the hostname of a removed one.
 */
export function clientAuthChanged(before: LiveSocket, after: LiveSocket): boolean {
  const [old, current] = [clientAuthByHostname(before), clientAuthByHostname(after)]
  if (old.join('\n') === current.join('\n')) return false
  return new Set([...before.listeners, ...after.listeners].map(clientAuthOf)).size > 1
}

/** Requirements for client certificates, by hostname. */
function clientAuthByHostname({ listeners }: LiveSocket): string[] {
  return listeners.map((listener) => `${listener.item.hostname} ${clientAuthOf(listener)}`).sort()
}

function clientAuthOf({ item }: LiveListener): string {
  return JSON.stringify(item.clientValidation ?? null)
}
