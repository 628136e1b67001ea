/** Bytes of base64url text (RFC 4648, 5), with or without padding. @returns undefined for other text */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  if (!/^[\w-]*={0,2}$/.test(text)) return undefined
  try {
    return Uint8Array.fromBase64(text, { alphabet: 'base64url' })
  } catch {
    return undefined
  }
}
