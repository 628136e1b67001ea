/**
 * Whether a request to a loopback listener was meant for it (decision B81): a web page that makes a browser send it names another host.
 * `origin` undefined: the request does not come from a page.
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

/** IP addresses are always safe, because only names can be rebound. `localhost` names always resolve to loopback (RFC 6761, 6.3). */
function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || LOOPBACK_ADDRESS.test(host)
}

const LOOPBACK_ADDRESS = /^127\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/
