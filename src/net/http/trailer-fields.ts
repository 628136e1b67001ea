import { isConnectionLevel } from './field-name.ts'

/**
 * Fields that are valid only before a body: routing, authentication, request modifiers, body format and response control (RFC 9110,
 * 6.5.1). As trailers they would bypass checks of the head.
 */
const HEAD_ONLY: ReadonlySet<string> = new Set([
  ...['host', 'forwarded', 'http2-settings', 'authorization', 'proxy-authorization', 'cookie', 'set-cookie'],
  ...['www-authenticate', 'proxy-authenticate', 'content-encoding', 'content-range', 'content-type', 'cache-control'],
  ...['expect', 'max-forwards', 'pragma', 'range', 'if-match', 'if-none-match', 'if-modified-since', 'if-range'],
  ...['if-unmodified-since', 'age', 'date', 'expires', 'location', 'retry-after', 'vary', 'warning'],
])

/** Whether a field is never accepted as a trailer. @param foldedName as from `foldName` */
export function isHeadOnly(foldedName: string): boolean {
  return HEAD_ONLY.has(foldedName) || foldedName.startsWith('x-forwarded-') || isConnectionLevel(foldedName)
}
