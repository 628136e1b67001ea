/**
 * Bytes of base64url text without padding in its one canonical spelling: the unused bits of the last character are zero (RFC 4648, 3.5).
 * Other spellings would be other keys of the same value. @returns undefined for other text
 */
export function decodeCanonical(text: string): Uint8Array | undefined {
  const bytes = text.includes('=') ? undefined : decodeBase64Url(text)
  return bytes?.toBase64({ alphabet: 'base64url', omitPadding: true }) === text ? bytes : undefined
}

/** Bytes of base64url text (RFC 4648, 5), with or without padding. @returns undefined for other text */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  if (!/^[\w-]*={0,2}$/.test(text)) return undefined
  try {
    return Uint8Array.fromBase64(text, { alphabet: 'base64url' })
  } catch {
    return undefined
  }
}
