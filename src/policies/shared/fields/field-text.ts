import { toByteText, trimSpace } from '#base/byte-text.ts'
import { type FieldValue, isAsciiFieldValue, isFieldValue } from '#net/http/field-syntax.ts'

/**
 * Text as a header value, in UTF-8, as expressions read headers.
 * @returns undefined if it is not a valid header value (RFC 9110, 5.5)
 */
export function fieldText(text: string): FieldValue | undefined {
  if (isAsciiFieldValue(text)) return withoutSpace(text)
  const bytes = toByteText(text)
  return isFieldValue(bytes) ? withoutSpace(bytes) : undefined
}

function withoutSpace(value: FieldValue): FieldValue {
  return trimSpace(value) as FieldValue
}
