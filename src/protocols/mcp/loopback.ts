/**
 * Whether a request to a listener of this machine was meant for it (decision B81): a page that tricked a browser into sending it
 * names another host. `origin` undefined: not sent by a page.
 */
export function isMeantForLoopback(authority: string, origin: string | undefined): boolean {
  if (!isLoopbackHost(hostOf(authority))) return false
  if (origin === undefined) return true
  const match = /^https?:\/\/([^/?#@]+)$/i.exec(origin)
  return match !== null && isLoopbackHost(hostOf(match[1]!))
}

function hostOf(authority: string): string {
  return authority.replace(/:[0-9]*$/, '').toLowerCase()
}

/** Addresses are safe in any form: only names can be made to point elsewhere. `localhost` names never leave (RFC 6761, 6.3). */
function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || LOOPBACK_ADDRESS.test(host)
}

const LOOPBACK_ADDRESS = /^127\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/
