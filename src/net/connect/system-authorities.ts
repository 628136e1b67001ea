import tls from 'node:tls'

let applied = false

/**
 * Makes this thread verify servers by the CA certificates of the system (specification 2, 2.3) instead of those that Node brings with it, unless
 * the system has none. Reading them takes a tenth of a second, so it is done when the first destination needs them.
 */
export function applySystemAuthorities(): void {
  if (applied) return
  applied = true
  const certificates = new Set(tls.getCACertificates('system'))
  if (certificates.size > 0) tls.setDefaultCACertificates([...certificates])
}
