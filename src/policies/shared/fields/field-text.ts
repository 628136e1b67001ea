import { toByteText, trimSpace } from '#base/byte-text.ts'
import { isFieldValue } from '#net/http/field-syntax.ts'

/**
 * Text as a field value, in UTF-8, as fields are read by expressions.
 * @returns undefined when it cannot stand in a field (RFC 9110, 5.5)
 */
export function fieldText(text: string): string | undefined {
  const bytes = toByteText(text)
  return isFieldValue(bytes) ? trimSpace(bytes) : undefined
}

/** Fields that belong to one connection and its framing: what policies say about them has no effect (RFC 9110, 7.6.1). */
const CONNECTION_LEVEL: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** `name` in lower case. */
export function isConnectionLevel(name: string): boolean {
  return CONNECTION_LEVEL.has(name)
}
