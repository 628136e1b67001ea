import type { Head } from '../http/head.ts'

const UPGRADE_REQUIRED = 426

/**
 * The connection-level fields of a response, as lines. A 426 names the protocols that its sender asks for (RFC 9110, 15.5.22).
 * @param toHttp10 the client speaks HTTP/1.0, which has no upgrades
 * @param closes the connection closes after the response
 */
export function connectionLines(response: Head, toHttp10: boolean, closes: boolean): string {
  const protocols = response.status === UPGRADE_REQUIRED && !toHttp10 ? protocolsOf(response) : undefined
  if (protocols !== undefined) return `connection: ${closes ? 'close, ' : ''}upgrade\r\nupgrade: ${protocols}\r\n`
  if (closes) return 'connection: close\r\n'
  return toHttp10 ? 'connection: keep-alive\r\n' : ''
}

/** Those of a backend, or of a refusal. */
function protocolsOf(response: Head): string | undefined {
  return response.upgrade === '' ? response.joined('upgrade') : response.upgrade
}
