import type { X509Certificate } from 'node:crypto'
import type net from 'node:net'
import tls from 'node:tls'
import { clock } from '#base/clock.ts'
import type { PeerCertificate } from '../peer.ts'
import { certificateOf } from './client-certificate.ts'
import type { ConnectionRefusal } from './connection-refusal.ts'
import type { TlsTermination } from './listen-tls.ts'

/** The result of a successful handshake. */
export interface Secured {
  readonly socket: tls.TLSSocket
  /** The client certificate, if the client sent a valid one. */
  readonly certificate: PeerCertificate | undefined
}

/**
 * Internals that Node's own TLS server uses at the end of a handshake and that have no public API: the result of verifying the client
 * certificate (also for a resumed session), the flag that HTTP/2 waits for, and the release, without which later TLS errors are not
 * emitted.
 */
interface ServerInternals {
  readonly ssl?: { verifyError?(): Error | null }
  secureConnecting: boolean
  _releaseControl(): void
}

/** Performs the handshake on a paused socket. `done` is called at most once, and not after the caller has destroyed `socket`. */
export function terminateTls(
  socket: net.Socket,
  { context, alpnProtocols, clientCertificate }: TlsTermination,
  done: (result: Secured | ConnectionRefusal) => void,
): void {
  const secured = new tls.TLSSocket(socket, {
    isServer: true,
    secureContext: context,
    ALPNProtocols: [...alpnProtocols],
    requestCert: clientCertificate !== 'none',
    rejectUnauthorized: clientCertificate === 'valid',
  })
  const fail = () => {
    secured.off('close', fail).off('error', fail)
    secured.on('error', () => {})
    secured.destroy()
    done('handshake-failed')
  }
  secured.on('error', fail).on('close', fail)
  secured.once('secure', () => {
    secured.off('close', fail).off('error', fail)
    const internals = secured as unknown as ServerInternals
    internals.secureConnecting = false
    internals._releaseControl()
    // Node emits TLS errors, but leaves the socket open.
    secured.on('error', () => secured.destroy())
    // In TLS 1.2 a client can request any number of handshakes, which cost the server more.
    secured.disableRenegotiation()
    const shown = clientCertificate === 'none' ? undefined : secured.getPeerX509Certificate()
    // A session can live longer than the certificate it was created with.
    const valid = shown !== undefined && internals.ssl?.verifyError?.() === null && !hasExpired(shown)
    if (clientCertificate === 'valid' && !valid) return done('client-certificate-invalid')
    done({ socket: secured, certificate: valid ? certificateOf(shown) : undefined })
  })
}

function hasExpired({ validToDate }: X509Certificate): boolean {
  return validToDate.getTime() < clock.now()
}
