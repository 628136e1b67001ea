/**
 * Byte text: a string in which every character stands for one byte (latin-1). Heads, Secrets and credentials are handled in this
 * form, because bytes of unknown encoding survive in it unchanged.
 */

const encoder = new TextEncoder()
// A byte order mark at the beginning stays: a policy must not take two values for one that the backend distinguishes.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The UTF-8 bytes of a text as byte text. ASCII text, the usual case, is returned unchanged. */
export function toByteText(text: string): string {
  if (isAscii(text)) return text
  let byteText = ''
  for (const byte of encoder.encode(text)) byteText += String.fromCharCode(byte)
  return byteText
}

/** Decodes byte text as UTF-8; invalid sequences become U+FFFD. */
export function fromByteText(byteText: string): string {
  return isAscii(byteText) ? byteText : decoder.decode(bytesOf(byteText))
}

/**
 * Removes spaces, tabs and line ends at both ends. `trim()` is wrong for byte text: it would remove the byte A0, which ends the UTF-8 form
 * of `à`.
 */
export function trimSpace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9 || code === 13 || code === 10
}

export function bytesOf(byteText: string): Uint8Array {
  const bytes = new Uint8Array(byteText.length)
  for (let i = 0; i < byteText.length; i++) bytes[i] = byteText.charCodeAt(i)
  return bytes
}

/** Bytes as byte text. */
export function byteTextOf(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE))
  return text
}

/** Arguments of one call. */
const PIECE = 8192

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false
  return true
}
