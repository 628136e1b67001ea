import { trimSpace } from '#base/byte-text.ts'
import { isConnectionLevel } from '#net/http/field-name.ts'
import { isFieldName, isFieldValue } from '#net/http/field-syntax.ts'
import { foldName } from '#net/http/same-name.ts'
import { fieldText } from './field-text.ts'

/** A header that a server which a policy asks wants to set (`envoy.config.core.v3.HeaderValue`). */
export interface ServerHeader {
  readonly key?: string | undefined
  readonly value?: string | undefined
  /** Instead of `value`. */
  readonly rawValue?: Uint8Array | undefined
}

/**
 * Whether such a server may set a field of a message. Fields of the connection and of the framing are ours, the start line and the host belong to
 * routes and their filters (docs/behaviour/http.md, "External authorization").
 */
export function isServerField(lowerName: string): boolean {
  // CGI-style servers take `content_length` for `Content-Length` (decision A-134).
  const foldedName = foldName(lowerName)
  const isOurs = isConnectionLevel(foldedName) || foldedName === 'host' || foldedName === 'http2-settings'
  return isFieldName(lowerName) && !isOurs
}

/** The value as byte text; undefined if it is not valid in a header. */
export function serverValue(header: ServerHeader | undefined): string | undefined {
  if (header?.rawValue === undefined || header.rawValue.length === 0) return fieldText(header?.value ?? '')
  let text = ''
  for (const byte of header.rawValue) text += String.fromCharCode(byte)
  return isFieldValue(text) ? trimSpace(text) : undefined
}

/** Headers of which the server only says name and value. `value`: undefined if it is not valid. Fields that it may not set are left out. */
export function serverFields(
  headers: readonly ServerHeader[] = [],
): (readonly [lowerName: string, value: string | undefined])[] {
  return headers
    .map((header) => [header.key?.toLowerCase() ?? '', serverValue(header)] as const)
    .filter(([lowerName]) => isServerField(lowerName))
}
