import type { PeerCertificate } from '#net/peer.ts'

/** The SPIFFE id is the one URI of a certificate with this scheme (SPIFFE X.509-SVID, 2). */
export function spiffeIdOf(certificate: PeerCertificate | undefined): string | undefined {
  return certificate?.uris.find((uri) => uri.startsWith('spiffe://'))
}
